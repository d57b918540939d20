package accesslog

import (
	"net/netip"
	"strconv"
	"time"
)

// line renders one entry. Both formats are ASCII only, whatever the values hold.
//
// JSON: an object. A byte below 0x20 or above 0x7e is written \u00XX, so a value's code points are the
// bytes that came in (RFC 9110 section 5.5: field values are bytes, historically ISO 8859-1).
//
// Text: the values alone, separated by single spaces. A value with a space, a quote, a backslash or a
// byte that is not printable ASCII is put in quotes, in which \" and \\ stand for themselves and \xXX
// for any other byte. A space is \x20 too, except in the last field: so the number of a column is the
// same on every line, whatever a client sends.
type line struct {
	buf  []byte
	json bool
	// begun is set after the first field, last before the last one.
	begun, last bool
}

// field begins a field: the separator and, in JSON, the name.
func (l *line) field(name string) {
	if !l.json {
		if l.begun {
			l.buf = append(l.buf, ' ')
		}
		l.begun = true
		return
	}
	if l.begun {
		l.buf = append(l.buf, ',')
	} else {
		l.buf = append(l.buf, '{')
	}
	l.begun = true
	l.buf = append(l.buf, '"')
	l.buf = append(l.buf, name...)
	l.buf = append(l.buf, '"', ':')
}

func (l *line) end() []byte {
	if l.json {
		l.buf = append(l.buf, '}')
	}
	return append(l.buf, '\n')
}

// quote writes a quote where the format puts them around every text.
func (l *line) quote() {
	if l.json {
		l.buf = append(l.buf, '"')
	}
}

// time writes RFC 3339 in UTC with milliseconds.
func (l *line) time(name string, t time.Time) {
	l.field(name)
	l.quote()
	// The time package is twice as fast with this layout as with one that has milliseconds in it.
	l.buf = t.UTC().AppendFormat(l.buf, time.RFC3339)
	ms := t.Nanosecond() / 1e6
	l.buf = append(l.buf[:len(l.buf)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
	l.quote()
}

// addr writes an IPv4-mapped address as the IPv4 address. A zone is left out: it means nothing off the
// machine, and in a forwarded address it is any text the client likes.
func (l *line) addr(name string, a netip.Addr) {
	l.field(name)
	l.quote()
	if a.IsValid() {
		l.buf = a.Unmap().WithZone("").AppendTo(l.buf)
	} else {
		l.buf = append(l.buf, '-')
	}
	l.quote()
}

func (l *line) number(name string, n int64) {
	l.field(name)
	l.buf = strconv.AppendInt(l.buf, n, 10)
}

// millis writes milliseconds with up to three decimals. A negative duration is none.
func (l *line) millis(name string, d time.Duration) {
	l.field(name)
	if d < 0 && !l.json {
		l.buf = append(l.buf, '-')
		return
	}
	us := max(d.Microseconds(), 0)
	l.buf = strconv.AppendInt(l.buf, us/1000, 10)
	if us %= 1000; us == 0 {
		return
	}
	digits := [...]byte{'.', byte('0' + us/100), byte('0' + us/10%10), byte('0' + us%10)}
	n := len(digits)
	for digits[n-1] == '0' {
		n--
	}
	l.buf = append(l.buf, digits[:n]...)
}

// appendText writes a value whose bytes may be anything. It is a function because methods have no type
// parameters.
func appendText[T string | []byte](l *line, name string, value T) {
	l.field(name)
	plain := 0
	for plain < len(value) && isPlain(value[plain]) {
		plain++
	}
	whole := plain == len(value)
	quoted := l.json || !whole
	if quoted {
		l.buf = append(l.buf, '"')
	}
	switch {
	case len(value) == 0:
		l.buf = append(l.buf, '-')
	case whole:
		l.buf = append(l.buf, value...)
	case l.json:
		l.buf = appendEscaped(l.buf, value, `\u00`, true)
	default:
		l.buf = appendEscaped(l.buf, value, `\x`, l.last)
	}
	if quoted {
		l.buf = append(l.buf, '"')
	}
}

// appendEscaped appends value as it stands between quotes. A byte that is neither printable ASCII nor
// easily escaped becomes prefix and two hex digits.
func appendEscaped[T string | []byte](dst []byte, value T, prefix string, keepSpaces bool) []byte {
	const hex = "0123456789abcdef"
	start := 0
	for i := 0; i < len(value); i++ {
		c := value[i]
		if isPlain(c) || c == ' ' && keepSpaces {
			continue
		}
		dst = append(dst, value[start:i]...)
		start = i + 1
		if c == '"' || c == '\\' {
			dst = append(dst, '\\', c)
			continue
		}
		dst = append(dst, prefix...)
		dst = append(dst, hex[c>>4], hex[c&15])
	}
	return append(dst, value[start:]...)
}

// isPlain tells whether a byte can stand in either format without quotes and escapes.
func isPlain(c byte) bool { return c > ' ' && c < 0x7f && c != '"' && c != '\\' }
