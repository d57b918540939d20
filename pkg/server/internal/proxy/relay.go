package proxy

import (
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/http1"
)

// passInterim passes a 1xx on, less its hop-by-hop fields. A client of HTTP/1.0 gets none (RFC 9110 section
// 15.2); a 100 that we have sent for the member is not sent again.
func (x *exchange) passInterim(expecting *bool) error {
	if x.resp.Status == 100 {
		if x.req.Expect100 && !*expecting {
			return nil
		}
		*expecting = false
	}
	if x.req.Minor == 0 {
		return nil
	}
	out := http1.AppendStatusLine(x.c.out[:0], x.resp.Status, x.resp.Reason)
	for i := range x.resp.Fields {
		if f := &x.resp.Fields[i]; !f.Hop && f.Known != http1.FieldContentLength && !x.hides(f.Name) {
			out = http1.AppendField(out, f.Name, f.Value)
		}
	}
	out = append(out, "\r\n"...)
	x.c.out, x.began = out, true
	return x.c.write(out)
}

// passContinue sends 100 Continue for a member that is silent, unless the body is coming already.
func (x *exchange) passContinue() error {
	if x.up.begun.Load() || x.up.whole.Load() {
		return nil
	}
	x.began = true
	return x.c.write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
}

// pass passes the final answer on: head, body, trailers. It ends the lease.
func (x *exchange) pass(lease *lb.Lease, o lb.Outcome) {
	x.pool.Heads.Observe(x.headAt)
	x.status = x.resp.Status
	if x.resp.Status == 101 {
		x.passUpgrade(lease)
		return
	}
	x.began = true
	framing := x.frame()
	x.keep = x.mayKeep() && x.up.whole.Load() && framing != http1.UntilClose
	if !x.up.whole.Load() {
		x.unread = true
	}
	x.c.out = x.appendResponseHead(x.c.out[:0], lease, framing)

	err := x.passBody(framing)
	switch {
	case err == nil:
		// The member has done its part. It is free before the client sees the end of the answer, so that
		// whoever has an answer whole does not find its request in flight.
		if !x.up.ended() {
			// An early answer does not wait for the end of the upload.
			err = errors.Join(x.c.flush(), x.c.push())
		}
		x.finishWire()
		lease.Done(x.now, o)
		if err == nil {
			err = x.c.flush()
		}
	case errors.Is(err, errClientWrite), errors.Is(err, errClient):
		x.wire.drop(x)
		lease.Done(x.now, lb.Neutral())
	default:
		x.keep, x.cutOff = false, true
		x.c.flush()
		x.c.push()
		x.wire.drop(x)
		if x.up.failed() {
			lease.Done(x.now, lb.Neutral())
		} else {
			lease.Done(x.now, lb.FailureDetail(lb.BodyBroken, err.Error()))
		}
		return
	}
	if err != nil {
		x.keep, x.status = false, 499
	}
}

// finishWire keeps the member's connection where the exchange left it clean: the whole request was sent, the
// whole answer read, and nothing came behind it (RFC 9112 section 6.3).
func (x *exchange) finishWire() {
	w := &x.wire
	sent := x.up.halt(w.conn)
	if sent && x.resp.KeepAlive && x.resp.Body != http1.UntilClose && len(w.in.bytes()) == 0 {
		w.keep(x)
		return
	}
	w.drop(x)
}

// frame is how the body goes to the client. What has no length is chunked for HTTP/1.1 and ends with the
// connection for HTTP/1.0.
func (x *exchange) frame() http1.Framing {
	switch {
	case x.resp.Body == http1.NoBody, x.resp.Body == http1.Length:
		return x.resp.Body
	case x.req.Minor == 0, x.c.stream != nil:
		return http1.UntilClose
	default:
		return http1.ChunkedBody
	}
}

// appendResponseHead writes the head that goes to the client.
func (x *exchange) appendResponseHead(dst []byte, lease *lb.Lease, framing http1.Framing) []byte {
	dst = http1.AppendStatusLine(dst, x.resp.Status, x.resp.Reason)
	for i := range x.resp.Fields {
		f := &x.resp.Fields[i]
		if f.Hop || f.Known == http1.FieldContentLength || x.hides(f.Name) {
			continue
		}
		dst = http1.AppendField(dst, f.Name, f.Value)
	}
	if !x.resp.HasDate {
		dst = http1.AppendField(dst, dateName, x.c.srv.date.at(x.now))
	}
	dst = x.appendEdited(dst)
	dst = x.appendAffinity(dst, lease)
	switch {
	case framing == http1.ChunkedBody, framing == http1.NoBody && x.resp.Chunked && x.req.Minor > 0:
		dst = append(dst, "Transfer-Encoding: chunked\r\n"...)
	case x.resp.HasLength:
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, x.resp.ContentLength, 10)
		dst = append(dst, "\r\n"...)
	}
	dst = x.appendConnection(dst)
	return append(dst, "\r\n"...)
}

var dateName = []byte("Date")

// errClientWrite is a client that did not take the answer.
var errClientWrite = errors.New("writing to the client")

// passBody passes the body on as it comes; what is there already goes along with the head. The last piece
// is left in the buffer.
func (x *exchange) passBody(framing http1.Framing) error {
	switch x.resp.Body {
	case http1.Length:
		return x.passLength(x.resp.ContentLength)
	case http1.ChunkedBody:
		return x.passChunks(framing)
	case http1.UntilClose:
		return x.passUntilClose(framing)
	default:
		return nil
	}
}

func (x *exchange) passLength(left int64) error {
	for {
		here := x.wire.in.bytes()
		here = here[:min(int64(len(here)), left)]
		left -= int64(len(here))
		if err := x.emit(here, left == 0); err != nil {
			return err
		}
		x.wire.in.use(len(here))
		if left == 0 {
			return nil
		}
		if err := x.more(); err != nil {
			return err
		}
	}
}

func (x *exchange) passUntilClose(framing http1.Framing) error {
	for {
		here := x.wire.in.bytes()
		if err := x.emitFramed(here, framing); err != nil {
			return err
		}
		x.wire.in.use(len(here))
		err := x.more()
		if err == errEnd {
			if framing == http1.ChunkedBody {
				x.c.out = http1.AppendLastChunk(x.c.out, nil)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (x *exchange) passChunks(framing http1.Framing) error {
	w := &x.wire
	x.chunks.Reset()
	for {
		data, n, done, err := x.chunks.Next(w.in.bytes())
		if err != nil {
			return err
		}
		if len(data) > 0 {
			if err := x.emitFramed(data, framing); err != nil {
				return err
			}
		}
		if done {
			err := x.passTrailers(framing)
			w.in.use(n)
			return err
		}
		w.in.use(n)
		if n > 0 {
			continue
		}
		if err := x.more(); err != nil {
			return err
		}
	}
}

// passTrailers ends the body, with the trailers that the member has sent, where the client's side has a place for
// them.
func (x *exchange) passTrailers(framing http1.Framing) error {
	trailers := slices.DeleteFunc(x.chunks.Trailers, func(f http1.Field) bool { return x.hides(f.Name) })
	if framing == http1.ChunkedBody {
		x.c.out = http1.AppendLastChunk(x.c.out, trailers)
		return nil
	}
	if x.c.stream == nil || len(trailers) == 0 {
		return nil
	}
	if err := x.c.flush(); err != nil {
		return err
	}
	if x.c.stream.sendTrailers(trailers, x.config.IdleTimeout) != nil {
		return errClientWrite
	}
	return nil
}

// emitFramed sends a piece of body, as a chunk where the client's side is chunked.
func (x *exchange) emitFramed(p []byte, framing http1.Framing) error {
	if framing != http1.ChunkedBody || len(p) == 0 {
		return x.emit(p, false)
	}
	x.c.out = http1.AppendChunkHead(x.c.out, len(p))
	if err := x.emit(p, false); err != nil {
		return err
	}
	x.c.out = append(x.c.out, "\r\n"...)
	return nil
}

// emit sends a piece of body behind what waits in the buffer: together with it where both fit. The last piece waits
// in the buffer, so that the member can be let go before the client has it.
func (x *exchange) emit(p []byte, last bool) error {
	x.out += int64(len(p))
	if !fits(x.c.out, p) {
		if err := x.c.flush(); err != nil {
			return err
		}
		if !last || !fits(x.c.out, p) {
			return x.c.send(p)
		}
	}
	x.c.out = append(x.c.out, p...)
	return nil
}

// fits is true if p has room in the buffer behind what is there.
func fits(out, p []byte) bool { return len(out)+len(p) <= bufferSize-chunkRoom }

// chunkRoom is what the framing around a chunk takes, so that the buffer never grows for it.
const chunkRoom = 32

// more reads more of the body, after handing the client what is there: a stream of events is never held
// back. The end of the stream is errEnd.
func (x *exchange) more() error {
	if err := x.c.flush(); err != nil {
		return err
	}
	if err := x.c.push(); err != nil {
		return err
	}
	err := x.fill(after(x.now, x.runtime.BodyTimeout), 2*bufferSize)
	if err == io.EOF {
		return errEnd
	}
	return err
}

// errEnd is the orderly end of the member's stream. A TLS stream that is cut off is not one.
var errEnd = errors.New("closed by the member")

// flush sends what waits in the buffer.
func (c *conn) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	err := c.send(c.out)
	c.out = c.out[:0]
	return err
}

// send writes to the client; a failure is errClientWrite.
func (c *conn) send(p []byte) error {
	if err := c.write(p); err != nil {
		return errClientWrite
	}
	return nil
}
