package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// F01 and others: what could be read in two ways is refused, and never reaches a member.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	smuggled := "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, text := range map[string]string{
		"CL.TE":                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n" + smuggled,
		"TE.CL":                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n" + smuggled,
		"CL.0 with TE":         "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n" + smuggled,
		"two Content-Lengths":  "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n" + smuggled,
		"TE identity, chunked": "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity, chunked\r\n\r\n" + smuggled,
		"TE xchunked":          "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n" + smuggled,
		"space before colon":   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n" + smuggled,
		"obs-fold":             "POST / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n",
		"bare LF":              "GET / HTTP/1.1\nHost: x\n\n",
		"bare CR":              "GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n",
		"NUL":                  "GET / HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
		"no Host":              "GET / HTTP/1.1\r\n\r\n",
		"two Hosts":            "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"contradicting target": "GET http://y/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"TE in HTTP/1.0":       "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + smuggled,
	} {
		t.Run(name, func(t *testing.T) {
			c := servertest.Dial(t, d.Address)
			c.Send(text)
			r := c.Final("POST")
			if r.Status != 400 || !closes(r) {
				t.Errorf("got %s%s", r.Head, r.Body)
			}
			if rest, _ := c.Rest(); rest != "" {
				t.Errorf("something came behind the refusal: %q", rest)
			}
		})
	}
	if n := len(m[0].Requests()); n != 0 {
		t.Errorf("the member got %d requests: %v", n, m[0].Requests())
	}
}

func TestLimitsOfAHead(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"max_header: 8KiB", "max_headers: 20", "max_uri: 1KiB"}})
	for _, c := range []struct {
		name, text string
		status     int
	}{
		{"target at the bound", "GET /" + strings.Repeat("x", 1023) + " HTTP/1.1\r\nHost: x\r\n\r\n", 200},
		{"target over it", "GET /" + strings.Repeat("x", 1024) + " HTTP/1.1\r\nHost: x\r\n\r\n", 414},
		{"head below the bound", "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 8000) + "\r\n\r\n", 200},
		{"head over it", "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 9000) + "\r\n\r\n", 431},
		{"20 fields", "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X: y\r\n", 19) + "\r\n", 200},
		{"21 fields", "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X: y\r\n", 20) + "\r\n", 431},
		{"a method we do not forward", "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n", 405},
		{"CONNECT", "CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n", 405},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := servertest.Dial(t, d.Address)
			conn.Send(c.text)
			if r := conn.Final("GET"); r.Status != c.status {
				t.Errorf("got %s, want %d", r.Head, c.status)
			}
		})
	}
}

// Heads of members: large ones pass up to 64 KiB, above that the member is to blame (H07).
func TestH07HeadOfAMember(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	cookies := func(n int) []string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("Set-Cookie: c%d=%s", i, strings.Repeat("x", 1000)))
		}
		return all
	}
	m[0].Script(servertest.Answer{Header: cookies(60), Body: "large"}, servertest.Answer{Header: cookies(70)})
	if r := d.Get("/"); r.Status != 200 || r.Body != "large" || len(r.Header.Values("Set-Cookie")) != 60 {
		t.Errorf("60 KiB: %d %q", r.Status, r.Body)
	}
	if r := d.Get("/"); r.Status != 502 {
		t.Errorf("70 KiB: %d", r.Status)
	}
	if f := show(t, d).Members[0].LastFailure; f != "malformed_response" {
		t.Errorf("last failure %q", f)
	}
}

// Every way in which a member may end a body reaches every kind of client.
func TestBodiesAndClients(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	answers := map[string]servertest.Answer{
		"length":      {Body: "hello"},
		"empty":       {},
		"chunked":     {Chunks: []string{"he", "llo"}, Trailer: []string{"X-Sum: 5"}},
		"until close": {Body: "hello", UntilClose: true},
		"large":       {Chunks: []string{strings.Repeat("x", 100_000), strings.Repeat("y", 70_000)}},
		"204":         {Status: 204, Header: []string{"X-A: b"}},
		"304":         {Status: 304, Header: []string{"Content-Length: 5", "ETag: \"x\""}},
	}
	for name, a := range answers {
		for _, request := range []string{
			"GET / HTTP/1.1\r\nHost: x\r\n", "HEAD / HTTP/1.1\r\nHost: x\r\n", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n",
			"GET / HTTP/1.0\r\n", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n",
		} {
			t.Run(name+" "+strings.TrimSpace(strings.ReplaceAll(request, "\r\n", " ")), func(t *testing.T) {
				method, _, _ := strings.Cut(request, " ")
				if method == "HEAD" && a.UntilClose {
					a.UntilClose = false
				}
				m[0].Script(a)
				c := servertest.Dial(t, d.Address)
				c.Send(request, "\r\n")
				r := c.Final(method)
				want := a.Body + strings.Join(a.Chunks, "")
				if method == "HEAD" || a.Status != 0 {
					want = ""
				}
				if r.Err != nil || r.Body != want {
					t.Errorf("got %s%.20q..., %v", r.Head, r.Body, r.Err)
				}
				old := strings.Contains(request, "HTTP/1.0")
				if te := r.Fields("Transfer-Encoding"); old && len(te) > 0 {
					t.Errorf("F11: HTTP/1.0 got %v", te)
				}
				if name == "chunked" && !old && method == "GET" && r.Trailer.Get("X-Sum") != "5" {
					t.Errorf("F13: trailer %v", r.Trailer)
				}
				if name == "304" && strings.Join(r.Fields("Content-Length"), "") != "5" {
					t.Errorf("304 without its Content-Length: %s", r.Head)
				}
				if ct := r.Fields("Content-Type"); len(ct) > 0 {
					t.Errorf("F15: a Content-Type was made up: %v", ct)
				}
				if len(r.Fields("Date")) != 1 {
					t.Errorf("Date: %v", r.Fields("Date"))
				}
				if closes(r) {
					if rest, err := c.Rest(); rest != "" || err != nil {
						t.Errorf("behind the answer: %q, %v", rest, err)
					}
				} else if strings.Contains(request, "close") || old && !strings.Contains(request, "keep-alive") {
					t.Errorf("the connection is kept: %s", r.Head)
				}
			})
		}
	}
}

func TestChunkedUploadWithTrailers(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Digest())
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	c := servertest.Dial(t, d.Address)
	long := strings.Repeat("z", 0x12345)
	upload := "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n12345\r\n" + long + "\r\n0\r\nX-Sum: 1\r\nHost: evil\r\n\r\n"
	// The second request is pipelined behind the first one's last chunk.
	c.Send(upload, "GET /second HTTP/1.1\r\nHost: x\r\n\r\n")
	if r := c.Final("POST"); !strings.HasSuffix(r.Body, " 74570\n") {
		t.Errorf("got %s%s", r.Head, r.Body)
	}
	if r := c.Final("GET"); r.Status != 200 {
		t.Errorf("pipelined: %s", r.Head)
	}
	got := m[0].WaitRequests(2)
	if got[0].Trailer.Get("X-Sum") != "1" || got[0].Trailer.Get("Host") != "" {
		t.Errorf("trailer %v", got[0].Trailer)
	}
	if got[1].Target != "/second" {
		t.Errorf("second request %q", got[1].Target)
	}
}

// F07: bytes behind a complete answer never answer the next client.
func TestF07BytesBehindAnAnswer(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"keepalive: 1"}})
	evil := "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
	m[0].Script(servertest.Answer{Body: "one", Behind: evil}, servertest.Answer{Status: 204, Behind: evil}, servertest.Answer{Body: "three", Behind: evil})
	for _, want := range []string{"one", "", "three", "a"} {
		if r := d.Get("/"); r.Body != want {
			t.Errorf("got %q, want %q", r.Body, want)
		}
	}
}

// F09: a body that the member breaks off looks broken to the client, and is the member's failure.
func TestF09BrokenBody(t *testing.T) {
	for name, a := range map[string]servertest.Answer{
		"chunked": {Chunks: []string{"hello", "world"}},
		"length":  {Body: strings.Repeat("x", 100)},
	} {
		t.Run(name, func(t *testing.T) {
			m := named(t, "a", "b")
			d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
			m[0].Script(servertest.CutBody(5, a))
			r := d.Get("/")
			if r.Err == nil || len(r.Body) > 5 {
				t.Errorf("got %q, %v", r.Body, r.Err)
			}
			if u := show(t, d).Members[0]; u.ConsecutiveFailures != 1 || u.LastFailure != "body_broken" {
				t.Errorf("member %+v", u)
			}
			if n := d.Lines(1)[0]["upstream_attempts"]; n != 1.0 {
				t.Errorf("%v attempts", n)
			}
		})
	}
}
