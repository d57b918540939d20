package http1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// requestTests are requests that are accepted, and the reading of them whole, see renderRequest.
// Refused ones are in testdata/smuggling.
var requestTests = []struct{ name, in, want string }{
	{"typical", "GET /a?b HTTP/1.1\nHost: a.example:8080\nAccept: */*\n\n", `
GET /a?b HTTP/1.1
path /a?b
host a.example:8080
body 0 length -1 false
keep-alive true expect false upgrade "" trailers false
Host: a.example:8080
Accept: */*
`},
	{"length", "POST / HTTP/1.1\nhost:a\nCONTENT-LENGTH: \t5 \n\n", `
POST / HTTP/1.1
path /
host a
body 1 length 5 true
keep-alive true expect false upgrade "" trailers false
host: a
CONTENT-LENGTH: 5
`},
	{"length zero", "POST / HTTP/1.1\nHost: a\nContent-Length: 0\n\n", `
POST / HTTP/1.1
path /
host a
body 0 length -1 true
keep-alive true expect false upgrade "" trailers false
Host: a
Content-Length: 0
`},
	{"longest length", "POST / HTTP/1.1\nHost: a\nContent-Length: 999999999999999999\n\n", `
POST / HTTP/1.1
path /
host a
body 1 length 999999999999999999 true
keep-alive true expect false upgrade "" trailers false
Host: a
Content-Length: 999999999999999999
`},
	{"chunked", "POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\nTrailer: X-Sum\n\n", `
POST / HTTP/1.1
path /
host a
body 2 length -1 false
keep-alive true expect false upgrade "" trailers false
Host: a
Transfer-Encoding: chunked (hop)
Trailer: X-Sum (hop)
`},
	{"HTTP/1.0", "GET / HTTP/1.0\n\n", `
GET / HTTP/1.0
path /
host 
body 0 length -1 false
keep-alive false expect false upgrade "" trailers false
`},
	{"HTTP/1.0 kept alive", "GET / HTTP/1.0\nConnection: Keep-Alive\nKeep-Alive: timeout=5\n\n", `
GET / HTTP/1.0
path /
host 
body 0 length -1 false
keep-alive true expect false upgrade "" trailers false
Connection: Keep-Alive (hop)
Keep-Alive: timeout=5 (hop)
`},
	{"HTTP/1.0 kept alive and closed", "GET / HTTP/1.0\nConnection: keep-alive, close\n\n", `
GET / HTTP/1.0
path /
host 
body 0 length -1 false
keep-alive false expect false upgrade "" trailers false
Connection: keep-alive, close (hop)
`},
	// An empty Connection line first must not hide the others.
	{"fields named by several Connection lines", `GET / HTTP/1.1
Host: a
Connection:
Cookie: c=d
Connection: close, x-forwarded-FOR,,X-Secret , Cookie
X-Secret: 1
x-secret: 2
X-Forwarded-For: 192.0.2.1
X-Secretary: 3
Connection: TE, Host, Content-Length, "Accept", x y
TE: trailers
Accept: */*
Content-Length: 0
Keep-Alive: 5
Proxy-Connection: close
Proxy-Authenticate: Basic
Proxy-Authorization: Basic eA==
Proxy-Authentication-Info: x
Trailer: X

`, `
GET / HTTP/1.1
path /
host a
body 0 length -1 true
keep-alive false expect false upgrade "" trailers true
Host: a
Connection:  (hop)
Cookie: c=d (hop)
Connection: close, x-forwarded-FOR,,X-Secret , Cookie (hop)
X-Secret: 1 (hop)
x-secret: 2 (hop)
X-Forwarded-For: 192.0.2.1 (hop)
X-Secretary: 3
Connection: TE, Host, Content-Length, "Accept", x y (hop)
TE: trailers (hop)
Accept: */*
Content-Length: 0
Keep-Alive: 5 (hop)
Proxy-Connection: close (hop)
Proxy-Authenticate: Basic (hop)
Proxy-Authorization: Basic eA== (hop)
Proxy-Authentication-Info: x (hop)
Trailer: X (hop)
`},
	{"expectation", "PUT / HTTP/1.1\nHost: a\nExpect: 100-Continue\nContent-Length: 1\n\n", `
PUT / HTTP/1.1
path /
host a
body 1 length 1 true
keep-alive true expect true upgrade "" trailers false
Host: a
Expect: 100-Continue
Content-Length: 1
`},
	{"expectation without a body", "GET / HTTP/1.1\nHost: a\nExpect: 100-continue\n\n", `
GET / HTTP/1.1
path /
host a
body 0 length -1 false
keep-alive true expect false upgrade "" trailers false
Host: a
Expect: 100-continue (hop)
`},
	{"any expectation in HTTP/1.0", "PUT / HTTP/1.0\nExpect: magic\nContent-Length: 1\n\n", `
PUT / HTTP/1.0
path /
host 
body 1 length 1 true
keep-alive false expect false upgrade "" trailers false
Expect: magic (hop)
Content-Length: 1
`},
	{"upgrade", "GET / HTTP/1.1\nHost: a\nConnection: keep-alive, Upgrade\nUpgrade: websocket\n\n", `
GET / HTTP/1.1
path /
host a
body 0 length -1 false
keep-alive true expect false upgrade "websocket" trailers false
Host: a
Connection: keep-alive, Upgrade (hop)
Upgrade: websocket (hop)
`},
	{"upgrade that Connection does not name", "GET / HTTP/1.1\nHost: a\nUpgrade: websocket\n\n", `
GET / HTTP/1.1
path /
host a
body 0 length -1 false
keep-alive true expect false upgrade "" trailers false
Host: a
Upgrade: websocket (hop)
`},
	{"upgrade in HTTP/1.0", "GET / HTTP/1.0\nConnection: upgrade\nUpgrade: websocket\n\n", `
GET / HTTP/1.0
path /
host 
body 0 length -1 false
keep-alive false expect false upgrade "" trailers false
Connection: upgrade (hop)
Upgrade: websocket (hop)
`},
	{"two upgrades", "GET / HTTP/1.1\nHost: a\nConnection: upgrade\nUpgrade: h2c\nUpgrade: websocket\n\n", `
GET / HTTP/1.1
path /
host a
body 0 length -1 false
keep-alive true expect false upgrade "" trailers false
Host: a
Connection: upgrade (hop)
Upgrade: h2c (hop)
Upgrade: websocket (hop)
`},
	{"trailers among other codings", "GET / HTTP/1.1\nHost: a\nTE: gzip;q=0.5, Trailers\n\n", `
GET / HTTP/1.1
path /
host a
body 0 length -1 false
keep-alive true expect false upgrade "" trailers true
Host: a
TE: gzip;q=0.5, Trailers (hop)
`},
	{"absolute-form", "GET http://A:80?x HTTP/1.1\nHost: a\n\n", `
GET http://A:80?x HTTP/1.1
path /?x
host A:80
body 0 length -1 false
keep-alive true expect false upgrade "" trailers false
Host: a
`},
	{"empty values and odd names", "GET / HTTP/1.1\nHost: a\nX:\n!#$%&'*+-.^_`|~1:\t\n\n", `
GET / HTTP/1.1
path /
host a
body 0 length -1 false
keep-alive true expect false upgrade "" trailers false
Host: a
X: 
!#$%&'*+-.^_` + "`" + `|~1: 
`},
}

func TestRequest(t *testing.T) {
	for _, test := range requestTests {
		t.Run(test.name, func(t *testing.T) {
			in := append(crlf(test.in), "behind"...)
			for _, step := range []int{0, 1, 5} {
				a := &arrival{stream: in, step: step}
				var r Request
				n, err := parseHead(a, func(buf []byte) (int, error) { return r.Parse(buf, testLimits) })
				if n != len(in)-len("behind") || err != nil {
					t.Fatalf("in steps of %d: n = %d, err = %v; want %d", step, n, err, len(in)-len("behind"))
				}
				if diff := cmp.Diff(test.want, "\n"+renderRequest(&r)); diff != "" {
					t.Errorf("in steps of %d (-want +got):\n%s", step, diff)
				}
			}
		})
	}
}

func TestRequestAfterAnother(t *testing.T) {
	var r Request
	for _, test := range requestTests {
		r.Reset()
		if _, err := r.Parse(crlf(test.in), Limits{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, "\n"+renderRequest(&r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestRequestUnknownExpectation(t *testing.T) {
	for _, value := range []string{"magic", "100-continue, magic", "100-continue=1", `"100-continue"`} {
		in := fmt.Sprintf("PUT / HTTP/1.1\nHost: a\nExpect: %s\nContent-Length: 1\n\n", value)
		var r Request
		if _, err := r.Parse(crlf(in), Limits{}); err == nil || err.(*Error).Status != 417 {
			t.Errorf("Expect: %s: err = %v, want status 417", value, err)
		}
	}
}

// TestRequestLimits gives each limit a head that just fits and one that does not by a byte or a field, and
// wants the latter refused before its end is there.
func TestRequestLimits(t *testing.T) {
	fields := func(n int) string { return strings.Repeat("X: y\n", n-1) }
	tests := []struct {
		name   string
		in     func(size int) string // a head of which size is the limited quantity
		lim    Limits
		fits   int
		status int
	}{
		{"head", func(n int) string {
			return "GET / HTTP/1.1\nHost: a\nX: " + strings.Repeat("x", n-len("GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n")) + "\n\n"
		}, Limits{Head: 300}, 300, 431},
		{"head of many fields", func(n int) string {
			return "GET / HTTP/1.1\nHost: a\n" + strings.Repeat("X: y\n", (n-len("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))/6) + "\n"
		}, Limits{Head: 27 + 6*20}, 27 + 6*20, 431},
		{"fields", func(n int) string { return "GET / HTTP/1.1\nHost: a\n" + fields(n) + "\n" }, Limits{Fields: 9}, 9, 431},
		{"target", func(n int) string { return "GET /" + strings.Repeat("x", n-1) + " HTTP/1.1\nHost: a\n\n" }, Limits{Target: 99}, 99, 414},
		{"method", func(n int) string { return strings.Repeat("x", n) + " / HTTP/1.1\nHost: a\n\n" }, Limits{Target: 99}, 64, 400},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var r Request
			in := crlf(test.in(test.fits))
			if n, err := r.Parse(in, test.lim); n != len(in) || err != nil {
				t.Errorf("at the limit: n = %d, err = %v; want %d", n, err, len(in))
			}
			step := 1
			if strings.Contains(test.name, "many") {
				step = 6
			}
			for _, in := range [][]byte{crlf(test.in(test.fits + step)), crlf(test.in(test.fits + 5000))} {
				r.Reset()
				if n, err := r.Parse(in, test.lim); n != 0 || err == nil || err.(*Error).Status != test.status {
					t.Errorf("above the limit: n = %d, err = %v; want status %d", n, err, test.status)
				}
				r.Reset()
				n, i, err := 0, 0, error(nil)
				for ; i < len(in) && n == 0 && err == nil; i++ {
					n, err = r.Parse(in[:i], test.lim)
				}
				if err == nil || err.(*Error).Status != test.status {
					t.Errorf("above the limit, a byte at a time: n = %d, err = %v; want status %d", n, err, test.status)
				}
				if len(in) > 5000 && i > 500 {
					t.Errorf("above the limit: noticed after %d bytes", i)
				}
			}
		})
	}
}

// A request line that fills the whole head is the fault of its target.
func TestRequestTargetFillsHead(t *testing.T) {
	in := "GET /" + strings.Repeat("x", 1000)
	for _, lim := range []Limits{{Head: 100}, {Head: 100, Target: 50}, {Head: 100, Target: 5000}} {
		var r Request
		if _, err := r.Parse([]byte(in), lim); err == nil || err.(*Error).Status != 414 {
			t.Errorf("%+v: err = %v, want status 414", lim, err)
		}
	}
}

func TestRequestTooManyConnectionOptions(t *testing.T) {
	in := func(n int) []byte {
		return crlf("GET / HTTP/1.1\nHost: a\nConnection: " + strings.Repeat("x,,", n-1) + "\nConnection: y\n\n")
	}
	var r Request
	if _, err := r.Parse(in(maxOptions), Limits{}); err != nil {
		t.Error(err)
	}
	r.Reset()
	if _, err := r.Parse(in(maxOptions+1), Limits{}); err == nil {
		t.Error("accepted one option too many")
	}
}
