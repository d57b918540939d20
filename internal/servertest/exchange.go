package servertest

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"time"
)

// Exchange is one turn of a member: a request and what is done about it. A step of your own, see [Do],
// gets one; its methods belong to the goroutine of that step.
type Exchange struct {
	member  *Member
	link    *link
	step    Step
	gate    chan struct{}
	request *http.Request // nil before a head was read
	entry   *record
	over    bool
}

// Request is the head that was read. Its body goes into the log with ReadBody.
func (x *Exchange) Request() *http.Request { return x.request }

// ReadBody reads n more bytes of the request's body into the log; all of it if n is negative.
func (x *Exchange) ReadBody(n int64) error { return x.readBody(n) }

// Read reads raw bytes: after an upgrade, or what a step wants to see of a body undecoded.
func (x *Exchange) Read(p []byte) (int, error) { return x.link.in.Read(p) }

// Write writes raw bytes.
func (x *Exchange) Write(p []byte) (int, error) { return x.link.Write(p) }

// Continue answers an Expect: 100-continue, if the request has one and its body is still to come.
func (x *Exchange) Continue() {
	if !x.complete() && strings.EqualFold(x.request.Header.Get("Expect"), "100-continue") {
		x.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	}
}

// WaitRelease waits for [Member.Release]; it is false if the test ended instead. Once the request was
// read, a peer that goes away meanwhile is noted in the log.
func (x *Exchange) WaitRelease() bool {
	if x.request != nil && x.complete() {
		defer x.watch()()
	}
	select {
	case <-x.gate:
	case <-x.member.ended:
		return false
	}
	x.member.mu.Lock()
	defer x.member.mu.Unlock()
	x.gate = x.member.gate
	return true
}

// watch notes a peer that leaves, until the function that it returns is called.
func (x *Exchange) watch() (stop func()) {
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		_, err := x.link.in.Peek(1)
		var timeout net.Error
		if err == nil || errors.Is(err, net.ErrClosed) || errors.As(err, &timeout) && timeout.Timeout() {
			return
		}
		x.member.update(func() { x.entry.Left = true })
	}()
	return func() {
		x.link.SetReadDeadline(time.Unix(1, 0))
		<-finished
		x.link.SetReadDeadline(time.Time{})
	}
}

// CloseWrite ends what the member sends; it can still read.
func (x *Exchange) CloseWrite() error { return halfClose(x.link.Conn) }

// Close closes the connection. Where bytes of the peer are unread the kernel makes it a reset.
func (x *Exchange) Close() {
	x.over = true
	x.link.Close()
}

// Reset closes the connection with a reset.
func (x *Exchange) Reset() {
	x.over = true
	x.link.reset()
}

// reusable reads what the step left of the request, and says whether another one can follow.
func (x *Exchange) reusable() bool {
	return !x.over && x.readBody(-1) == nil
}
