package http1

import (
	"bytes"
	"testing"
)

func TestEqualFold(t *testing.T) {
	for _, test := range []struct {
		a, lower string
		want     bool
	}{
		{"WebSocket", "websocket", true},
		{"", "", true},
		{"websockets", "websocket", false},
		{"\rx", "-x", false},
		{"\x00@[`{", "\x00@[`{", true},
		{"@", "`", false},
		{"[", "{", false},
	} {
		if got := EqualFold([]byte(test.a), test.lower); got != test.want {
			t.Errorf("EqualFold(%q, %q) = %v", test.a, test.lower, got)
		}
		if got := sameFold([]byte(test.lower), []byte(test.a)); got != test.want {
			t.Errorf("sameFold(%q, %q) = %v", test.lower, test.a, got)
		}
	}
}

// TestTextLen puts each byte at each place of texts of all lengths around the word size.
func TestTextLen(t *testing.T) {
	for length := range 34 {
		for at := range length {
			for c := range 256 {
				b := bytes.Repeat([]byte{'x'}, length)
				b[at] = byte(c)
				want := length
				if c < 0x20 && c != '\t' || c == 0x7f {
					want = at
				}
				if got := textLen(b); got != want {
					t.Fatalf("textLen(%q) = %d, want %d", b, got, want)
				}
				ok := c > 0x20 && c < 0x7f && c != '#'
				if got := isTargetText(b); got != ok {
					t.Fatalf("isTargetText(%q) = %v, want %v", b, got, ok)
				}
			}
		}
	}
}
