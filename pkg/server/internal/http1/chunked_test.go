package http1

import (
	"fmt"
	"strings"
	"testing"
)

// decode reads a chunked body that arrives step bytes at a time.
func decode(stream string, step int) (b body, rest string, err error) {
	a := &arrival{stream: []byte(stream), step: step}
	b, err = readChunks(a)
	return b, stream[a.taken:], err
}

func TestChunked(t *testing.T) {
	trailers := func(n, size int) string {
		return strings.Repeat("X: "+strings.Repeat("x", size-len("X: \r\n"))+"\r\n", n)
	}
	extension := func(n int) string { return ";" + strings.Repeat("x", n-1) }
	tests := []struct {
		name, in, want string // want: data, trailers, what is left over; or the refusal
	}{
		{"empty", "0\r\n\r\nrest", `"" "" "rest"`},
		{"several chunks", "1\r\na\r\n2\r\nbc\r\n003\r\n\r\n\n\r\n0\r\n\r\n", `"abc\r\n\n" "" ""`},
		{"digits in both cases", "0A\r\n0123456789\r\n0a\r\n0123456789\r\n0\r\n\r\n", `"01234567890123456789" "" ""`},
		{"trailers", "0\r\nX-Sum:5\r\nhost: a\r\nETag: \"x\"\r\nConnection: close\r\n\r\n", `"" "X-Sum: 5\nETag: \"x\"\n" ""`},
		{"longest extension", "1" + extension(256) + "\r\na\r\n0\r\n\r\n", `"a" "" ""`},
		{"too long extension", "1" + extension(257) + "\r\na\r\n0\r\n\r\n", `400 chunk extension too long`},
		{"endless extension", "1" + extension(1000), `400 chunk extension too long`},
		{"extensions worth more than the data", strings.Repeat("1"+extension(250)+"\r\na\r\n", 40), `400 too many chunk extensions`},
		{"single bytes", strings.Repeat("1\r\na\r\n", 1000) + "0\r\n\r\n", fmt.Sprintf(`%q "" ""`, strings.Repeat("a", 1000))},
		{"most trailers", "0\r\n" + trailers(64, 20) + "\r\n", `"" "` + strings.Repeat(`X: xxxxxxxxxxxxxxx\n`, 64) + `" ""`},
		{"too many trailers", "0\r\n" + trailers(65, 20), `400 too many trailers`},
		{"too many dropped trailers", "0\r\n" + strings.Repeat("Host: a\r\n", 65), `400 too many trailers`},
		{"longest trailer section", "0\r\n" + trailers(1, 16<<10-2) + "\r\n", `"" "X: ` + strings.Repeat("x", 16<<10-7) + `\n" ""`},
		{"too long trailer section", "0\r\n" + trailers(1, 16<<10-1), `400 in the trailer section: fields too large`},
		{"largest size", "7fffffffffffffff\r\nabc", `unfinished "abc"`},
		{"largest size with zeros", "0000000000000003\r\nabc\r\n0\r\n\r\n", `"abc" "" ""`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, step := range []int{0, 1, 2, 3, 11} {
				step *= 1 + len(test.in)/1000 // each step copies what is there
				b, rest, err := decode(test.in, step)
				got := fmt.Sprintf("%q %q %q", b.data, b.trailers, rest)
				switch {
				case err != nil:
					got = refusal(err)
				case !b.done:
					got = fmt.Sprintf("unfinished %q", b.data)
				}
				if got != test.want {
					t.Errorf("in steps of %d: got %.300s\nwant %.300s", step, got, test.want)
				}
			}
		})
	}
}

// TestChunkedOneCall holds the promise that a chunk which is there costs one call.
func TestChunkedOneCall(t *testing.T) {
	var c Chunked
	buf := []byte("3\r\nabc\r\n0\r\n\r\n")
	data, n, done, err := c.Next(buf)
	if string(data) != "abc" || n != 8 || done || err != nil {
		t.Errorf("first call: %q, %d, %v, %v", data, n, done, err)
	}
	data, n, done, err = c.Next(buf[n:])
	if len(data) != 0 || n != 5 || !done || err != nil {
		t.Errorf("second call: %q, %d, %v, %v", data, n, done, err)
	}
	data, n, done, err = c.Next([]byte("more"))
	if len(data) != 0 || n != 0 || !done || err != nil {
		t.Errorf("call after the end: %q, %d, %v, %v", data, n, done, err)
	}
}

func TestMayBeTrailer(t *testing.T) {
	forbidden := strings.Fields(`Content-Length Transfer-Encoding Trailer TE Host Authorization Set-Cookie Cookie
		Content-Type Content-Encoding Content-Range Cache-Control If-Match If-None-Match If-Modified-Since
		If-Unmodified-Since If-Range Range Expect Max-Forwards Pragma Age Date Expires Location Retry-After Vary
		Warning WWW-Authenticate Proxy-Authenticate Proxy-Authorization Proxy-Authentication-Info Connection
		Keep-Alive Proxy-Connection Upgrade Forwarded X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto`)
	for _, name := range forbidden {
		for _, spelled := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if MayBeTrailer([]byte(spelled)) {
				t.Errorf("%s may be a trailer", spelled)
			}
		}
	}
	for _, name := range []string{"X-Sum", "Grpc-Status", "ETag", "Server-Timing", "Digest", "Content-Digest",
		"Authentication-Info", "X-" + strings.Repeat("long", 50), ""} {
		if !MayBeTrailer([]byte(name)) {
			t.Errorf("%s may not be a trailer", name)
		}
	}
}
