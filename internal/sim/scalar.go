package sim

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// scalar is the characters of a single value. Numbers, durations and truth values are what they look like;
// a text that YAML takes for something else needs quotes.
func (d *decoder) scalar(v value, wants string, text bool) (string, bool) {
	n := v.node
	if n.Kind != yaml.ScalarNode || isNull(n) {
		d.wrongType(v, wants)
		return "", false
	}
	if text && n.Style == 0 && n.Tag != "!!str" && n.Tag != "!!timestamp" {
		d.add(n, v.path, "must be "+wants+", found "+describe(n), "put it in quotes")
		return "", false
	}
	return n.Value, true
}

// text reads a text that is not empty.
func (d *decoder) text(to *string) func(value) {
	return func(v value) {
		s, ok := d.scalar(v, "a text", true)
		if ok && s == "" {
			d.fail(v, "must not be empty")
			return
		}
		*to = s
	}
}

// choice reads one of a few texts.
func choice[T ~string](d *decoder, to *T, of ...T) func(value) {
	all := make([]string, len(of))
	for i, o := range of {
		all[i] = string(o)
	}
	wants := "one of " + strings.Join(all, ", ")
	return func(v value) {
		s, ok := d.scalar(v, wants, true)
		switch {
		case ok && slices.Contains(all, s):
			*to = T(s)
		case ok:
			d.wrongType(v, wants)
		}
	}
}

// whole reads a whole number in decimal digits.
func (d *decoder) whole(to *int, low, high int) func(value) {
	return func(v value) {
		s, ok := d.scalar(v, "a whole number", false)
		if !ok {
			return
		}
		if !digits(s) {
			d.wrongType(v, "a whole number")
			return
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < low || n > high {
			d.fail(v, "must be between %d and %d", low, high)
			return
		}
		*to = n
	}
}

// seed reads any number of 64 bits.
func (d *decoder) seed(to *uint64) func(value) {
	return func(v value) {
		s, ok := d.scalar(v, "a whole number", false)
		if !ok {
			return
		}
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil || !digits(s) {
			d.wrongType(v, "a whole number of 64 bits")
			return
		}
		*to = n
	}
}

// number reads a decimal number with or without a point.
func (d *decoder) number(to *float64, low, high float64) func(value) {
	return func(v value) {
		s, ok := d.scalar(v, "a number", false)
		if !ok {
			return
		}
		before, after, point := strings.Cut(s, ".")
		if !digits(before) || point && !digits(after) {
			d.wrongType(v, "a number such as 0.2")
			return
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || x < low || x > high {
			d.fail(v, "must be between %s and %s", decimal(low), decimal(high))
			return
		}
		*to = x
	}
}

// bounded reads a number that may be absent.
func (d *decoder) bounded(to **float64, high float64) func(value) {
	return func(v value) {
		x := math.NaN()
		d.number(&x, 0, high)(v)
		if !math.IsNaN(x) {
			*to = &x
		}
	}
}

// duration reads numbers with units, the largest unit first: 500ms, 10.3s, 1m30s, 1d. 0 needs no unit.
func (d *decoder) duration(to *time.Duration, low, high time.Duration) func(value) {
	return func(v value) {
		s, ok := d.scalar(v, "a duration", false)
		if !ok {
			return
		}
		x, ok := parseDuration(s)
		switch {
		case !ok:
			d.add(v.node, v.path, "must be a duration, found "+describe(v.node),
				"write it like 500ms, 10.3s, 1m30s or 1d; units are us, ms, s, m, h and d")
		case x < low || x > high:
			d.fail(v, "must be between %s and %s", formatDuration(low), formatDuration(high))
		default:
			*to = x
		}
	}
}

// parseDuration is exact: a fraction that does not fit into nanoseconds is cut off.
func parseDuration(s string) (time.Duration, bool) {
	if s == "0" {
		return 0, true
	}
	if s == "" {
		return 0, false
	}
	units := []struct {
		name string
		of   int64
	}{{"d", int64(24 * time.Hour)}, {"h", int64(time.Hour)}, {"m", int64(time.Minute)}, {"s", int64(time.Second)},
		{"ms", int64(time.Millisecond)}, {"us", int64(time.Microsecond)}}
	var total int64
	for at := 0; s != ""; {
		i := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if i <= 0 {
			return 0, false
		}
		number, rest := s[:i], s[i:]
		j := strings.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' })
		if j < 0 {
			j = len(rest)
		}
		for at < len(units) && units[at].name != rest[:j] {
			at++
		}
		if at == len(units) {
			return 0, false
		}
		n, ok := times(number, units[at].of)
		if !ok {
			return 0, false
		}
		if n > math.MaxInt64-total {
			return math.MaxInt64, true // above every bound
		}
		total, s, at = total+n, rest[j:], at+1
	}
	return time.Duration(total), true
}

// times is a decimal number times a unit.
func times(number string, unit int64) (int64, bool) {
	whole, part, point := strings.Cut(number, ".")
	if !digits(whole) || point && !digits(part) {
		return 0, false
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > math.MaxInt64/unit-1 {
		return math.MaxInt64, true
	}
	n *= unit
	for _, digit := range []byte(part) {
		unit /= 10
		n += int64(digit-'0') * unit
	}
	return n, true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// formatDuration is a duration to the microsecond, without the zeros of time.Duration: 10m, 15.32s.
func formatDuration(d time.Duration) string {
	s := d.Round(time.Microsecond).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return strings.ReplaceAll(s, "µ", "u")
}
