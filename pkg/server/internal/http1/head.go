package http1

// head finds the lines of a message head in a buffer that may hold only the beginning of it. It never
// searches a byte twice, so that a head that drips in costs no more than its length.
type head struct {
	pos     int  // where the next line begins
	scanned int  // nothing but text from pos to here
	resumed bool // an earlier call ended for want of bytes
}

// lineState is what became of looking for a line.
type lineState uint8

const (
	lineWhole    lineState = iota
	linePart               // its end is yet to come
	lineTooLarge           // the head is over the limit
	lineBareLF             // LF without CR
	lineBareCR             // CR without LF
	lineControl            // another control byte
)

// err is the refusal of a state that is neither lineWhole nor linePart.
func (s lineState) err() error {
	if s == lineTooLarge {
		return &Error{Status: 431, Reason: s.reason()}
	}
	return malformed(s.reason())
}

func (s lineState) reason() string {
	switch s {
	case lineTooLarge:
		return "fields too large"
	case lineBareLF:
		return "line feed without carriage return"
	case lineBareCR:
		return "carriage return without line feed"
	}
	return "control character"
}

// line takes the next line, without its CRLF, which is the only line end there is: RFC 9112
// section 2.2 lets a recipient take a bare LF for one, and that leniency is where parsers differ. A
// line is text: what is no text is refused at once, and not when the line ends or a timeout strikes,
// be it a TLS handshake on a plain port or lines that end in a bare CR.
//
// limit is where the head must end at the latest; 0 is nowhere.
func (h *head) line(buf []byte, limit int) ([]byte, lineState) {
	end := h.scanned + textLen(buf[h.scanned:])
	h.scanned = end
	switch {
	case limit > 0 && end+len("\r\n") > limit:
		return nil, lineTooLarge
	case end == len(buf):
		return nil, linePart
	case buf[end] == '\n':
		return nil, lineBareLF
	case buf[end] != '\r':
		return nil, lineControl
	case end+1 == len(buf):
		return nil, linePart
	case buf[end+1] != '\n':
		return nil, lineBareCR
	}
	line := buf[h.pos:end]
	h.pos, h.scanned = end+2, end+2
	return line, lineWhole
}
