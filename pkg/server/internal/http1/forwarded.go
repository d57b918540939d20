package http1

import "bytes"

// Forwarded is one element of a Forwarded field: what a proxy says of a request that it received (RFC 7239
// section 4). The values are without quotes and escapes, and nil where nothing is said. They are not
// checked for what they mean.
type Forwarded struct {
	For, By, Host, Proto []byte

	text []byte // the whole element as it came, which is valid
}

// LastForwarded cuts the last element off a list. What stands before it is nil if that was the first one.
//
// A list is read from the right because each proxy adds to its end: what somebody further away wrote, an open
// quoted string for example, then takes nothing from the elements behind it. In a list that is valid as a
// whole, reading from either end finds the same elements.
func LastForwarded(list []byte) (e Forwarded, before []byte, ok bool) {
	i, quoted := len(list), false
	for ; i > 0 && (quoted || list[i-1] != ','); i-- {
		if list[i-1] == '"' && !escapes(list[:i-1]) {
			quoted = !quoted
		}
	}
	if i > 0 {
		before = list[:i-1]
	}
	ok = e.parse(trim(list[i:]))
	return e, before, ok
}

// FirstForwarded cuts the first element off a list that is valid. What stands behind it is nil if that was the
// last one.
func FirstForwarded(list []byte) (e Forwarded, behind []byte, ok bool) {
	i, quoted := 0, false
	for ; i < len(list) && (quoted || list[i] != ','); i++ {
		switch {
		case list[i] == '"':
			quoted = !quoted
		case list[i] == '\\' && quoted:
			i++
		}
	}
	i = min(i, len(list))
	if i < len(list) {
		behind = list[i+1:]
	}
	ok = e.parse(trim(list[:i]))
	return e, behind, ok
}

// ForwardedTail is the part of a list behind the last element that is not valid, and whether that is all of it.
func ForwardedTail(list []byte) (tail []byte, whole bool) {
	for rest := list; ; {
		_, before, ok := LastForwarded(rest)
		switch {
		case !ok:
			return list[min(len(rest)+1, len(list)):], false
		case before == nil:
			return list, true
		}
		rest = before
	}
}

// escapes reports whether what is written before a byte escapes it.
func escapes(before []byte) bool {
	n := 0
	for n < len(before) && before[len(before)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// parse reads an element. One that says nothing is not valid either: taken for an element it would stand
// for a hop that nobody knows of, and left out it would hide one.
func (e *Forwarded) parse(text []byte) bool {
	*e = Forwarded{text: text}
	said := false
	for rest := text; ; rest = rest[1:] {
		name, value, n := forwardedPair(rest)
		if n > 0 {
			if !e.set(name, value) {
				return false
			}
			said, rest = true, rest[n:]
		}
		if len(rest) == 0 {
			return said
		}
		if rest[0] != ';' {
			return false
		}
	}
}

// set notes a parameter, which may occur once (RFC 7239 section 4).
func (e *Forwarded) set(name, value []byte) bool {
	var to *[]byte
	switch {
	case EqualFold(name, "for"):
		to = &e.For
	case EqualFold(name, "by"):
		to = &e.By
	case EqualFold(name, "host"):
		to = &e.Host
	case EqualFold(name, "proto"):
		to = &e.Proto
	default:
		return true // an extension (RFC 7239 section 5.5)
	}
	if *to != nil {
		return false
	}
	*to = value
	return true
}

// Append writes the element: what was parsed, not what came.
func (e *Forwarded) Append(dst []byte) []byte {
	begin := len(dst)
	for rest := e.text; len(rest) > 0; {
		name, value, n := forwardedPair(rest)
		if n == 0 {
			rest = rest[1:] // a semicolon
			continue
		}
		if len(dst) > begin {
			dst = append(dst, ';')
		}
		dst = append(dst, name...)
		dst = append(dst, '=')
		dst = AppendTokenOrQuoted(dst, value)
		rest = rest[n:]
	}
	return dst
}

// forwardedPair reads the pair at the front of b, which is n bytes long; 0: there is none. Only a value
// with escapes is copied.
func forwardedPair(b []byte) (name, value []byte, n int) {
	i := tokenLen(b)
	if i == 0 || i+1 >= len(b) || b[i] != '=' {
		return nil, nil, 0
	}
	name, b = b[:i], b[i+1:]
	if b[0] != '"' {
		if n = bareLen(b); n == 0 {
			return nil, nil, 0
		}
		return name, b[:n], i + 1 + n
	}
	if value, n = quoted(b); n == 0 {
		return nil, nil, 0
	}
	return name, value, i + 1 + n
}

// bareLen is the length of a value without quotes. It has to be a token; the colon and the brackets of
// addresses are taken too, since many proxies write for=192.0.2.1:80 and host=example.com:8080.
func bareLen(b []byte) int {
	i := 0
	for i < len(b) && (class[b[i]]&tchar != 0 || b[i] == ':' || b[i] == '[' || b[i] == ']') {
		i++
	}
	return i
}

// quoted reads the quoted string that b begins with (RFC 9110 section 5.6.4); n is 0 if it is not valid.
func quoted(b []byte) (value []byte, n int) {
	escaped := false
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '"':
			value = b[1:i]
			if escaped {
				value = unescape(value)
			}
			if textLen(value) < len(value) {
				return nil, 0
			}
			return value, i + 1
		case '\\':
			escaped = true
			i++
		}
	}
	return nil, 0
}

func unescape(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' {
			i++
		}
		out = append(out, b[i])
	}
	return out
}

// AppendTokenOrQuoted writes a value as a token where it is one, and else as a quoted string (RFC 9110 section
// 5.6). The value is text.
func AppendTokenOrQuoted(dst, value []byte) []byte {
	if len(value) > 0 && tokenLen(value) == len(value) {
		return append(dst, value...)
	}
	dst = append(dst, '"')
	for len(value) > 0 {
		i := bytes.IndexAny(value, `"\`)
		if i < 0 {
			break
		}
		dst = append(dst, value[:i]...)
		dst = append(dst, '\\', value[i])
		value = value[i+1:]
	}
	dst = append(dst, value...)
	return append(dst, '"')
}

// IsScheme reports whether b is the scheme of a URI (RFC 3986 section 3.1).
func IsScheme(b []byte) bool {
	for i, c := range b {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return len(b) > 0
}
