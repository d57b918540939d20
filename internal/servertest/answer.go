package servertest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Answer is a response, and as a [Step] reads the request whole and sends it. The zero value is 200
// with an empty body. Nothing is added but the framing: no Date, no Content-Type.
type Answer struct {
	// Status code; 0 is 200.
	Status int
	// Header are lines, "Name: value", in this order. A Content-Length or Transfer-Encoding here takes
	// the place of ours, true or not.
	Header []string
	// Body goes out with a Content-Length.
	Body string
	// Chunks, if not nil, go out as a chunked body, one chunk each, in place of Body.
	Chunks []string
	// Trailer are lines after a chunked body; with Body alone they make it chunked.
	Trailer []string
	// UntilClose sends the body without framing and closes.
	UntilClose bool
	// Interim answers are sent before: only their Status and Header count.
	Interim []Answer
	// Silent leaves an Expect: 100-continue without its 100.
	Silent bool
	// Behind is sent in the same write behind the whole response.
	Behind string
	// Close closes after the answer. It announces nothing: for that, add the header line.
	Close bool
	// HalfClose ends the sending side after the answer and reads on until the peer has closed.
	HalfClose bool
}

// Status is an answer with this code, its text as the body.
func Status(code int) Answer {
	return Answer{Status: code, Body: http.StatusText(code)}
}

func (a Answer) moment() moment { return atHead }

func (a Answer) play(x *Exchange) { performance{answer: a, read: -1, stop: -1}.play(x) }

// performance is an answer with something in its way.
type performance struct {
	answer Answer
	// read bytes of the request's body before the answer; negative reads it whole.
	read int64
	// stop after this many body bytes and go on if then says so; negative does not stop.
	stop int
	then func(*Exchange) bool
	// send writes; nil writes all at once.
	send func(x *Exchange, data string) error
}

func (p performance) play(x *Exchange) {
	a := p.answer
	if !a.Silent {
		x.Continue()
	}
	if err := x.readBody(p.read); err != nil {
		x.Close()
		return
	}
	send := p.send
	if send == nil {
		send = func(x *Exchange, data string) error {
			_, err := io.WriteString(x, data)
			return err
		}
	}
	before, after := a.wire(x.request.Method, p.stop)
	if err := send(x, before); err != nil {
		x.Close()
		return
	}
	if p.stop >= 0 {
		if !p.then(x) {
			return
		}
		if err := send(x, after); err != nil {
			x.Close()
			return
		}
	}
	a.leave(x)
}

// leave ends the connection in the way of the answer, if it has one.
func (a Answer) leave(x *Exchange) {
	switch {
	case a.HalfClose:
		x.CloseWrite()
		io.Copy(io.Discard, x)
		x.Close()
	case a.Close || a.UntilClose:
		x.Close()
	}
}

// wire is the answer in bytes, in two parts with the border after stop bytes of the body. Without a
// stop all is in the first.
func (a Answer) wire(method string, stop int) (before, after string) {
	var head strings.Builder
	for _, interim := range a.Interim {
		interim.writeHead(&head, "")
	}
	a.writeHead(&head, a.framing())
	body, border := "", 0
	if method != http.MethodHead && a.hasBody() {
		body, border = a.frame(stop)
	}
	text := head.String() + body + a.Behind
	if stop < 0 {
		return text, ""
	}
	border += head.Len()
	return text[:border], text[border:]
}

func (a Answer) code() int {
	if a.Status == 0 {
		return http.StatusOK
	}
	return a.Status
}

// hasBody follows RFC 9112 section 6.3: 1xx, 204 and 304 have none.
func (a Answer) hasBody() bool {
	return a.code() >= 200 && a.code() != http.StatusNoContent && a.code() != http.StatusNotModified
}

func (a Answer) chunked() bool { return a.Chunks != nil || a.Trailer != nil }

// framing is the line that says how long the body is; empty where the answer has its own or needs none.
func (a Answer) framing() string {
	for _, line := range a.Header {
		name, _, _ := strings.Cut(line, ":")
		if strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "Transfer-Encoding") {
			return ""
		}
	}
	switch {
	case a.UntilClose || !a.hasBody():
		return ""
	case a.chunked():
		return "Transfer-Encoding: chunked"
	default:
		return "Content-Length: " + strconv.Itoa(len(a.Body))
	}
}

func (a Answer) writeHead(to *strings.Builder, framing string) {
	fmt.Fprintf(to, "HTTP/1.1 %d %s\r\n", a.code(), http.StatusText(a.code()))
	for _, line := range a.Header {
		to.WriteString(line + "\r\n")
	}
	if framing != "" {
		to.WriteString(framing + "\r\n")
	}
	to.WriteString("\r\n")
}

// frame is the body in its framing, and the offset in it at which stop bytes of content have been
// sent: inside a chunk, or behind a chunk that ends there.
func (a Answer) frame(stop int) (text string, border int) {
	if !a.chunked() {
		return a.Body, min(max(stop, 0), len(a.Body))
	}
	chunks := a.Chunks
	if chunks == nil && a.Body != "" {
		chunks = []string{a.Body}
	}
	var wire strings.Builder
	for _, chunk := range chunks {
		fmt.Fprintf(&wire, "%x\r\n", len(chunk))
		if stop > 0 && stop < len(chunk) {
			border = wire.Len() + stop
		}
		wire.WriteString(chunk + "\r\n")
		if stop >= len(chunk) {
			border = wire.Len()
		}
		stop -= len(chunk)
	}
	wire.WriteString("0\r\n")
	for _, line := range a.Trailer {
		wire.WriteString(line + "\r\n")
	}
	wire.WriteString("\r\n")
	return wire.String(), border
}
