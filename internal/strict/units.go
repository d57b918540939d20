package strict

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

// durationUnits and sizeUnits, largest first. Only fine durations have microseconds.
func durationUnits(fine bool) []unit {
	units := []unit{{"d", int64(24 * time.Hour)}, {"h", int64(time.Hour)}, {"m", int64(time.Minute)},
		{"s", int64(time.Second)}, {"ms", int64(time.Millisecond)}}
	if fine {
		units = append(units, unit{"us", int64(time.Microsecond)})
	}
	return units
}

func sizeUnits() []unit {
	return []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}
}

// Duration takes whole numbers with units, largest unit first: 500ms, 1m30s, 1d. 0 needs no unit.
func Duration(low, high time.Duration) Form[time.Duration] { return durations(low, high, false) }

// FineDuration takes microseconds and fractions as well: 10.3s, 1.5h, 250us. What does not fit into
// nanoseconds is cut off.
func FineDuration(low, high time.Duration) Form[time.Duration] { return durations(low, high, true) }

func durations(low, high time.Duration, fine bool) Form[time.Duration] {
	schema := numberOr(nil, "^"+durationExpression(fine)+"$")
	if low <= 0 {
		schema = numberOr(Const(0), "^(0|"+durationExpression(fine)+")$")
	}
	return Form[time.Duration]{
		Wants: "a duration",
		Bound: FormatDuration(low) + " to " + FormatDuration(high),
		Takes: AsWritten,
		Parse: func(text string) (time.Duration, *Fault) {
			d, f := parseDuration(text, fine)
			if f == nil && (d < low || d > high) {
				f = OutOfRange(FormatDuration(low), FormatDuration(high))
			}
			return d, f
		},
		Format: FormatDuration,
		Schema: schema,
	}
}

func parseDuration(text string, fine bool) (time.Duration, *Fault) {
	example, units := "500ms, 10s or 1m30s", "units are ms, s, m, h and d, the largest first, each with a whole number"
	if fine {
		example, units = "500ms, 10.3s or 1m30s", "units are us, ms, s, m, h and d, the largest first, each with a number"
	}
	invalid := func(hint string) (time.Duration, *Fault) {
		return 0, &Fault{CodeInvalidDuration,
			fmt.Sprintf("must be a duration such as %s, found %q", example, Shorten(text)), hint}
	}
	if text == "0" {
		return 0, nil
	}
	if onlyDigits(text) {
		return invalid(fmt.Sprintf("a unit is missing: %ss?", Shorten(text)))
	}
	var total int64
	rest, below := text, int64(math.MaxInt64)
	for rest != "" {
		whole, part, name := cutUnit(rest)
		rest = rest[len(whole)+len(part)+len(name):]
		u := findUnit(durationUnits(fine), name)
		if whole == "" || u.of == 0 || u.of >= below || part != "" && !fine || part == "." {
			return invalid(units)
		}
		below = u.of
		n := u.times(whole, part)
		if n >= math.MaxInt64-total {
			return math.MaxInt64, nil // above every bound
		}
		total += n
	}
	if text == "" {
		return invalid(units)
	}
	return time.Duration(total), nil
}

// Size takes a whole number of bytes, or one with a unit.
func Size(low, high int64) Form[int64] {
	return Form[int64]{
		Wants: "a size",
		Bound: FormatSize(low) + " to " + FormatSize(high),
		Takes: AsWritten,
		Parse: func(text string) (int64, *Fault) {
			n, f := parseSize(text)
			if f == nil && (n < low || n > high) {
				f = OutOfRange(FormatSize(low), FormatSize(high))
			}
			return n, f
		},
		Format: FormatSize,
		Schema: numberOr(integers(low, high), sizeExpression()),
	}
}

// SmallSize is a size that fits an int.
func SmallSize(low, high int64) Form[int] {
	f := Size(low, high)
	return Form[int]{Wants: f.Wants, Bound: f.Bound, Takes: f.Takes, Schema: f.Schema,
		Parse: func(text string) (int, *Fault) {
			n, fault := f.Parse(text)
			return int(n), fault
		},
		Format: func(n int) string { return f.Format(int64(n)) },
	}
}

func parseSize(text string) (int64, *Fault) {
	whole, part, name := cutUnit(text)
	u := unit{of: 1}
	if name != "" {
		u = findUnit(sizeUnits(), name)
	}
	if whole == "" || part != "" || u.of == 0 || len(whole)+len(name) < len(text) {
		f := &Fault{Code: CodeInvalidSize,
			Message: fmt.Sprintf("must be a size such as 64KiB or a number of bytes, found %q", Shorten(text)),
			Hint:    "units are B, KiB, MiB and GiB, directly behind a whole number"}
		if whole != "" && len(whole)+len(name) == len(text) {
			for _, u := range sizeUnits() {
				if strings.EqualFold(name[:1], u.name[:1]) && u.of > 1 {
					f.Hint = fmt.Sprintf("did you mean %s%s?", whole, u.name)
				}
			}
		}
		return 0, f
	}
	return u.times(whole, ""), nil
}

// times is a number of a unit in the smallest one, or the largest number there is, above every bound. A
// part begins with the point.
func (u unit) times(whole, part string) int64 {
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > math.MaxInt64/u.of || part != "" && n == math.MaxInt64/u.of {
		return math.MaxInt64
	}
	n *= u.of
	for _, digit := range strings.TrimPrefix(part, ".") {
		u.of /= 10
		n += int64(digit-'0') * u.of
	}
	return n
}

// cutUnit is the digits at the beginning of s, a point and the digits behind it, and the letters that
// follow.
func cutUnit(s string) (whole, part, name string) {
	rest := strings.TrimLeft(s, digits)
	whole = s[:len(s)-len(rest)]
	s = rest
	if strings.HasPrefix(s, ".") {
		rest = strings.TrimLeft(s[1:], digits)
		part, s = s[:len(s)-len(rest)], rest
	}
	i := strings.IndexFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' && r < 'a' || r > 'z' })
	if i < 0 {
		i = len(s)
	}
	return whole, part, s[:i]
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

// FormatDuration is the shortest form that is read, to the microsecond: 90s is 1m30s, 0 is 0s.
func FormatDuration(d time.Duration) string {
	var b strings.Builder
	rest := int64(d)
	for _, u := range durationUnits(true) {
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

// FormatSize uses the largest unit that divides n.
func FormatSize(n int64) string {
	for _, u := range sizeUnits() {
		if n != 0 && n%u.of == 0 {
			return strconv.FormatInt(n/u.of, 10) + u.name
		}
	}
	return "0"
}
