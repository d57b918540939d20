package http1

import (
	"net/netip"
	"strings"
	"testing"
)

func TestAuthority(t *testing.T) {
	for _, good := range []string{"a", "a.example", "A-1_x~.example.", "192.0.2.1", "192.0.2.1:80", "a:0", "a:65535", "a:",
		"[::]", "[::1]:80", "[2001:DB8::1]", "[::ffff:192.0.2.1]", "[1:2:3:4:5:6:7:8]", "a%20b", "a%C3%a9", "!$&'()*+,;="} {
		if !IsAuthority([]byte(good)) {
			t.Errorf("%s is refused", good)
		}
	}
	for _, bad := range []string{"", ":", ":80", "a:65536", "a:000080", "a:-1", "a:8 0", "a:80:80", "a b", "a/", "a?", "a#", "a@b", "a\\b",
		"[]", "[", "]", "[::1", "::1]", "[::1]80", "x[::1]", "[::1%25x]", "[v1.x]", "[[::1]]", "%", "%4", "%4x", "%zz", "a\x00", "\xff", "a\"b", "a<b", "{a}", "a|b", "a^b", "a`b"} {
		if IsAuthority([]byte(bad)) {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestSameAuthority(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"a", "A", true}, {"a", "a:80", true}, {"a:", "a:80", true}, {"a:80", "a:80", true},
		{"a", "b", false}, {"a", "a:443", false}, {"a:81", "a:80", false}, {"a", "a.", false},
		{"[::1]", "[::1]:80", true}, {"[::1]", "[::1]:81", false}, {"[::80]", "[:", false},
	} {
		if got := sameAuthority([]byte(test.a), []byte(test.b), ":80"); got != test.want {
			t.Errorf("%s and %s: %v", test.a, test.b, got)
		}
	}
}

// FuzzIPv6 has net/netip for the other opinion.
func FuzzIPv6(f *testing.F) {
	for _, s := range []string{"::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::3:4:5:6:7:8:9",
		":::", "1:::2", "1::2::3", ":1", "1:", "12345::", "g::", "::1.2.3.4", "::1.2.3.256", "::01.2.3.4", "1.2.3.4::", "1.2.3.4",
		"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "::1.2.3.4:5", "::1%eth0", "", ":", "fe80::1 "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, err := netip.ParseAddr(s)
		want := err == nil && strings.Contains(s, ":") && !strings.Contains(s, "%")
		if got := isIPv6([]byte(s)); got != want {
			t.Errorf("isIPv6(%q) = %v, netip says %v", s, got, err)
		}
	})
}
