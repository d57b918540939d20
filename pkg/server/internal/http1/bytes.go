package http1

import (
	"encoding/binary"
	"math/bits"
)

// The classes of a byte.
const (
	tchar   = 1 << iota // may stand in a token (RFC 9110 section 5.6.2)
	regName             // may stand in a registered name, '%' aside (RFC 3986 section 3.2.2)
	hex                 // hexadecimal digit

	digit  = tchar | regName | hex
	hexAZ  = tchar | regName | hex
	letter = tchar | regName
	mark   = tchar | regName
)

// class is a constant in all but name: Go has no constant arrays.
var class = [256]uint8{
	'!': mark, '#': tchar, '$': mark, '%': tchar, '&': mark, '\'': mark, '(': regName, ')': regName,
	'*': mark, '+': mark, ',': regName, '-': mark, '.': mark, ';': regName, '=': regName,
	'^': tchar, '_': mark, '`': tchar, '|': tchar, '~': mark,
	'0': digit, '1': digit, '2': digit, '3': digit, '4': digit, '5': digit, '6': digit, '7': digit, '8': digit, '9': digit,
	'A': hexAZ, 'B': hexAZ, 'C': hexAZ, 'D': hexAZ, 'E': hexAZ, 'F': hexAZ,
	'a': hexAZ, 'b': hexAZ, 'c': hexAZ, 'd': hexAZ, 'e': hexAZ, 'f': hexAZ,
	'G': letter, 'H': letter, 'I': letter, 'J': letter, 'K': letter, 'L': letter, 'M': letter, 'N': letter,
	'O': letter, 'P': letter, 'Q': letter, 'R': letter, 'S': letter, 'T': letter, 'U': letter, 'V': letter,
	'W': letter, 'X': letter, 'Y': letter, 'Z': letter,
	'g': letter, 'h': letter, 'i': letter, 'j': letter, 'k': letter, 'l': letter, 'm': letter, 'n': letter,
	'o': letter, 'p': letter, 'q': letter, 'r': letter, 's': letter, 't': letter, 'u': letter, 'v': letter,
	'w': letter, 'x': letter, 'y': letter, 'z': letter,
}

// tokenLen is the length of the token at the front of b.
func tokenLen(b []byte) int {
	for i, c := range b {
		if class[c]&tchar == 0 {
			return i
		}
	}
	return len(b)
}

// EqualFold reports whether a is lower, which has no upper-case letters, in whatever ASCII case.
func EqualFold(a []byte, lower string) bool {
	if len(a) != len(lower) {
		return false
	}
	for i, c := range a {
		if lowerByte(c) != lower[i] {
			return false
		}
	}
	return true
}

// sameFold reports whether a and b differ in nothing but ASCII case.
func sameFold(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i, c := range a {
		if lowerByte(c) != lowerByte(b[i]) {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// trim cuts optional whitespace off both ends (OWS, RFC 9110 section 5.6.3).
func trim(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// Words of eight equal bytes, for looking at eight bytes of a message at a time.
const (
	every01 = 0x0101010101010101
	every80 = 0x8080808080808080
)

// below has a bit set if some byte of x is below c, which is at most 0x80.
func below(x uint64, c byte) uint64 { return (x - every01*uint64(c)) &^ x & every80 }

// equal has a bit set if some byte of x is c.
func equal(x uint64, c byte) uint64 { return below(x^every01*uint64(c), 1) }

// textLen is the length of the text at the front of b: bytes that may stand in a field value or a
// reason phrase, which are the visible characters, SP, HTAB and those from 0x80 on (RFC 9110
// section 5.5). CR, LF, NUL, the other controls and DEL are not text.
func textLen(b []byte) int {
	i := 0
	for i+8 <= len(b) {
		found := controls(binary.LittleEndian.Uint64(b[i : i+8]))
		if found == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(found) / 8
		if b[i] != '\t' {
			return i
		}
		i++
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' && c != '\t' || c == 0x7f {
			break
		}
	}
	return i
}

// controls has the top bit of each byte set that is below ' ' in x, or DEL.
func controls(x uint64) uint64 {
	low := x &^ every80
	return (^(low + every01*(0x80-' ')) | (low + every01)) &^ x & every80
}

// isTargetText reports whether b may stand in a request target: visible ASCII but '#', which begins
// the fragment that a client keeps to itself (RFC 9112 section 3.2).
//
// That is more than RFC 3986 allows (`"<>\^{|}` and the backquote, a '%' without digits) since such
// targets are common and are passed on byte for byte; and it is less than some servers take: a byte
// above 0x7f, which has no meaning that two servers would agree on, is refused.
func isTargetText(b []byte) bool {
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		if below(x, '!')|equal(x, 0x7f)|equal(x, '#')|x&every80 != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c <= ' ' || c >= 0x7f || c == '#' {
			return false
		}
	}
	return true
}
