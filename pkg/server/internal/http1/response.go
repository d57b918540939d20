package http1

import "bytes"

// Response is the head of a response, interim (1xx) or final. The zero value is ready for the first
// Parse.
type Response struct {
	// Status is 100 to 599.
	Status int
	// Reason may be empty.
	Reason []byte
	// Minor is the minor version: 0 or 1.
	Minor  uint8
	Fields []Field
	Body   Framing
	// ContentLength is what Content-Length says where HasLength is true, else -1.
	ContentLength int64
	// HasLength: there is a Content-Length that counts. The answer to a HEAD and a 304 may have one
	// without a body.
	HasLength bool
	// Chunked: there is a Transfer-Encoding that counts. The answer to a HEAD and a 304 may have one
	// without a body.
	Chunked bool
	// KeepAlive: the connection may carry another request once the body was read.
	KeepAlive bool
	// Upgrade is the protocol that a 101 switches to, else nil.
	Upgrade []byte
	// HasDate: there is a Date field.
	HasDate bool

	message
}

// Reset makes r ready for the first Parse of a message. It keeps the space of Fields, and nothing of the bytes
// that they were read from.
func (r *Response) Reset() {
	clear(r.Fields)
	*r = Response{Fields: r.Fields[:0]}
}

// Parse reads a response head at the front of buf, as Request.Parse does. answersHead says that the
// request was a HEAD. Every error is an *Error with Status 502.
func (r *Response) Parse(buf []byte, lim Limits, answersHead bool) (n int, err error) {
	n, err = r.parse(buf, lim, answersHead)
	if refused, ok := err.(*Error); ok {
		refused.Status = 502
	}
	return n, err
}

func (r *Response) parse(buf []byte, lim Limits, answersHead bool) (int, error) {
	for {
		line, state := r.line(buf, lim.Head)
		if r.Status == 0 && !mayBeStatusLine(buf) {
			return 0, malformed("not an HTTP/1 response")
		}
		switch state {
		case lineWhole:
		case linePart:
			r.resumed = true
			return 0, nil
		default:
			return 0, state.err()
		}
		var err error
		switch {
		case r.Status == 0:
			err = r.statusLine(line)
		case len(line) == 0 && r.resumed:
			r.Reset() // as in Request.Parse
		case len(line) == 0:
			if err = r.finish(answersHead); err == nil {
				return r.pos, nil
			}
		default:
			var f *Field
			if f, err = r.field(&r.Fields, line, lim.Fields); err == nil && f.Known == FieldDate {
				r.HasDate = true
			}
		}
		if err != nil {
			return 0, err
		}
	}
}

// mayBeStatusLine looks at the first bytes, so that a member that speaks something else is noticed
// without waiting for the end of a line.
func mayBeStatusLine(buf []byte) bool {
	const prefix = "HTTP/1."
	n := min(len(buf), len(prefix))
	return string(buf[:n]) == prefix[:n]
}

// statusLine reads HTTP-version SP status-code SP [ reason-phrase ] (RFC 9112 section 4). Many servers
// leave out the second SP where no reason follows; there is no second way to read that.
func (r *Response) statusLine(line []byte) (err error) {
	i := bytes.IndexByte(line, ' ')
	if i < 0 {
		return malformed("invalid status line")
	}
	if r.Minor, err = parseVersion(line[:i]); err != nil {
		return err
	}
	rest := line[i+1:]
	if len(rest) < 3 || len(rest) > 3 && rest[3] != ' ' {
		return malformed("invalid status line")
	}
	status := 0
	for _, c := range rest[:3] {
		if c < '0' || c > '9' {
			return malformed("invalid status code")
		}
		status = status*10 + int(c-'0')
	}
	// RFC 9110 section 15 knows no others; a client would have to guess.
	if status < 100 || status > 599 {
		return malformed("status code out of range")
	}
	r.Reason = rest[min(4, len(rest)):]
	r.Status = status
	return nil
}

// finish judges the head as a whole (RFC 9112 section 6.3).
func (r *Response) finish(answersHead bool) error {
	if err := r.checkFraming(r.Minor); err != nil {
		return err
	}
	if err := r.readConnection(r.Fields); err != nil {
		return err
	}
	r.KeepAlive = r.persists(r.Minor)
	if r.Status < 200 || r.Status == 204 {
		r.ignoreFraming()
	}
	r.HasLength, r.Chunked, r.ContentLength = r.hasLength, r.chunked, -1
	if r.HasLength {
		r.ContentLength = r.length
	}
	switch {
	case answersHead, r.Status < 200, r.Status == 204, r.Status == 304:
		r.Body = NoBody
	case r.Chunked:
		r.Body = ChunkedBody
	case r.ContentLength > 0:
		r.Body = Length
	case !r.HasLength:
		r.Body = UntilClose
		r.KeepAlive = false
	}
	if r.Status == 101 {
		r.Upgrade = r.offered(r.Minor)
		r.KeepAlive = false
	}
	return nil
}

// ignoreFraming is for the responses that have no body and must not announce one, 1xx and 204
// (RFC 9110 section 8.6, RFC 9112 section 6.1). The announcement ends here. Where it was more than
// "nothing", a body may follow that is not part of the response, so the connection is done with.
func (r *Response) ignoreFraming() {
	if r.chunked || r.length > 0 {
		r.KeepAlive = false
	}
	r.chunked, r.hasLength = false, false
	for i := range r.Fields {
		if r.Fields[i].Known == FieldContentLength {
			r.Fields[i].Hop = true
		}
	}
}
