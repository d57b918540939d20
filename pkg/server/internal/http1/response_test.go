package http1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var responseTests = []struct {
	name, in string
	head     bool
	want     string
}{
	{"typical", "HTTP/1.1 200 OK\nDate: x\nContent-Length: 5\nContent-Type:\n\n", false, `
HTTP/1.1 200 OK
body 1 length 5 true chunked false
keep-alive true upgrade "" date true
Date: x
Content-Length: 5
Content-Type: 
`},
	{"length zero", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", false, `
HTTP/1.1 200 OK
body 0 length 0 true chunked false
keep-alive true upgrade "" date false
Content-Length: 0
`},
	{"to HEAD", "HTTP/1.1 200 OK\nContent-Length: 5\n\n", true, `
HTTP/1.1 200 OK
body 0 length 5 true chunked false
keep-alive true upgrade "" date false
Content-Length: 5
`},
	{"to HEAD, chunked", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", true, `
HTTP/1.1 200 OK
body 0 length -1 false chunked true
keep-alive true upgrade "" date false
Transfer-Encoding: chunked (hop)
`},
	{"to HEAD, neither", "HTTP/1.1 200 OK\n\n", true, `
HTTP/1.1 200 OK
body 0 length -1 false chunked false
keep-alive true upgrade "" date false
`},
	{"304", "HTTP/1.1 304 Not Modified\nContent-Length: 5\n\n", false, `
HTTP/1.1 304 Not Modified
body 0 length 5 true chunked false
keep-alive true upgrade "" date false
Content-Length: 5
`},
	{"204 with a needless length", "HTTP/1.1 204 No Content\nContent-Length: 0\n\n", false, `
HTTP/1.1 204 No Content
body 0 length -1 false chunked false
keep-alive true upgrade "" date false
Content-Length: 0 (hop)
`},
	{"chunked", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", false, `
HTTP/1.1 200 OK
body 2 length -1 false chunked true
keep-alive true upgrade "" date false
Transfer-Encoding: chunked (hop)
`},
	{"until close", "HTTP/1.1 200 OK\n\n", false, `
HTTP/1.1 200 OK
body 3 length -1 false chunked false
keep-alive false upgrade "" date false
`},
	{"closing", "HTTP/1.1 200 OK\nConnection: Close\nContent-Length: 1\n\n", false, `
HTTP/1.1 200 OK
body 1 length 1 true chunked false
keep-alive false upgrade "" date false
Connection: Close (hop)
Content-Length: 1
`},
	{"early hints with hop-by-hop fields", "HTTP/1.1 103 Early Hints\nConnection: X-Hop\nX-Hop: 1\nKeep-Alive: 5\nLink: x\n\n", false, `
HTTP/1.1 103 Early Hints
body 0 length -1 false chunked false
keep-alive true upgrade "" date false
Connection: X-Hop (hop)
X-Hop: 1 (hop)
Keep-Alive: 5 (hop)
Link: x
`},
	{"switching", "HTTP/1.1 101 Switching Protocols\nConnection: upgrade\nUpgrade: websocket\n\n", false, `
HTTP/1.1 101 Switching Protocols
body 0 length -1 false chunked false
keep-alive false upgrade "websocket" date false
Connection: upgrade (hop)
Upgrade: websocket (hop)
`},
	{"switching to nothing", "HTTP/1.1 101 Switching Protocols\n\n", false, `
HTTP/1.1 101 Switching Protocols
body 0 length -1 false chunked false
keep-alive false upgrade "" date false
`},
	{"offering an upgrade", "HTTP/1.1 426 Upgrade Required\nConnection: upgrade\nUpgrade: TLS/1.0\nContent-Length: 0\n\n", false, `
HTTP/1.1 426 Upgrade Required
body 0 length 0 true chunked false
keep-alive true upgrade "" date false
Connection: upgrade (hop)
Upgrade: TLS/1.0 (hop)
Content-Length: 0
`},
	{"reason with blanks and UTF-8", "HTTP/1.0 404  n\u00e4 \t\nContent-Length: 0\n\n", false, "\n" +
		"HTTP/1.0 404  n\u00e4 \t\n" +
		"body 0 length 0 true chunked false\n" +
		"keep-alive false upgrade \"\" date false\n" +
		"Content-Length: 0\n"},
	{"empty reason", "HTTP/1.1 599 \nContent-Length: 0\n\n", false, "\n" +
		"HTTP/1.1 599 \n" +
		"body 0 length 0 true chunked false\n" +
		"keep-alive true upgrade \"\" date false\n" +
		"Content-Length: 0\n"},
}

func TestResponse(t *testing.T) {
	for _, test := range responseTests {
		t.Run(test.name, func(t *testing.T) {
			in := append(crlf(test.in), "behind"...)
			for _, step := range []int{0, 1, 5} {
				a := &arrival{stream: in, step: step}
				var r Response
				n, err := parseHead(a, func(buf []byte) (int, error) { return r.Parse(buf, testLimits, test.head) })
				if n != len(in)-len("behind") || err != nil {
					t.Fatalf("in steps of %d: n = %d, err = %v; want %d", step, n, err, len(in)-len("behind"))
				}
				if diff := cmp.Diff(test.want, "\n"+renderResponse(&r)); diff != "" {
					t.Errorf("in steps of %d (-want +got):\n%s", step, diff)
				}
			}
		})
	}
}

func TestResponseLimits(t *testing.T) {
	for _, test := range []struct {
		name, in string
	}{
		{"head", "HTTP/1.1 200 OK\nX: " + strings.Repeat("x", 5000) + "\n\n"},
		{"unfinished head", "HTTP/1.1 200 OK\nX: " + strings.Repeat("x", 5000)},
		{"reason", "HTTP/1.1 200 " + strings.Repeat("x", 5000) + "\n\n"},
		{"fields", "HTTP/1.1 200 OK\n" + strings.Repeat("X: y\n", 33) + "\n"},
		{"unfinished fields", "HTTP/1.1 200 OK\n" + strings.Repeat("X: y\n", 33)},
		{"connection options", "HTTP/1.1 200 OK\nConnection: " + strings.Repeat("x,", maxOptions+1) + "\n\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r Response
			if n, err := r.Parse(crlf(test.in), testLimits, false); n != 0 || err == nil || err.(*Error).Status != 502 {
				t.Errorf("n = %d, err = %v; want status 502", n, err)
			}
		})
	}
}
