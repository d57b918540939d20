package accesslog

import (
	"strings"
	"testing"
)

// plainByte is the rule, byte by byte.
func plainByte(c, lowest byte) bool { return c >= lowest && c < 0x7f && c != '"' && c != '\\' }

// Every byte at every place of values around the eight bytes that are looked at together.
func TestPlain(t *testing.T) {
	for _, lowest := range []byte{' ', '!'} {
		for length := 1; length <= 25; length++ {
			value := []byte(strings.Repeat("~", length))
			for at := range value {
				for c := range 256 {
					value[at] = byte(c)
					want := plainByte(byte(c), lowest)
					if plain(value, lowest) != want || plain(string(value), lowest) != want {
						t.Fatalf("plain(%q, %q) is not %v", value, lowest, want)
					}
				}
				value[at] = '~'
			}
		}
	}
}

// Neighbours matter: additions carry and subtractions borrow.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"", "GET", "\xff\x7f!!!!!!", "!\"!\"!\"!\"", " ! ! ! ! !", "\x00\x01\x80\x80\x80\x80\x80\x80\x80", "]\\[#\"!"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		for _, lowest := range []byte{' ', '!'} {
			want := true
			for _, c := range value {
				want = want && plainByte(c, lowest)
			}
			if got := plain(value, lowest); got != want {
				t.Fatalf("plain(%q, %q) = %v", value, lowest, got)
			}
			if got := plain(string(value), lowest); got != want {
				t.Fatalf("plain(%q, %q) = %v for a string", value, lowest, got)
			}
		}
	})
}
