package accesslog

import (
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"
)

// appendEntry appends e as one line: its fields, in their order. Both formats are ASCII only, whatever the
// values hold.
//
// JSON: an object. A byte below 0x20 or above 0x7e is written \u00XX, so a value's code points are the
// bytes that came in (RFC 9110 section 5.5: field values are bytes, historically ISO 8859-1).
//
// Text: the values alone, separated by single spaces. A value with a space, a quote, a backslash or a
// byte that is not printable ASCII is put in quotes, in which \" and \\ stand for themselves and \xXX
// for any other byte. A space is \x20 too, except in the last field: so the number of a column is the
// same on every line, whatever a client sends.
func appendEntry(b []byte, f format, at *seconds, e *Entry) []byte {
	b = f.first(b, `{"time":"`)
	b = appendTime(b, at, e.Time)
	b = f.between(b, `","listener":"`)
	b = appendText(b, f, e.Listener)
	b = f.between(b, `","client_ip":"`)
	b = appendAddr(b, e.ClientIP)
	b = f.between(b, `","method":"`)
	b = appendText(b, f, e.Method)
	b = f.between(b, `","host":"`)
	b = appendText(b, f, e.Host)
	b = f.between(b, `","path":"`)
	b = appendText(b, f, e.Path)
	b = f.between(b, `","protocol":"`)
	b = appendText(b, f, e.Protocol)
	b = f.between(b, `","status":`)
	b = strconv.AppendInt(b, int64(e.Status), 10)
	b = f.between(b, `,"bytes_in":`)
	b = strconv.AppendInt(b, e.BytesIn, 10)
	b = f.between(b, `,"bytes_out":`)
	b = strconv.AppendInt(b, e.BytesOut, 10)
	b = f.between(b, `,"duration_ms":`)
	b = appendMillis(b, max(e.Duration, 0))
	b = f.between(b, `,"tenant":"`)
	b = appendText(b, f, e.Tenant)
	b = f.between(b, `","application":"`)
	b = appendText(b, f, e.Application)
	b = f.between(b, `","pool":"`)
	b = appendText(b, f, e.Pool)
	b = f.between(b, `","upstream_member":"`)
	b = appendText(b, f, e.Member)
	b = f.between(b, `","upstream_attempts":`)
	b = strconv.AppendInt(b, int64(e.Attempts), 10)
	b = f.between(b, `,"upstream_ms":`)
	if e.Upstream < 0 && !f.json {
		b = append(b, '-')
	} else {
		b = appendMillis(b, max(e.Upstream, 0))
	}
	b = f.between(b, `,"request_id":"`)
	b = appendText(b, f, e.RequestID)
	b = f.between(b, `","user_agent":"`)
	b = appendText(b, f.atTheEnd(), e.UserAgent)
	return f.end(b, "\"}\n")
}

// format is how lines look. Its methods are inlined: what stands between two values in JSON is then a
// constant, which is copied without a call.
type format struct {
	json bool
	// spaces may stand in a quoted value of text.
	spaces bool
}

// first appends what stands before the first value in JSON; in text that is nothing.
func (f format) first(b []byte, json string) []byte {
	if f.json {
		return append(b, json...)
	}
	return b
}

// between appends what stands between two values.
func (f format) between(b []byte, json string) []byte {
	if f.json {
		return append(b, json...)
	}
	return append(b, ' ')
}

// end appends what stands behind the last value.
func (f format) end(b []byte, json string) []byte {
	if f.json {
		return append(b, json...)
	}
	return append(b, '\n')
}

// atTheEnd is the format of the last value.
func (f format) atTheEnd() format { return format{json: f.json, spaces: true} }

// seconds keeps the newest second as text. Formatting a time is most of a line, and many lines share one.
type seconds struct{ newest atomic.Pointer[second] }

type second struct {
	unix int64
	text string
}

// secondForm ends with a dot instead of the zone: milliseconds follow.
const secondForm = "2006-01-02T15:04:05."

// append appends the second of t.
func (s *seconds) append(b []byte, t time.Time) []byte {
	unix, newest := t.Unix(), s.newest.Load()
	switch {
	case newest != nil && unix == newest.unix:
	case newest != nil && unix < newest.unix:
		return t.UTC().AppendFormat(b, secondForm) // a request that took long
	default:
		newest = &second{unix, t.UTC().Format(secondForm)}
		s.newest.Store(newest)
	}
	return append(b, newest.text...)
}

// appendTime appends RFC 3339 in UTC with milliseconds.
func appendTime(b []byte, at *seconds, t time.Time) []byte {
	ms := t.Nanosecond() / 1e6
	b = at.append(b, t)
	return append(b, byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}

// appendAddr appends an IPv4-mapped address as the IPv4 address. A zone is left out: it means nothing off
// the machine, and in a forwarded address it is any text the client likes.
func appendAddr(b []byte, a netip.Addr) []byte {
	switch {
	case a.Is4():
		return a.AppendTo(b)
	case a.IsValid():
		return a.Unmap().WithZone("").AppendTo(b)
	default:
		return append(b, '-')
	}
}

// appendMillis appends milliseconds with up to three decimals.
func appendMillis(b []byte, d time.Duration) []byte {
	us := d.Microseconds()
	b = strconv.AppendInt(b, us/1000, 10)
	if us %= 1000; us == 0 {
		return b
	}
	b = append(b, '.', byte('0'+us/100), byte('0'+us/10%10), byte('0'+us%10))
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}
