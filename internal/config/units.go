package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// unit is a name and how many of the smallest there are in one.
type unit struct {
	name string
	of   int64
}

// durationUnits and sizeUnits, largest first.
func durationUnits() []unit {
	return []unit{{"d", int64(24 * time.Hour)}, {"h", int64(time.Hour)}, {"m", int64(time.Minute)},
		{"s", int64(time.Second)}, {"ms", int64(time.Millisecond)}}
}

func sizeUnits() []unit {
	return []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}
}

// duration takes whole numbers with units, largest unit first: 500ms, 1m30s, 1d. 0 needs no unit.
func duration(low, high time.Duration) form[time.Duration] {
	return form[time.Duration]{
		wants: "a duration",
		bound: formatDuration(low) + " to " + formatDuration(high),
		takes: asWritten,
		parse: func(text string) (time.Duration, *fault) {
			d, f := parseDuration(text)
			if f == nil && (d < low || d > high) {
				f = outOfRange(formatDuration(low), formatDuration(high))
			}
			return d, f
		},
	}
}

// seconds is a duration that ends up in a field that counts whole seconds.
func seconds(low, high time.Duration) form[time.Duration] {
	f := duration(low, high)
	f.bound += ", whole seconds"
	inner := f.parse
	f.parse = func(text string) (time.Duration, *fault) {
		d, fault := inner(text)
		if fault == nil && d%time.Second != 0 {
			return 0, wholeSeconds()
		}
		return d, fault
	}
	return f
}

func wholeSeconds() *fault {
	return &fault{code: codeOutOfRange, message: "must be whole seconds", hint: "cookies count in seconds"}
}

func parseDuration(text string) (time.Duration, *fault) {
	invalid := func(hint string) (time.Duration, *fault) {
		return 0, &fault{code: codeInvalidDuration,
			message: fmt.Sprintf("must be a duration such as 500ms, 10s or 1m30s, found %q", shorten(text)), hint: hint}
	}
	if text == "0" {
		return 0, nil
	}
	if onlyDigits(text) {
		return invalid(fmt.Sprintf("a unit is missing: %ss?", shorten(text)))
	}
	const units = "units are ms, s, m, h and d, the largest first, each with a whole number"
	var total int64
	rest, below := text, int64(math.MaxInt64)
	for rest != "" {
		digits, name := cutUnit(rest)
		rest = rest[len(digits)+len(name):]
		u := findUnit(durationUnits(), name)
		if digits == "" || u.of == 0 || u.of >= below {
			return invalid(units)
		}
		below = u.of
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n > (math.MaxInt64-total)/u.of {
			return math.MaxInt64, nil // above every bound
		}
		total += n * u.of
	}
	if text == "" {
		return invalid(units)
	}
	return time.Duration(total), nil
}

// size takes a whole number of bytes, or one with a unit.
func size(low, high int64) form[int64] {
	return form[int64]{
		wants: "a size",
		bound: formatSize(low) + " to " + formatSize(high),
		takes: asWritten,
		parse: func(text string) (int64, *fault) {
			n, f := parseSize(text)
			if f == nil && (n < low || n > high) {
				f = outOfRange(formatSize(low), formatSize(high))
			}
			return n, f
		},
	}
}

// smallSize is a size that fits an int.
func smallSize(low, high int64) form[int] {
	f := size(low, high)
	return form[int]{wants: f.wants, bound: f.bound, takes: f.takes, parse: func(text string) (int, *fault) {
		n, fault := f.parse(text)
		return int(n), fault
	}}
}

func parseSize(text string) (int64, *fault) {
	digits, name := cutUnit(text)
	u := unit{of: 1}
	if name != "" {
		u = findUnit(sizeUnits(), name)
	}
	if digits == "" || u.of == 0 || len(digits)+len(name) < len(text) {
		f := &fault{code: codeInvalidSize,
			message: fmt.Sprintf("must be a size such as 64KiB or a number of bytes, found %q", shorten(text)),
			hint:    "units are B, KiB, MiB and GiB, directly behind a whole number"}
		if digits != "" && len(digits)+len(name) == len(text) {
			for _, u := range sizeUnits() {
				if strings.EqualFold(name[:1], u.name[:1]) && u.of > 1 {
					f.hint = fmt.Sprintf("did you mean %s%s?", digits, u.name)
				}
			}
		}
		return 0, f
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/u.of {
		return math.MaxInt64, nil // above every bound
	}
	return n * u.of, nil
}

// cutUnit is the digits at the beginning of s and the letters behind them.
func cutUnit(s string) (digits, name string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	j := i
	for j < len(s) && (s[j] >= 'a' && s[j] <= 'z' || s[j] >= 'A' && s[j] <= 'Z') {
		j++
	}
	return s[:i], s[i:j]
}

// findUnit is the unit of that name; its of is 0 if there is none.
func findUnit(units []unit, name string) unit {
	for _, u := range units {
		if u.name == name {
			return u
		}
	}
	return unit{}
}

// formatDuration is the shortest form that parseDuration reads: 90s is 1m30s, 0 is 0s.
func formatDuration(d time.Duration) string {
	var b strings.Builder
	rest := int64(d)
	for _, u := range durationUnits() {
		if n := rest / u.of; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			rest -= n * u.of
		}
	}
	if b.Len() == 0 {
		return "0s"
	}
	return b.String()
}

// formatSize uses the largest unit that divides n.
func formatSize(n int64) string {
	for _, u := range sizeUnits() {
		if n != 0 && n%u.of == 0 {
			return strconv.FormatInt(n/u.of, 10) + u.name
		}
	}
	return "0"
}
