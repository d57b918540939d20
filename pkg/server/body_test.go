package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// E01: a member that answers before it has read the body is heard at once.
func TestE01EarlyAnswerToExpect(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	for range 10 {
		m[0].Script(servertest.Early(0, servertest.Answer{Status: 401, Body: "no"}))
	}
	var conns []*servertest.Conn
	for range 10 {
		c := servertest.Dial(t, d.Address)
		c.Send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
		conns = append(conns, c)
	}
	for _, c := range conns {
		if r := c.Response("POST"); r.Status != 401 || r.Body != "no" || !closes(r) {
			t.Errorf("got %s%s", r.Head, r.Body)
		}
	}
	if r := d.Get("/"); r.Status != 200 {
		t.Errorf("afterwards: %d", r.Status)
	}
	if f := show(t, d).Members[0].ConsecutiveFailures; f != 0 {
		t.Errorf("%d failures", f)
	}
}

func TestExpectEndToEnd(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Digest())
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	t.Run("the member says 100", func(t *testing.T) {
		c := servertest.Dial(t, d.Address)
		c.Send("PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
		if r := c.Response("PUT"); r.Status != 100 {
			t.Fatalf("got %s", r.Head)
		}
		c.Send("test")
		if r := c.Response("PUT"); r.Status != 200 || !strings.HasSuffix(r.Body, " 4\n") {
			t.Errorf("got %s%s", r.Head, r.Body)
		}
	})
	t.Run("we say it for a silent one", func(t *testing.T) {
		m[0].Script(servertest.Answer{Silent: true, Body: "late"})
		c := servertest.Dial(t, d.Address)
		c.Send("PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
		if r := c.Response("PUT"); r.Status != 100 {
			t.Fatalf("got %s", r.Head)
		}
		c.Send("test")
		if r := c.Response("PUT"); r.Body != "late" {
			t.Errorf("got %s%s", r.Head, r.Body)
		}
	})
}

// E03: interim answers are passed on and never taken for the final one.
func TestE03InterimAnswers(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"retries: 0"}})
	hint := servertest.Answer{Status: 103, Header: []string{"Link: </a>", "Connection: X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5"}}
	m[0].Default(servertest.Answer{Body: "final", Interim: []servertest.Answer{{Status: 102}, hint}})

	c := servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	var statuses []int
	for range 3 {
		r := c.Response("GET")
		statuses = append(statuses, r.Status)
		if r.Status == 103 && (r.Header.Get("Link") != "</a>" || r.Header.Get("X-Hop")+r.Header.Get("Keep-Alive")+r.Header.Get("Connection") != "") {
			t.Errorf("H03: hop-by-hop fields in a 103: %s", r.Head)
		}
	}
	if fmt.Sprint(statuses) != "[102 103 200]" {
		t.Errorf("got %v", statuses)
	}

	old := servertest.Dial(t, d.Address)
	old.Send("GET / HTTP/1.0\r\n\r\n")
	if text, err := old.Rest(); err != nil || !strings.HasPrefix(text, "HTTP/1.1 200 ") || !strings.HasSuffix(text, "\r\n\r\nfinal") {
		t.Errorf("HTTP/1.0 got %q, %v", text, err)
	}

	many := make([]servertest.Answer, 1000)
	for i := range many {
		many[i].Status = 102
	}
	m[0].Script(servertest.Answer{Interim: many})
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	c.CloseWrite()
	if text, err := c.Rest(); err != nil || strings.Count(text, "HTTP/1.1 102 ") != 100 || !strings.Contains(text, "HTTP/1.1 502 ") {
		t.Errorf("1,000 interim answers: got %q, %v", text, err)
	}
	if f := show(t, d).Members[0]; f.LastFailure != "malformed_response" {
		t.Errorf("1,000 interim answers: %+v", f)
	}
}

// E05: our own refusal comes without a 100.
func TestE05RefusalWithoutContinue(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"max_body: 10"}})
	for range 5 {
		c := servertest.Dial(t, d.Address)
		c.Send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n")
		if r := c.Response("POST"); r.Status != 413 {
			t.Errorf("got %s", r.Head)
		}
	}
	if n := len(m[0].Requests()); n != 0 {
		t.Errorf("the member got %d requests", n)
	}
}

// E07: a client that has sent its request and ends its direction gets its answer.
func TestE07HalfClosedClient(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Hold(servertest.Answer{Body: "slow"}))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	for i, text := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"} {
		c := servertest.Dial(t, d.Address)
		c.Send(text)
		c.CloseWrite()
		m[0].WaitBodies(i + 1)
		m[0].Release()
		if r := c.Final("GET"); r.Status != 200 || r.Body != "slow" {
			t.Errorf("got %s%s", r.Head, r.Body)
		}
	}
	if f := show(t, d).Members[0].ConsecutiveFailures; f != 0 {
		t.Errorf("%d failures", f)
	}
}

// clientFaults: each is answered, blames no member and is not retried.
func TestClientFaultsLeaveHealthAlone(t *testing.T) {
	type fault struct {
		name   string
		server []string
		send   func(c *servertest.Conn)
		status int
	}
	head := "PUT / HTTP/1.1\r\nHost: x\r\n"
	half := func(text string) func(*servertest.Conn) {
		return func(c *servertest.Conn) { c.Send(text); c.CloseWrite() }
	}
	send := func(text string) func(*servertest.Conn) { return func(c *servertest.Conn) { c.Send(text) } }
	chunked := head + "Transfer-Encoding: chunked\r\n\r\n"
	for _, f := range []fault{
		{"chunked over max_body", []string{"max_body: 4"}, send(chunked + "5\r\nhello\r\n"), 413},
		{"gap in a kept upload", []string{"body_read_timeout: 100ms"}, send(head + "Content-Length: 5\r\n\r\nhe"), 408},
		{"gap in a streamed upload", []string{"body_read_timeout: 100ms"}, send(head + "Content-Length: 100000\r\n\r\nhe"), 408},
		{"gap in a chunked upload", []string{"body_read_timeout: 100ms"}, send(chunked + "5\r\nhe"), 408},
		{"aborted kept upload", nil, half(head + "Content-Length: 5\r\n\r\nhe"), 400},
		{"aborted streamed upload", nil, half(head + "Content-Length: 100000\r\n\r\nhe"), 400},
		{"aborted chunked upload", nil, half(chunked + "5\r\nhe"), 400},
		{"F05 chunk size ZZ", nil, send(chunked + "ZZ\r\nhello\r\n0\r\n\r\n"), 400},
		{"F05 chunk size -1", nil, send(chunked + "-1\r\nhello\r\n0\r\n\r\n"), 400},
		{"F05 chunk size 0x5", nil, send(chunked + "0x5\r\nhello\r\n0\r\n\r\n"), 400},
		{"F05 17 hex digits", nil, send(chunked + "00000000000000005\r\nhello\r\n0\r\n\r\n"), 400},
		{"F05 chunk longer than announced", nil, send(chunked + "3\r\nhello\r\n0\r\n\r\n"), 400},
		{"F03 bare LF as a chunk's end", nil, send(chunked + "5\nhello\n0\n\n"), 400},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			m := named(t, "a", "b")
			d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: f.server, Pool: []string{"passive_health: {failures: 1}"}})
			for range 3 {
				c := servertest.Dial(t, d.Address)
				f.send(c)
				if r := c.Final("PUT"); r.Status != f.status || !closes(r) {
					t.Errorf("got %s, want %d and close", r.Head, f.status)
				}
			}
			for _, l := range d.Lines(3) {
				if l["upstream_attempts"].(float64) > 1 {
					t.Errorf("retried: %v", l)
				}
			}
			for _, u := range show(t, d).Members {
				if u.State != "up" || u.ConsecutiveFailures != 0 || u.InFlight != 0 {
					t.Errorf("member %+v", u)
				}
			}
		})
	}
}

// P09: response_timeout passes while the client still sends: 504, nobody's failure, no retry.
func TestP09SlowUploadIsNotTheMembersFault(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{
		Members: addresses(m), Runtime: "{type: proxy, upstream: {pool: p}, response_timeout: 300ms}",
	})
	c := servertest.Dial(t, d.Address)
	c.Send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
	if r := c.Final("PUT"); r.Status != 504 {
		t.Errorf("got %s", r.Head)
	}
	if f := show(t, d).Members[0]; f.ConsecutiveFailures != 0 {
		t.Errorf("blamed: %+v", f)
	}
	if n := d.Lines(1)[0]["upstream_attempts"]; n != 1.0 {
		t.Errorf("%v attempts", n)
	}
}

// P01: clients that go away are nobody's failure.
func TestP01ClientsThatGoAway(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Hold(servertest.Answer{Body: "late"}))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"passive_health: {failures: 1}"}})
	for i := range 20 {
		c := servertest.Dial(t, d.Address)
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		m[0].WaitRequests(i + 1)
		c.Reset()
	}
	// The member's work for a client that is gone is cut off: no release is needed.
	for _, l := range d.Lines(20) {
		if l["status"] != 499.0 {
			t.Errorf("got %v", l)
		}
	}
	if u := show(t, d).Members[0]; u.State != "up" || u.ConsecutiveFailures != 0 || u.InFlight != 0 {
		t.Errorf("member %+v", u)
	}
}

// S01: a head is not held back for its body.
func TestS01HeadComesAtOnce(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.HoldBody(0, servertest.Answer{Header: []string{"Content-Type: text/event-stream"}, Chunks: []string{"data: 1\n\n"}}))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	c := servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if head := c.Read(len("HTTP/1.1 200 OK\r\n")); head != "HTTP/1.1 200 OK\r\n" {
		t.Errorf("got %q", head)
	}
	m[0].Release()
}

// S03: an upload is passed on while it is still coming.
func TestS03UploadIsStreamed(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"max_body: 0"}})
	c := servertest.Dial(t, d.Address)
	c.Send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
	piece := strings.Repeat("x", 1<<20)
	for range 25 {
		c.Send(piece)
	}
	m[0].Wait("24 MiB of a 100 MB upload", func(r []servertest.Request) bool { return len(r) == 1 && r[0].Length >= 24<<20 })
	c.Reset()
	m[0].WaitOpen(0)
}

// A slow client holds no memory beyond the buffers: the member is held back.
func TestSlowClientHoldsTheMemberBack(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Stream(1 << 30))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"idle_timeout: 300ms"}})
	c := servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	// The client reads nothing. After idle_timeout without progress it is given up.
	if l := d.Lines(1)[0]; l["status"] != 499.0 || l["bytes_out"].(float64) > 64<<20 {
		t.Errorf("got %v", l)
	}
	m[0].WaitOpen(0)
	_ = c
}

func TestUploadAndAnswerAtTheSameTime(t *testing.T) {
	// The member answers each piece as it reads it: both directions run at once.
	m := named(t, "a")
	m[0].Default(servertest.Do(func(x *servertest.Exchange) {
		x.Write([]byte("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"))
		for range 3 {
			if x.ReadBody(4) != nil {
				return
			}
			x.Write([]byte("got4"))
		}
		x.Close()
	}))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	c := servertest.Dial(t, d.Address)
	c.Send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
	for {
		if strings.HasSuffix(c.Read(1), "\n") { // through the head
			if line := c.Read(2); line == "\r\n" {
				break
			}
		}
	}
	for i := range 3 {
		c.Send("4\r\ntest\r\n")
		if got, want := c.Read(len("4\r\ngot4\r\n")), "4\r\ngot4\r\n"; got != want {
			t.Fatalf("piece %d: %q", i, got)
		}
	}
}

func TestHeaderTimeout(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"header_timeout: 200ms", "idle_timeout: 300ms"}})
	t.Run("half a head is 408", func(t *testing.T) {
		c := servertest.Dial(t, d.Address)
		c.Send("GET / HTTP/1.1\r\nHost:")
		if r := c.Response("GET"); r.Status != 408 {
			t.Errorf("got %s", r.Head)
		}
	})
	t.Run("a silent connection is closed without a word", func(t *testing.T) {
		c := servertest.Dial(t, d.Address)
		if text, err := c.Rest(); text != "" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
	t.Run("an idle one too", func(t *testing.T) {
		c := servertest.Dial(t, d.Address)
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		c.Response("GET")
		if text, err := c.Rest(); text != "" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

// closes is true if the answer announces the end of the connection.
func closes(r servertest.Response) bool { return strings.Join(r.Fields("Connection"), "") == "close" }
