package proxy

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/http1"
)

// stream is a request of HTTP/2 as an exchange sees a client. Its head is written as one of HTTP/1.1 and read by
// the same strict parser, and the answer's head is translated back, so that every rule about heads is written once
// and nothing can reach a member over HTTP/2 that could not over HTTP/1.1. Bodies have no framing here.
type stream struct {
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController

	names []string
	resp  http1.Response
	// headed is true once the final head is written.
	headed bool
	late   *alarm // ends a write that the client makes no room for

	slow *alarm // ends a body that does not come, where it is read without a pipe

	// The pipe that a body comes through if reads of it may have to end and begin again. It is there before a carrier
	// reads: the exchange may be stopping the carrier at the same time.
	body, from net.Conn
	pumped     chan struct{}
	bodyErr    error
}

// appendHead writes the request's head in the form of HTTP/1.1. It is false if something in it would end a line:
// the library lets no such thing through.
func (s *stream) appendHead(dst []byte) ([]byte, bool) {
	ok := true
	text := func(v string) {
		ok = ok && !strings.ContainsAny(v, "\r\n")
		dst = append(dst, v...)
	}
	field := func(name, value string) {
		text(name)
		text(": ")
		text(value)
		dst = append(dst, "\r\n"...)
	}
	text(s.r.Method)
	dst = append(dst, ' ')
	text(s.r.RequestURI)
	dst = append(dst, " HTTP/1.1\r\n"...)
	if s.r.Host != "" {
		field("Host", s.r.Host)
	}
	s.names = s.names[:0]
	for name := range s.r.Header {
		s.names = append(s.names, name)
	}
	slices.Sort(s.names) // the library gives them in no order
	for _, name := range s.names {
		for i, value := range s.r.Header[name] {
			if name == "Host" && i == 0 && strings.EqualFold(value, s.r.Host) {
				continue // the same as :authority, as it has to be (RFC 9113 section 8.3.1); a second one is refused
			}
			field(name, value)
		}
	}
	if s.r.ContentLength < 0 {
		dst = append(dst, "Transfer-Encoding: chunked\r\n"...)
	}
	return append(dst, "\r\n"...), ok
}

// hasPath is false for a :path that is neither a path nor "*": an absolute-form has no place there (RFC 9113 section
// 8.3.1). That a CONNECT has none is seen to by the library.
func (s *stream) hasPath() bool {
	return s.r.Method == http.MethodConnect || s.r.RequestURI == "*" || strings.HasPrefix(s.r.RequestURI, "/")
}

// begin makes the body ready to be read. One that may be read on after a deadline, by another attempt, comes through a
// pipe; a deadline of the library is the end of it.
func (s *stream) begin(again bool) {
	if again && s.body == nil {
		s.body, s.from = net.Pipe()
	}
}

// Read reads the request's body. The library answers an Expect: 100-continue when the first read comes.
func (s *stream) Read(p []byte) (int, error) {
	if s.body == nil {
		n, err := s.r.Body.Read(p)
		return n, s.readError(err)
	}
	if s.pumped == nil {
		s.pumped = make(chan struct{})
		go s.pump()
	}
	n, err := s.body.Read(p)
	if err == io.EOF && s.bodyErr != nil {
		err = s.bodyErr
	}
	return n, err
}

// readError tells a stream that was reset, or whose connection is gone, from a body that is wrong.
func (s *stream) readError(err error) error {
	if err == nil || err == io.EOF || timedOut(err) || s.r.Context().Err() == nil {
		return err
	}
	return syscall.ECONNRESET
}

// pump carries the body into the pipe.
func (s *stream) pump() {
	defer close(s.pumped)
	defer s.from.Close()
	if _, err := io.Copy(s.from, s.r.Body); !errors.Is(err, io.ErrClosedPipe) {
		s.bodyErr = s.readError(err)
	}
}

// end lets go of the body.
func (s *stream) end() {
	if s.slow != nil {
		s.slow.stop()
	}
	if s.body != nil {
		s.body.Close()
	}
	s.r.Body.Close()
	if s.pumped != nil {
		<-s.pumped
	}
}

// trailers are those of the request, written as the end of a chunked body. The body was read to its end.
func (s *stream) trailers() []byte {
	end := []byte("0\r\n")
	for name, values := range s.r.Trailer {
		for _, value := range values {
			end = http1.AppendFieldString(end, name, value)
		}
	}
	return append(end, "\r\n"...)
}

// ownHead bounds the head of an answer as we have made it.
var ownHead = http1.Limits{Head: 2 * memberHead}

var errHead = errors.New("translating the head of an answer")

// send writes what an exchange writes to a client: heads in the form of HTTP/1.1, and the body behind the final
// one. The client may take up to limit to make room for it.
func (s *stream) send(p []byte, limit time.Duration) error {
	defer s.bound(limit)()
	for !s.headed {
		s.resp.Reset()
		n, err := s.resp.Parse(p, ownHead, s.r.Method == http.MethodHead)
		if err != nil || n == 0 {
			return errHead
		}
		s.writeHead()
		if p = p[n:]; len(p) == 0 {
			return nil
		}
	}
	_, err := s.w.Write(p)
	return err
}

// flush sends what the library holds back. The final head to HEAD is sent when the exchange ends: with it the
// stream is closed, which the library would report as a failure to flush.
func (s *stream) flush(limit time.Duration) error {
	if s.headed && s.r.Method == http.MethodHead {
		return nil
	}
	defer s.bound(limit)()
	return s.control.Flush()
}

// bound resets the stream unless the function that it returns is called within the limit.
func (s *stream) bound(limit time.Duration) (done func()) {
	if limit <= 0 {
		return func() {}
	}
	if s.late == nil {
		s.late = newAlarm(func() { s.control.SetWriteDeadline(past) })
	}
	s.late.set(limit)
	return s.late.stop
}

// writeHead writes the head in resp, interim or final, less what HTTP/2 has no place for (RFC 9113 section 8.2.2).
func (s *stream) writeHead() {
	h := s.w.Header()
	for i := range s.resp.Fields {
		if f := &s.resp.Fields[i]; !f.Hop {
			name := textproto.CanonicalMIMEHeaderKey(string(f.Name))
			h[name] = append(h[name], string(f.Value))
		}
	}
	if s.resp.Status < 200 {
		// The library's writer may still read the fields when the stream is reset and WriteHeader has returned
		// (https://go.dev/issue/67940). Where there is a length it reads a copy, which has none.
		h["Content-Length"] = nil
		s.w.WriteHeader(s.resp.Status)
		clear(h)
		return
	}
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil // keeps the library from guessing one
	}
	s.headed = true
	s.w.WriteHeader(s.resp.Status)
}

// sendTrailers leaves the answer's trailers to be written at its end. The head goes first: without a body the
// library would take it for the end.
func (s *stream) sendTrailers(fields []http1.Field, limit time.Duration) error {
	if len(fields) == 0 {
		return nil
	}
	if err := s.flush(limit); err != nil {
		return err
	}
	for i := range fields {
		name := http.TrailerPrefix + textproto.CanonicalMIMEHeaderKey(string(fields[i].Name))
		s.w.Header()[name] = append(s.w.Header()[name], string(fields[i].Value))
	}
	return nil
}

// gone is true once the stream was reset or its connection has ended.
func (s *stream) gone() bool { return s.r.Context().Err() != nil }

// What an exchange needs of a connection.

// Write is not used: answers go through send.
func (s *stream) Write(p []byte) (int, error) { return len(p), s.send(p, 0) }

// Close does nothing: a stream ends when its exchange does.
func (s *stream) Close() error { return nil }

// LocalAddr and RemoteAddr are not known here.
func (s *stream) LocalAddr() net.Addr { return nil }

// RemoteAddr is not known here.
func (s *stream) RemoteAddr() net.Addr { return nil }

// SetDeadline sets that of reading.
func (s *stream) SetDeadline(t time.Time) error { return s.SetReadDeadline(t) }

// SetReadDeadline bounds reading the body, once begin was called. past ends a read at once, from whatever goroutine;
// another deadline is set by the one that reads.
func (s *stream) SetReadDeadline(t time.Time) error {
	switch {
	case s.body != nil:
		return s.body.SetReadDeadline(t)
	case t.Equal(past):
		return s.control.SetReadDeadline(past)
	case s.slow != nil:
		s.slow.stop()
	default:
		s.slow = newAlarm(func() { s.control.SetReadDeadline(past) })
	}
	if !t.IsZero() {
		s.slow.set(time.Until(t))
	}
	return nil
}

// SetWriteDeadline does nothing: send and flush have a limit of their own.
func (s *stream) SetWriteDeadline(time.Time) error { return nil }
