package proxy

import (
	"io"
	"sync"
)

// bufferSize is what a side of an exchange holds in memory: the head and a piece of body.
const bufferSize = 32 << 10

// buffers lends buffers: of bufferSize, and of replayMost for a body that is kept. Idle connections hold
// none.
type buffers struct{ pieces, bodies sync.Pool }

type (
	buffer [bufferSize]byte
	body   [replayMost]byte
)

func (b *buffers) get() []byte {
	if p, ok := b.pieces.Get().(*buffer); ok {
		return p[:]
	}
	return new(buffer)[:]
}

// put takes a buffer of get back. One that has grown is left to the garbage collector.
func (b *buffers) put(p []byte) {
	if cap(p) == bufferSize {
		b.pieces.Put((*buffer)(p[:bufferSize]))
	}
}

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
