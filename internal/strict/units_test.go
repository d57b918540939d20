package strict

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "1ms": time.Millisecond, "500ms": 500 * time.Millisecond, "10s": 10 * time.Second,
		"1m30s": 90 * time.Second, "1h0m1s": time.Hour + time.Second, "7d": 7 * 24 * time.Hour, "1d2h3m4s5ms": 24*time.Hour + 2*time.Hour + 3*time.Minute + 4*time.Second + 5*time.Millisecond,
		"010s": 10 * time.Second,
	} {
		got, f := parseDuration(text, false)
		if f != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, f, want)
		}
	}
	for _, text := range []string{"", "10", "00", "s", "1.5s", "-1s", "+1s", "1 s", "1s ", "1s1m", "1s1s", "1us", "1S", "1M", "1w", "1sec", "0x1s", "1_0s", "1m30", "soon"} {
		if got, f := parseDuration(text, false); f == nil || f.Code != CodeInvalidDuration {
			t.Errorf("%q: %v, %v; want %s", text, got, f, CodeInvalidDuration)
		}
	}
	for _, text := range []string{"9223372036855s", "99999999999999999999d", "106751d24h"} {
		if _, f := Duration(0, 24*time.Hour).Parse(text); f == nil || f.Code != CodeOutOfRange {
			t.Errorf("%q: %v; want %s", text, f, CodeOutOfRange)
		}
	}
}

func TestParseFineDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "500ms": 500 * time.Millisecond, "10.3s": 10300 * time.Millisecond, "1m30s": 90 * time.Second,
		"1d": 24 * time.Hour, "1.5h": 90 * time.Minute, "1d1h1m1s1ms1us": 25*time.Hour + 61*time.Second + 1001*time.Microsecond,
		"0.0000000019s": 1, "99999999999d": math.MaxInt64, "9223372036.9s": math.MaxInt64,
	} {
		if got, f := parseDuration(text, true); f != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, f, want)
		}
	}
	for _, text := range []string{"", "1", "s", "-1s", "+1s", "1 s", "1s ", "1.s", ".5s", "1..5s", "1e3s", "1S", "1µs", "1ns", "1s1s", "1ms1s", "1s1", "1.5", "1.5.5s"} {
		if got, f := parseDuration(text, true); f == nil || f.Code != CodeInvalidDuration {
			t.Errorf("%q: %v, %v; want %s", text, got, f, CodeInvalidDuration)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "1B": 1, "64KiB": 64 << 10, "16MiB": 16 << 20, "4GiB": 4 << 30, "010": 10,
	} {
		got, f := parseSize(text)
		if f != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, f, want)
		}
	}
	for _, text := range []string{"", "B", "-1", "+1", "1.5MiB", "1 MiB", "1MB", "1kib", "1K", "1TiB", "1MiBs", "1MiB1", "0x10", "1_000", "1e3"} {
		if got, f := parseSize(text); f == nil || f.Code != CodeInvalidSize {
			t.Errorf("%q: %d, %v; want %s", text, got, f, CodeInvalidSize)
		}
	}
	for _, text := range []string{"9223372036854775808", "9007199254740992GiB"} {
		if _, f := Size(0, 1<<40).Parse(text); f == nil || f.Code != CodeOutOfRange {
			t.Errorf("%q: %v; want %s", text, f, CodeOutOfRange)
		}
	}
}

// TestFormatsAreRead holds that bounds in messages can be written into the file.
func TestFormatsAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(400*24*time.Hour/time.Millisecond)).Draw(t, "ms")) * time.Millisecond
		if got, f := parseDuration(FormatDuration(d), false); f != nil || got != d {
			t.Errorf("%v is shown as %s, which is read as %v, %v", d, FormatDuration(d), got, f)
		}
		n := rapid.Int64Range(0, 1<<40).Draw(t, "bytes")
		if got, f := parseSize(FormatSize(n)); f != nil || got != n {
			t.Errorf("%d is shown as %s, which is read as %d, %v", n, FormatSize(n), got, f)
		}
	})
}

func TestNearest(t *testing.T) {
	keys := []string{"members", "members_from", "retries", "tls", "scheme", "max_body", "max_header", "max_headers"}
	for word, want := range map[string]string{
		"member": "members", "mebmers": "members", "member_from": "members_from", "RETRIES": "retries",
		"tsl": "tls", "max_boddy": "max_body", "max-headers": "max_headers", "scheem": "scheme",
		"": "", "x": "", "timeout": "", "backends": "",
	} {
		if got := Nearest(word, keys); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
