package http1

import (
	"bytes"
	"math"
)

const (
	maxSizeDigits = 16       // hexadecimal digits of a chunk size, leading zeros included
	maxExtension  = 256      // bytes of the extensions of a chunk
	maxTrailer    = 16 << 10 // bytes of a trailer section
	maxTrailers   = 64       // fields of a trailer section
	maxExcess     = 8 << 10  // bytes of framing above what chunks of a sensible size need
)

// Chunked decodes a chunked body (RFC 9112 section 7.1). The zero value is at the first chunk.
// Extensions are checked and dropped, as section 7.1.1 asks of one who does not know them.
type Chunked struct {
	// Trailers are the fields behind the last chunk that may be trailers. They are slices of the buffer
	// of the call of Next that was done.
	Trailers []Field

	at     place
	left   int64 // bytes of the current chunk that are yet to come
	excess int64 // see charge
	lines  head  // of the trailer section
	fields int   // of the trailer section, dropped ones included
}

// place is where in the grammar the next byte stands.
type place uint8

const (
	atSize place = iota
	atData
	atDataEnd
	atTrailer
	atEnd
)

// Reset makes c ready for another body. It keeps the space of Trailers, and nothing of the bytes
// that they were read from.
func (c *Chunked) Reset() {
	clear(c.Trailers)
	*c = Chunked{Trailers: c.Trailers[:0]}
}

// Next looks at the front of buf. data is the next piece of the body there, a slice of buf that may
// be empty; n is how many bytes of buf are used up, the framing included; done says that the last
// chunk and the trailer section were read. With n zero, and neither done nor an error, more bytes
// are needed behind the same ones; a trailer section of up to 16 KiB is only taken whole, so buf must
// have room for it. An error is an *Error with Status 400.
func (c *Chunked) Next(buf []byte) (data []byte, n int, done bool, err error) {
	for {
		used := 0
		rest := buf[n:]
		switch c.at {
		case atSize:
			used, err = c.size(rest)
		case atData:
			if len(rest) > 0 {
				data, used = c.data(rest)
				return data, n + used, false, nil
			}
		case atDataEnd:
			used, err = c.dataEnd(rest)
		case atTrailer:
			used, err = c.trailer(rest)
		case atEnd:
			return nil, n, true, nil
		}
		if err != nil {
			return nil, 0, false, err
		}
		if used == 0 {
			return nil, n, false, nil
		}
		n += used
	}
}

// size reads the line before the data of a chunk. It returns 0 if the line is not whole.
func (c *Chunked) size(b []byte) (used int, err error) {
	i := 0
	c.left = 0
	for ; i < len(b) && class[b[i]]&hex != 0; i++ {
		if i == maxSizeDigits || c.left > math.MaxInt64>>4 {
			return 0, malformed("chunk size too large")
		}
		c.left = c.left<<4 | hexValue(b[i])
	}
	if i == len(b) {
		return 0, nil
	}
	if i == 0 {
		return 0, malformed("invalid chunk size")
	}
	end, err := extensions(b[i:])
	if err != nil || end == 0 {
		return 0, err
	}
	if err := c.charge(i + end); err != nil {
		return 0, err
	}
	c.at = atData
	if c.left == 0 {
		c.at = atTrailer
	}
	return i + end, nil
}

// charge sees to it that a body is not made of framing: a line may cost 16 bytes and twice the data
// it announces, and what goes beyond that is counted.
func (c *Chunked) charge(line int) error {
	c.excess += int64(line + len("\r\n")) // the data ends in one, too
	if c.left < maxExcess {
		c.excess = max(0, c.excess-16-2*c.left)
	} else {
		c.excess = 0
	}
	if c.excess > maxExcess {
		return malformed("too many chunk extensions")
	}
	return nil
}

// extensions reads what follows the digits of a chunk size: nothing or *( BWS ";" ...), and the line
// end. It returns 0 if that is not all there. An LF within ends the line, quoted or not, so it can
// hide nothing (RFC 9112 section 7.1 and its erratum 7633).
func extensions(b []byte) (used int, err error) {
	if b[0] == '\r' {
		return lineEnd(b)
	}
	i := 0
	for i < len(b) && isBlank(b[i]) {
		i++
	}
	if i < len(b) && b[i] != ';' {
		return 0, malformed("invalid chunk size")
	}
	window := b[:min(len(b), maxExtension+1)]
	end := bytes.IndexByte(window, '\r')
	if end < 0 {
		end = len(window)
	}
	if textLen(b[:end]) < end {
		return 0, malformed("invalid chunk extension")
	}
	if end > maxExtension {
		return 0, malformed("chunk extension too long")
	}
	used, err = lineEnd(b[end:])
	if used == 0 {
		return 0, err
	}
	return end + used, nil
}

// lineEnd takes a CRLF. It returns 0 if it is not whole.
func lineEnd(b []byte) (used int, err error) {
	switch {
	case len(b) > 0 && b[0] != '\r', len(b) > 1 && b[1] != '\n':
		return 0, malformed("chunk line does not end in CRLF")
	case len(b) < 2:
		return 0, nil
	}
	return 2, nil
}

// data takes what is there of a chunk, and the line end behind it, so that most chunks need one call.
// A wrong line end is left to the next call: the data is good.
func (c *Chunked) data(b []byte) (data []byte, used int) {
	if int64(len(b)) < c.left {
		c.left -= int64(len(b))
		return b, len(b)
	}
	used = int(c.left)
	data = b[:used]
	c.left, c.at = 0, atDataEnd
	if end, err := c.dataEnd(b[used:]); err == nil {
		used += end
	}
	return data, used
}

func (c *Chunked) dataEnd(b []byte) (used int, err error) {
	if used, err = lineEnd(b); used > 0 {
		c.at = atSize
	}
	return used, err
}

// trailer reads the trailer section (RFC 9112 section 7.1.2). It returns 0 if it is not whole.
func (c *Chunked) trailer(b []byte) (used int, err error) {
	for {
		line, state := c.lines.line(b, maxTrailer)
		switch {
		case state == linePart:
			c.lines.resumed = true
			return 0, nil
		case state != lineWhole:
			return 0, malformed("in the trailer section: " + state.reason())
		case len(line) == 0 && c.lines.resumed:
			// As in Request.Parse.
			c.lines, c.fields, c.Trailers = head{}, 0, c.Trailers[:0]
			continue
		case len(line) == 0:
			c.at = atEnd
			return c.lines.pos, nil
		}
		if c.fields++; c.fields > maxTrailers {
			return 0, malformed("too many trailers")
		}
		var f Field
		if err := f.parse(line); err != nil {
			return 0, err
		}
		if MayBeTrailer(f.Name) {
			c.Trailers = append(c.Trailers, f)
		}
	}
}

// hexValue is the value of a hexadecimal digit.
func hexValue(c byte) int64 {
	if c <= '9' {
		return int64(c - '0')
	}
	return int64(c|0x20-'a') + 10
}
