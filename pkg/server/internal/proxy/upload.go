package proxy

import (
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/http1"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// replayMost is the largest body that is kept so that it can be sent again (docs/load-balancing.md#retries).
const replayMost = 64 << 10

// fault is what a client did wrong with its body. It is never the member's failure.
type fault uint32

const (
	noFault fault = iota
	tooLarge
	tooSlow
	cutShort
	malformed
	resetByClient
)

// answer is what the client gets for the fault.
func (f fault) answer() (status int, reason string) {
	switch f {
	case tooLarge:
		return 413, "the request body is larger than allowed"
	case tooSlow:
		return 408, "the request body stopped arriving"
	case cutShort:
		return 400, "the request body ended too early"
	case resetByClient:
		return 499, ""
	default:
		return 400, "the request body is malformed"
	}
}

// upload is the request body on its way from the client to a member. A body with a length of at most
// replayMost is kept, so that another attempt can send it again; everything else is streamed once.
//
// Where the whole body came along with the head there is nothing to wait for. Otherwise a goroutine carries
// it while the exchange already reads the answer: a member may answer before it has read the body.
type upload struct {
	x          *exchange
	framing    http1.Framing
	limit      int64 // bytes; 0 is no limit
	replayable bool

	kept   []byte // of a replayable body: what has come of it
	lent   bool   // kept is a pool buffer, not a part of the connection's window
	length int64  // of a body with a length

	in     window // of a streamed body
	chunks http1.Chunked
	enc    []byte

	received int64       // body bytes that came from the client
	begun    atomic.Bool // some of the body has come
	whole    atomic.Bool // all of it has come
	fault    atomic.Uint32
	giving   atomic.Int64 // when the carrier began to hand the member a piece, in Unix nanoseconds; 0: it does not
	stop     atomic.Bool
	answered atomic.Bool // a final head came: a fault of the client no longer cuts the member off
	carrying bool
	short    bool       // a carrier has ended before all was sent
	carried  bool       // a carrier ran
	done     chan error // the carrier's end; nil: all was sent
}

func (u *upload) init(x *exchange) {
	u.x = x
	u.done = make(chan error, 1)
}

func (u *upload) reset() {
	u.framing, u.limit, u.length, u.replayable = http1.NoBody, 0, 0, false
	u.kept, u.lent, u.received, u.carried, u.short = nil, false, 0, false, false
	set(&u.begun, false)
	set(&u.whole, true)
	set(&u.answered, false)
	if u.failed() {
		u.fault.Store(uint32(noFault))
	}
}

// set spares a store, which stops the processor, where it would change nothing.
func set(b *atomic.Bool, to bool) {
	if b.Load() != to {
		b.Store(to)
	}
}

// open looks at the request's framing.
func (u *upload) open() {
	req := &u.x.req
	u.framing, u.length = req.Body, max(req.ContentLength, 0)
	if u.framing == http1.NoBody {
		u.replayable = true
		return
	}
	u.whole.Store(false)
	if u.framing == http1.ChunkedBody {
		u.chunks.Reset()
		return
	}
	u.replayable = u.length <= replayMost
	if here := u.x.c.in.bytes(); u.replayable && int64(len(here)) >= u.length {
		u.take(here[:u.length:u.length])
		u.whole.Store(true)
	}
}

// within sets the limit in bytes, 0 for none. It is false for a body whose length is over it.
func (u *upload) within(limit int64) bool {
	u.limit = limit
	return limit <= 0 || u.length <= limit
}

// take keeps the body's bytes that lie in the connection's window.
func (u *upload) take(here []byte) {
	u.kept = here
	u.x.c.in.use(len(here))
	u.received = int64(len(here))
	u.begun.Store(len(here) > 0)
}

// skip leaves the body out, for an answer of our own. It is false if more of it would have to come.
func (u *upload) skip() bool {
	if u.whole.Load() {
		return true
	}
	here := u.x.c.in.bytes()
	if u.framing == http1.Length && int64(len(here)) >= u.length && u.received == 0 {
		u.x.c.in.use(int(u.length))
		u.received = u.length
		u.whole.Store(true)
		return true
	}
	return false
}

// ready is the part of a kept body that can go along with the head.
func (u *upload) ready() []byte { return u.kept }

// start carries what is not sent yet to the member, beside the exchange. sent counts the bytes of a kept
// body that went with the head.
func (u *upload) start(m *upstream.Conn, sent int) {
	if u.replayable && u.whole.Load() && sent == len(u.kept) {
		return
	}
	u.stop.Store(false)
	u.answered.Store(false)
	u.carrying, u.carried, u.short = true, true, false
	u.x.c.readBy = time.Time{} // the carrier moves the deadline as it likes
	if s := u.x.c.stream; s != nil {
		s.begin(u.replayable) // before there are two that use it
	}
	if u.replayable && !u.lent && !u.whole.Load() {
		kept := u.x.c.srv.buffers.getBody()
		n := copy(kept, u.x.c.in.bytes())
		u.take(u.x.c.in.bytes()[:n])
		u.kept, u.lent = kept[:n], true
	}
	go u.carry(m, sent)
}

func (u *upload) carry(m *upstream.Conn, sent int) {
	var err error
	switch {
	case u.replayable:
		err = u.carryKept(m, sent)
	case u.framing == http1.Length:
		err = u.carryLength(m)
	case u.x.c.stream != nil:
		err = u.carryStream(m)
	default:
		err = u.carryChunked(m)
	}
	if u.failed() && !u.answered.Load() {
		m.Cut() // wakes the exchange, which sees the fault first
	}
	u.done <- err
}

func (u *upload) carryKept(m *upstream.Conn, sent int) error {
	for {
		if sent < len(u.kept) {
			if _, err := u.give(m, u.kept[sent:]); err != nil {
				return err
			}
			sent = len(u.kept)
		}
		have := int64(len(u.kept))
		if have == u.length {
			return nil
		}
		n, err := u.read(u.kept[have:u.length])
		if err != nil {
			return err
		}
		u.kept = u.kept[:have+int64(n)]
		if have+int64(n) == u.length {
			u.whole.Store(true)
		}
	}
}

func (u *upload) carryLength(m *upstream.Conn) error {
	u.borrow()
	for left := u.length; left > 0; {
		p := u.in.buf[:min(left, int64(len(u.in.buf)))]
		n, err := u.read(p)
		if err != nil {
			return err
		}
		left -= int64(n)
		if left == 0 {
			u.whole.Store(true)
		}
		if _, err := u.give(m, p[:n]); err != nil {
			return err
		}
	}
	return nil
}

func (u *upload) carryChunked(m *upstream.Conn) error {
	u.borrow()
	u.enc = u.x.c.borrow()[:0]
	if here := u.x.c.in.bytes(); len(here) > len(u.in.buf) {
		u.in.buf = make([]byte, len(here)) // the window has grown for the head
	}
	u.in.w = copy(u.in.buf, u.x.c.in.bytes())
	u.x.c.in.use(u.in.w)
	for {
		data, n, done, err := u.chunks.Next(u.in.bytes())
		if err != nil {
			return u.blame(malformed, err)
		}
		if err := u.encode(m, data); err != nil {
			return err
		}
		u.in.use(n)
		switch {
		case done:
			u.enc = http1.AppendLastChunk(u.enc, u.trailers())
			u.whole.Store(true)
			return u.push(m)
		case n == 0:
			if err := u.push(m); err != nil {
				return err
			}
			if err := u.wait(func(c *conn) error { return u.in.fill(c.nc, 2*bufferSize) }); err != nil {
				return err
			}
		}
	}
}

// carryStream carries a body without a length that a stream of HTTP/2 brings, as chunks.
func (u *upload) carryStream(m *upstream.Conn) error {
	u.borrow()
	u.enc = u.x.c.borrow()[:0]
	for ended := false; !ended; {
		n := 0
		err := u.wait(func(c *conn) (err error) {
			n, err = c.nc.Read(u.in.buf)
			ended = err == io.EOF
			if n > 0 || ended {
				return nil
			}
			return err
		})
		if err == nil {
			err = u.encode(m, u.in.buf[:n])
		}
		if err == nil {
			err = u.push(m)
		}
		if err != nil {
			return err
		}
	}
	if _, _, _, err := u.chunks.Next(u.x.c.stream.trailers()); err != nil {
		return u.blame(malformed, err)
	}
	u.enc = http1.AppendLastChunk(u.enc, u.trailers())
	u.whole.Store(true)
	return u.push(m)
}

// trailers are those that the member gets: a field that the policy sets or removes is none of them.
func (u *upload) trailers() []http1.Field {
	edits, _, _ := u.x.edits()
	return slices.DeleteFunc(u.chunks.Trailers, func(f http1.Field) bool { return edits.Drops(f.Name) })
}

// encode makes a chunk of data, behind what waits to be sent.
func (u *upload) encode(m *upstream.Conn, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	u.received += int64(len(data))
	u.begun.Store(true)
	if u.limit > 0 && u.received > u.limit {
		return u.blame(tooLarge, errBody)
	}
	if len(u.enc)+len(data) > bufferSize-chunkRoom {
		if err := u.push(m); err != nil {
			return err
		}
	}
	u.enc = http1.AppendChunkHead(u.enc, len(data))
	if len(data) <= bufferSize-chunkRoom {
		u.enc = append(u.enc, data...)
	} else {
		if err := u.push(m); err != nil {
			return err
		}
		if _, err := u.give(m, data); err != nil {
			return err
		}
	}
	u.enc = append(u.enc, "\r\n"...)
	return nil
}

// push sends what waits.
func (u *upload) push(m *upstream.Conn) error {
	if len(u.enc) == 0 {
		return nil
	}
	_, err := u.give(m, u.enc)
	u.enc = u.enc[:0]
	return err
}

// give hands the member a piece.
func (u *upload) give(m *upstream.Conn, p []byte) (int, error) {
	u.giving.Store(time.Now().UnixNano())
	defer u.giving.Store(0)
	return m.Write(p)
}

// awaited is true while the upload is the client's to go on with: there is more to come, and the member has not refused
// to take what came since a time.
func (u *upload) awaited(since time.Time) bool {
	began := u.giving.Load()
	return u.carrying && !u.whole.Load() && (began == 0 || began > since.UnixNano())
}

// borrow takes a buffer for streaming.
func (u *upload) borrow() {
	if u.in.buf == nil {
		u.in = window{buf: u.x.c.borrow()}
	}
}

// read takes body bytes, first those that came with the head, then from the client's connection.
func (u *upload) read(p []byte) (int, error) {
	n := 0
	if here := u.x.c.in.bytes(); len(here) > 0 {
		n = copy(p, here)
		u.x.c.in.use(n)
	} else if err := u.wait(func(c *conn) (err error) {
		n, err = c.nc.Read(p)
		if n > 0 {
			return nil
		}
		return err
	}); err != nil {
		return 0, err
	}
	u.received += int64(n)
	u.begun.Store(true)
	return n, nil
}

// wait reads from the client within body_read_timeout and says whose fault it is if that fails. The order
// of deadline and stop is what lets halt end a read that is just about to begin.
func (u *upload) wait(read func(*conn) error) error {
	c := u.x.c
	c.nc.SetReadDeadline(after(time.Now(), u.x.config.BodyReadTimeout))
	if u.stop.Load() {
		return errStopped
	}
	err := read(c)
	switch {
	case err == nil:
		return nil
	case u.stop.Load():
		return errStopped
	case timedOut(err):
		return u.blame(tooSlow, err)
	case errors.Is(err, io.EOF):
		return u.blame(cutShort, err)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return u.blame(resetByClient, err)
	default:
		return u.blame(malformed, err)
	}
}

var (
	errBody    = errors.New("request body refused")
	errStopped = errors.New("upload stopped")
)

func (u *upload) blame(f fault, err error) error {
	u.fault.Store(uint32(f))
	return err
}

func (u *upload) failed() bool { return fault(u.fault.Load()) != noFault }

// lastWait is how long a carrier that has the whole body may take to hand the rest to a member which has
// answered already.
const lastWait = 100 * time.Millisecond

// ended is true if no carrier runs: there was none, or it is through.
func (u *upload) ended() bool {
	if u.carrying {
		select {
		case err := <-u.done:
			u.carrying, u.short = false, err != nil
		default:
		}
	}
	return !u.carrying
}

// halt ends the carrier after an attempt. It is true if all of the body was sent: only then can the
// member's connection be used again.
func (u *upload) halt(m *upstream.Conn) bool {
	if u.ended() {
		return !u.short
	}
	u.carrying = false
	if u.whole.Load() {
		m.SetWriteDeadline(time.Now().Add(lastWait))
		defer m.SetWriteDeadline(time.Time{})
		return <-u.done == nil
	}
	u.stop.Store(true)
	u.x.c.nc.SetReadDeadline(past)
	m.SetWriteDeadline(past)
	<-u.done
	return false
}

// close gives the buffers back and leaves what was read beyond the body for the next request.
func (u *upload) close() {
	if u.lent {
		u.x.c.srv.buffers.putBody(u.kept)
	}
	u.kept, u.lent = nil, false
	if u.in.buf == nil {
		return
	}
	if rest := u.in.bytes(); len(rest) > 0 && u.whole.Load() {
		// The window's own bytes were used up before the first read of the body.
		c := u.x.c
		if len(c.in.buf) < len(rest) {
			c.in.buf = make([]byte, len(rest))
		}
		c.in.r, c.in.w = 0, copy(c.in.buf, rest)
	}
	u.x.c.giveBack(u.in.buf)
	u.in = window{}
	if u.enc != nil {
		u.x.c.giveBack(u.enc)
		u.enc = nil
	}
}
