package http1

import "bytes"

const (
	// maxMethod is well above the longest registered method, which has 17 letters.
	maxMethod = 64
	// maxEmptyLines is how many empty lines may precede a request. RFC 9112 section 2.2 asks for at least
	// one: old clients send it behind a body.
	maxEmptyLines = 2
)

// Request is the head of a request. The zero value is ready for the first Parse.
type Request struct {
	Method     Method
	MethodText []byte
	// Target is the request target as received.
	Target []byte
	// Path is what goes on to the member: path and query, byte for byte as received, so that "%2F",
	// "//", ";x" and "%zz" mean there what the client meant. Of an absolute-form it is the part behind
	// the authority ("/" where that is empty), for OPTIONS it may be "*", for CONNECT it is the target.
	Path []byte
	// Host is the authority of the target, or else the value of Host. It is empty only in HTTP/1.0.
	Host []byte
	// Minor is the minor version: 0 or 1.
	Minor  uint8
	Fields []Field
	Body   Framing
	// ContentLength is the size of the body where Body is Length, else -1.
	ContentLength int64
	// HasLength tells "Content-Length: 0" from no Content-Length. Body is NoBody for both.
	HasLength bool
	// KeepAlive: the client wants the connection to stay open.
	KeepAlive bool
	// Expect100: the client may wait for a 100 before it sends the body.
	Expect100 bool
	// Upgrade is the value of Upgrade where Connection names it, else nil. Whether a protocol may be
	// switched to is for the caller to say.
	Upgrade []byte
	// TrailersOK: the client said "TE: trailers".
	TrailersOK bool

	message
	emptyLines  int
	authority   []byte // of the target
	defaultPort string // of the target's scheme
	hasExpect   bool
	expects     bool   // something
	rewritten   []byte // holds a Path that does not stand in the target in one piece
}

// Reset makes r ready for the first Parse of a message. It keeps the space of Fields, and nothing of the bytes
// that they were read from.
func (r *Request) Reset() {
	clear(r.Fields)
	*r = Request{Fields: r.Fields[:0], rewritten: r.rewritten[:0]}
}

// Parse reads a request head at the front of buf and returns its size. With n zero and no error the
// head is not whole yet: Parse wants to be called again with the same bytes and more behind them,
// wherever they lie by then. An error is an *Error; it ends the connection, since nobody knows where
// the next request begins.
//
// r is valid once n is above zero, and as long as the bytes of buf.
func (r *Request) Parse(buf []byte, lim Limits) (n int, err error) {
	for {
		line, state := r.line(buf, r.limit(lim))
		switch {
		case state == linePart:
			r.resumed = true
			return 0, nil
		case state == lineTooLarge && r.MethodText == nil:
			return 0, overlongRequestLine(buf[r.pos:])
		case state != lineWhole:
			return 0, state.err()
		}
		switch {
		case r.MethodText != nil && len(line) == 0 && r.resumed:
			// What earlier calls found are slices of buffers that may be gone. The head is whole now:
			// once more from the front.
			r.Reset()
		case r.MethodText != nil && len(line) == 0:
			if err = r.finish(); err == nil {
				return r.pos, nil
			}
		case r.MethodText != nil:
			err = r.fieldLine(line, lim.Fields)
		case len(line) > 0:
			err = r.requestLine(line, lim.Target)
		default:
			if r.emptyLines++; r.emptyLines > maxEmptyLines {
				err = malformed("empty lines instead of a request")
			}
		}
		if err != nil {
			return 0, err
		}
	}
}

// limit is where the line to be read must end at the latest, so that an overlong target is noticed
// before its end is there.
func (r *Request) limit(lim Limits) int {
	if r.MethodText != nil || lim.Target == 0 {
		return lim.Head
	}
	limit := r.pos + maxMethod + lim.Target + len("  HTTP/1.1\r\n")
	if lim.Head > 0 {
		limit = min(limit, lim.Head)
	}
	return limit
}

// overlongRequestLine is the refusal of a request line without an end: of its target, unless it has
// not even come to that.
func overlongRequestLine(line []byte) error {
	if i := bytes.IndexByte(line, ' '); i < 0 || i > maxMethod {
		return malformed("method too long")
	}
	return targetTooLong()
}

func targetTooLong() error { return &Error{Status: 414, Reason: "request target too long"} }

// requestLine reads method SP request-target SP HTTP-version (RFC 9112 section 3).
func (r *Request) requestLine(line []byte, maxTarget int) error {
	i := tokenLen(line)
	if i == 0 || i > maxMethod || i == len(line) || line[i] != ' ' {
		return malformed("invalid method")
	}
	rest := line[i+1:]
	j := bytes.IndexByte(rest, ' ')
	if j < 0 {
		return malformed("request line without a version")
	}
	r.MethodText, r.Target = line[:i], rest[:j]
	if maxTarget > 0 && j > maxTarget {
		return targetTooLong()
	}
	var err error
	if r.Minor, err = parseVersion(rest[j+1:]); err != nil {
		return err
	}
	r.Method = parseMethod(r.MethodText)
	return r.splitTarget()
}

func (r *Request) fieldLine(line []byte, maxFields int) error {
	f, err := r.field(&r.Fields, line, maxFields)
	if err != nil {
		return err
	}
	switch f.Known {
	case FieldHost:
		return r.hostField(f.Value)
	case FieldExpect:
		return r.expectField(f.Value)
	case FieldTE:
		r.teField(f.Value)
	}
	return nil
}

// hostField takes the value of Host (RFC 9112 section 3.2). Two of them are refused, equal or not.
func (r *Request) hostField(value []byte) error {
	if r.Host != nil {
		return malformed("more than one Host")
	}
	if len(value) > 0 && !IsAuthority(value) {
		return malformed("invalid Host")
	}
	r.Host = value
	return nil
}

// expectField reads Expect (RFC 9110 section 10.1.1). HTTP/1.0 has no expectations.
func (r *Request) expectField(value []byte) error {
	r.hasExpect = true
	if r.Minor == 0 {
		return nil
	}
	for item := range items(value) {
		if !EqualFold(item, "100-continue") {
			return &Error{Status: 417, Reason: "unknown expectation"}
		}
		r.expects = true
	}
	return nil
}

func (r *Request) teField(value []byte) {
	for item := range items(value) {
		if EqualFold(item, "trailers") {
			r.TrailersOK = true
		}
	}
}

// finish judges the head as a whole.
func (r *Request) finish() error {
	if err := r.settleHost(); err != nil {
		return err
	}
	if err := r.checkFraming(r.Minor); err != nil {
		return err
	}
	if err := r.readConnection(r.Fields); err != nil {
		return err
	}
	r.ContentLength, r.HasLength = -1, r.hasLength
	switch {
	case r.chunked:
		r.Body = ChunkedBody
	case r.length > 0:
		r.Body, r.ContentLength = Length, r.length
	}
	r.KeepAlive = r.persists(r.Minor)
	r.Upgrade = r.offered(r.Minor)
	r.Expect100 = r.expects && r.Body != NoBody
	if r.hasExpect && !r.Expect100 {
		r.dropExpect()
	}
	return nil
}

// dropExpect ends an Expect here that asks for nothing, so that no member waits for it.
func (r *Request) dropExpect() {
	for i := range r.Fields {
		if r.Fields[i].Known == FieldExpect {
			r.Fields[i].Hop = true
		}
	}
}
