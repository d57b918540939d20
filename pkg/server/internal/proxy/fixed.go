package proxy

import (
	"strconv"

	"github.com/scalws/scalws/pkg/server/internal/http1"
)

// Fixed is an answer of a runtime that is always the same.
type Fixed struct {
	Status      int
	ContentType string
	Body        []byte
	// Location makes it a redirect, whose body says where to.
	Location string
}

// answeredHere answers for a runtime that needs no member, and is false for others.
func (x *exchange) answeredHere(rt *Runtime) bool {
	switch {
	case rt.Fixed != nil:
		x.answerFixed(rt.Fixed)
	case rt.Static != nil:
		x.c.aside(func() { x.answerStatic(rt.Static) }) // a disk may take its time
	default:
		return false
	}
	return true
}

// answerFixed answers every method alike: what stands in front of an application that is away takes the place of all
// that it answers.
func (x *exchange) answerFixed(f *Fixed) {
	if f.Location != "" {
		x.sendTo(f.Status, f.Location, f.Location)
		return
	}
	x.settle()
	x.startAnswer(f.Status)
	out := x.c.out
	if f.Status != 204 { // RFC 9110 section 8.6
		if len(f.Body) > 0 {
			out = x.appendOwn(out, "Content-Type", f.ContentType)
		}
		out = append(out, "Content-Length: "...)
		out = strconv.AppendInt(out, int64(len(f.Body)), 10)
		out = append(out, "\r\n"...)
	}
	x.c.out = append(x.appendConnection(x.appendEdited(out)), "\r\n"...)
	if x.req.Method != http1.HEAD {
		if x.emit(f.Body, true) != nil {
			x.leftEarly()
			return
		}
	}
	x.endAnswer()
}

// settle decides what becomes of the connection when the answer is our own. It goes on only if nothing of the request
// is left unread.
func (x *exchange) settle() {
	if x.up.skip() {
		x.keep = x.mayKeep()
	} else {
		x.unread = true
	}
}

// startAnswer begins the head of an answer of our own in the buffer.
func (x *exchange) startAnswer(status int) {
	x.status, x.began = status, true
	out := http1.AppendStatusLine(x.c.out[:0], status, nil)
	x.c.out = http1.AppendField(out, dateName, x.c.srv.date.at(x.now))
}

// endAnswer sends what is left of it.
func (x *exchange) endAnswer() {
	if x.c.flush() != nil {
		x.leftEarly()
	}
}

// leftEarly is a client that did not take the answer.
func (x *exchange) leftEarly() { x.keep, x.status = false, 499 }
