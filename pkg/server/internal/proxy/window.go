package proxy

import (
	"io"
	"sync"

	"github.com/scalws/scalws/pkg/server/internal/loop"
)

// bufferSize is what a side of an exchange holds in memory: the head and a piece of body.
const bufferSize = 32 << 10

// buffers lends buffers: of bufferSize, and of replayMost for a body that is kept. Idle connections hold
// none.
type buffers struct {
	shelves        []shelf // of the loops
	pieces, bodies sync.Pool
}

// shelf has the buffers that the tasks of one loop have used last, and asks nobody else.
type shelf struct {
	free []*buffer
	_    [40]byte // to the end of the cache line, which another loop does not write to
}

// mostShelved bounds a shelf: 2 MiB.
const mostShelved = 64

type (
	buffer [bufferSize]byte
	body   [replayMost]byte
)

func (b *buffers) get(t *loop.Task) []byte {
	if t != nil {
		s := &b.shelves[t.Loop().Index()]
		if last := len(s.free) - 1; last >= 0 {
			p := s.free[last]
			s.free = s.free[:last]
			return p[:]
		}
	}
	if p, ok := b.pieces.Get().(*buffer); ok {
		return p[:]
	}
	return new(buffer)[:]
}

// put takes a buffer of get back. One that has grown is left to the garbage collector.
func (b *buffers) put(t *loop.Task, p []byte) {
	if cap(p) != bufferSize {
		return
	}
	if t != nil {
		if s := &b.shelves[t.Loop().Index()]; len(s.free) < mostShelved {
			s.free = append(s.free, (*buffer)(p[:bufferSize]))
			return
		}
	}
	b.pieces.Put((*buffer)(p[:bufferSize]))
}

// borrow takes a buffer for who serves the connection.
func (c *conn) borrow() []byte { return c.srv.buffers.get(c.task) }

// giveBack is the end of borrow.
func (c *conn) giveBack(p []byte) { c.srv.buffers.put(c.task, p) }

func (b *buffers) getBody() []byte {
	if p, ok := b.bodies.Get().(*body); ok {
		return p[:]
	}
	return new(body)[:]
}

func (b *buffers) putBody(p []byte) { b.bodies.Put((*body)(p[:replayMost])) }

// window is a buffer with the bytes that were read and not used yet.
type window struct {
	buf  []byte
	r, w int
}

// bytes are what is there, unused.
func (b *window) bytes() []byte { return b.buf[b.r:b.w] }

// use marks n bytes as used.
func (b *window) use(n int) { b.r += n }

// fill reads once, behind what is there. Used bytes are overwritten only when all are used or no space
// is left, so slices of unused bytes stay valid until then. It grows the buffer when it is full, up to
// most; a full buffer of that size is io.ErrShortBuffer.
func (b *window) fill(from io.Reader, most int) error {
	switch {
	case b.r == b.w:
		b.r, b.w = 0, 0
	case b.w == len(b.buf) && b.r > 0:
		b.w = copy(b.buf, b.buf[b.r:b.w])
		b.r = 0
	}
	if b.w == len(b.buf) {
		if len(b.buf) >= most {
			return io.ErrShortBuffer
		}
		grown := make([]byte, min(2*len(b.buf), most))
		copy(grown, b.buf[:b.w])
		b.buf = grown
	}
	n, err := from.Read(b.buf[b.w:])
	b.w += n
	if n > 0 {
		return nil
	}
	return err
}
