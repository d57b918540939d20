package http1

// maxOptions bounds the options of all Connection fields of a message. Each may have to be compared
// with each field.
const maxOptions = 64

// message is what requests and responses have in common: the lines of the head, and what the fields
// say about the connection and the body.
type message struct {
	head
	length        int64 // value of Content-Length where hasLength
	hasLength     bool
	chunked       bool
	hasConnection bool
	closes        bool // Connection: close
	keepAlive     bool // Connection: keep-alive
	upgrade       bool // Connection: upgrade
	protocols     int  // number of Upgrade fields
	protocol      []byte
}

// field parses a field line and appends it to fields, of which there may be limit (0: any number).
func (m *message) field(fields *[]Field, line []byte, limit int) (*Field, error) {
	n := len(*fields)
	if limit > 0 && n >= limit {
		return nil, &Error{Status: 431, Reason: "too many fields"}
	}
	if n < cap(*fields) {
		*fields = (*fields)[:n+1]
	} else {
		*fields = append(*fields, Field{})
	}
	f := &(*fields)[n]
	if err := f.parse(line); err != nil {
		return nil, err
	}
	switch f.Known {
	case FieldConnection:
		m.hasConnection = true
	case FieldUpgrade:
		m.protocols++
		m.protocol = f.Value
	case FieldContentLength:
		// RFC 9112 section 6.3 lets a recipient take equal lengths for one. It gains nobody anything.
		if m.hasLength {
			return nil, malformed("more than one Content-Length")
		}
		m.hasLength = true
		var ok bool
		if m.length, ok = parseLength(f.Value); !ok {
			return nil, malformed("invalid Content-Length")
		}
	case FieldTransferEncoding:
		// Chunked alone is understood: another coding would have to be undone before the body is
		// passed on (RFC 9112 section 6.1), and every way to write "chunked" but the plain one is
		// somebody trying which of two parsers takes it.
		if m.chunked || !EqualFold(f.Value, "chunked") {
			return nil, malformed("Transfer-Encoding is not a single chunked")
		}
		m.chunked = true
	}
	return f, nil
}

// parseLength reads digits and nothing else (RFC 9110 section 8.6).
func parseLength(b []byte) (n int64, ok bool) {
	// 18 digits cannot overflow, and are enough for 888 PiB.
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// checkFraming refuses what would leave the end of the body open to opinion. RFC 9112 section 6.1 allows
// to let Transfer-Encoding win over Content-Length; it also says that this ought to be handled as an
// error, and who sent both is broken or an attacker. HTTP/1.0 has no Transfer-Encoding, so a hop before us
// may have framed the message without it.
func (m *message) checkFraming(minor uint8) error {
	switch {
	case m.chunked && m.hasLength:
		return malformed("both Content-Length and Transfer-Encoding")
	case m.chunked && minor == 0:
		return malformed("Transfer-Encoding in HTTP/1.0")
	}
	return nil
}

// readConnection carries out the Connection fields, all of them together (RFC 9110 section 7.6.1): the
// fields named there end here.
//
// Any field but two can be removed in this way, Cookie and Authorization included, as the RFC has it.
// Host and Content-Length stay, since without them the message would reach another application or
// end elsewhere. An option that is no token names nothing.
func (m *message) readConnection(fields []Field) error {
	if !m.hasConnection {
		return nil
	}
	options := 0
	for i := range fields {
		if fields[i].Known != FieldConnection {
			continue
		}
		for item := range items(fields[i].Value) {
			if options++; options > maxOptions {
				return malformed("too many connection options")
			}
			m.option(fields, item)
		}
	}
	return nil
}

func (m *message) option(fields []Field, option []byte) {
	switch {
	case EqualFold(option, "close"):
		m.closes = true
	case EqualFold(option, "keep-alive"):
		m.keepAlive = true
	case EqualFold(option, "upgrade"):
		m.upgrade = true
	default:
		for i := range fields {
			f := &fields[i]
			if f.Known != FieldHost && f.Known != FieldContentLength && sameFold(f.Name, option) {
				f.Hop = true
			}
		}
	}
}

// persists reports whether the connection may carry another message (RFC 9112 section 9.3).
func (m *message) persists(minor uint8) bool {
	return !m.closes && (minor == 1 || m.keepAlive)
}

// offered is the protocol to switch to, or nil. Several Upgrade fields are ignored, as any Upgrade may
// be (RFC 9110 section 7.8); HTTP/1.0 has none.
func (m *message) offered(minor uint8) []byte {
	if minor == 1 && m.upgrade && m.protocols == 1 && len(m.protocol) > 0 {
		return m.protocol
	}
	return nil
}

// parseVersion reads an HTTP-version, which is case-sensitive (RFC 9112 section 2.3), and returns its
// minor version. One above 1 is taken for 1, as RFC 9110 section 2.5 asks: what leaves us says
// HTTP/1.1. Another major version is a 505.
func parseVersion(v []byte) (minor uint8, err error) {
	const prefix = "HTTP/1."
	if len(v) == len(prefix)+1 && string(v[:len(prefix)]) == prefix {
		switch c := v[len(prefix)]; {
		case c == '0':
			return 0, nil
		case '1' <= c && c <= '9':
			return 1, nil
		}
	}
	if len(v) > 5 && string(v[:5]) == "HTTP/" && '0' <= v[5] && v[5] <= '9' && v[5] != '1' {
		return 0, &Error{Status: 505, Reason: "HTTP version not supported"}
	}
	return 0, malformed("invalid HTTP version")
}
