package http1

import (
	"strings"
	"testing"
)

// TestHeadSearchesOnce lets heads and a trailer section drip in, and wants each call to take up where the
// one before left off: all but a CR at the end is behind it.
func TestHeadSearchesOnce(t *testing.T) {
	fields := "X: " + strings.Repeat("x", 300) + "\r\n" + strings.Repeat("Y: y\r\n", 20) + "\r\n"
	var (
		request  Request
		response Response
		chunked  = Chunked{at: atTrailer}
	)
	for _, test := range []struct {
		name, in string
		head     *head
		parse    func([]byte) (int, error)
	}{
		{"request", "GET /" + strings.Repeat("x", 300) + " HTTP/1.1\r\nHost: a\r\n" + fields, &request.head,
			func(buf []byte) (int, error) { return request.Parse(buf, Limits{}) }},
		{"response", "HTTP/1.1 200 OK\r\n" + fields, &response.head,
			func(buf []byte) (int, error) { return response.Parse(buf, Limits{}, false) }},
		{"trailer section", fields, &chunked.lines,
			func(buf []byte) (int, error) { _, n, _, err := chunked.Next(buf); return n, err }},
	} {
		t.Run(test.name, func(t *testing.T) {
			for size := range len(test.in) {
				n, err := test.parse([]byte(test.in[:size]))
				if n != 0 || err != nil {
					t.Fatalf("after %d bytes: n = %d, err = %v", size, n, err)
				}
				if test.head.scanned < size-1 || test.head.pos > test.head.scanned {
					t.Fatalf("after %d bytes: line at %d, searched up to %d", size, test.head.pos, test.head.scanned)
				}
			}
			if n, err := test.parse([]byte(test.in)); n != len(test.in) || err != nil {
				t.Errorf("whole: n = %d of %d, err = %v", n, len(test.in), err)
			}
		})
	}
}
