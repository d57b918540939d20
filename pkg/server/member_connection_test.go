package server_test

import (
	"io"
	"slices"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// F07: a member's connection carries another request only if the one before left it clean. Whatever was left on it, the
// next client gets its own answer.
func TestF07WhichMemberConnectionIsUsedAgain(t *testing.T) {
	raw := func(text string) servertest.Step {
		return servertest.Do(func(x *servertest.Exchange) { x.ReadBody(-1); io.WriteString(x, text) })
	}
	sent := make(chan struct{}) // by one row at a time: they do not run in parallel
	late := func(text, more string) servertest.Step {
		return servertest.Do(func(x *servertest.Exchange) {
			x.ReadBody(-1)
			io.WriteString(x, text)
			if x.WaitRelease() {
				io.WriteString(x, more)
				sent <- struct{}{}
			}
		})
	}
	const evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
	get, head := "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"
	put := "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\ntest"
	big := "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
	chunked := "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ntest\r\n0\r\n\r\n"
	expect := "PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
	for _, row := range []struct {
		name  string
		step  servertest.Step
		send  string
		late  bool // the member sends more once the answer was passed on
		again bool // the next request comes over the same connection
	}{
		{"a length", servertest.Answer{Body: "x"}, get, false, true},
		{"chunks with trailers", servertest.Answer{Chunks: []string{"x"}, Trailer: []string{"X-Sum: 1"}}, get, false, true},
		{"an interim answer", servertest.Answer{Interim: []servertest.Answer{{Status: 103}}, Body: "x"}, get, false, true},
		{"204", servertest.Answer{Status: 204}, get, false, true},
		{"304 with a length", servertest.Answer{Status: 304, Header: []string{"Content-Length: 5"}}, get, false, true},
		{"HEAD with a length", servertest.Answer{Body: "x"}, head, false, true},
		{"HEAD with neither", raw("HTTP/1.1 200 OK\r\n\r\n"), head, false, true},
		{"HTTP/1.0 that keeps", raw("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx"), get, false, true},
		{"an upload", servertest.Digest(), put, false, true},
		{"chunks of an upload", servertest.Digest(), chunked, false, true},
		{"a refused upgrade", servertest.Status(426), upgrade, false, true},

		{"HTTP/1.0", raw("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx"), get, false, false},
		{"close", servertest.Answer{Header: []string{"Connection: x, Close"}, Body: "x"}, get, false, false},
		{"204 with a length", servertest.Answer{Status: 204, Header: []string{"Content-Length: 45"}}, get, false, false},
		{"HEAD with a body", raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"), head, false, false},
		{"bytes behind it", servertest.Answer{Body: "x", Behind: evil}, get, false, false},
		{"bytes behind chunks", servertest.Answer{Chunks: []string{"x"}, Behind: evil}, get, false, false},
		{"bytes behind it, later", late("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", evil), get, true, false},
		{"the end of chunks behind a 304", late("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n\r\n"), get, true, false},
		{"a body behind HEAD", late("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "evil"), head, true, false},
		{"a 408 while it is idle", late("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"), get, true, false},
		{"an answer before the upload", servertest.Early(0, servertest.Answer{Body: "x"}), big, false, false},
		{"a success instead of 100", servertest.Early(0, servertest.Answer{Body: "x"}), expect, false, false},
		{"a refusal instead of 100", servertest.Early(0, servertest.Answer{Status: 417}), expect, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := named(t, "a")
			m[0].Script(row.step)
			d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"keepalive: 1"}})
			c := servertest.Dial(t, d.Address)
			c.Send(row.send)
			method := "GET"
			if row.send == head {
				method = "HEAD"
			}
			if r := c.Final(method); r.Err != nil {
				t.Fatalf("the first answer: %s, %v", r.Head, r.Err)
			}
			c.Close()
			if row.late {
				// Released when it waits: the connection is idle by then.
				d.Until("the first request to be done", func() bool { return show(t, d).Members[0].InFlight == 0 })
				m[0].Release()
				<-sent
			}
			next := servertest.Dial(t, d.Address)
			next.Send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
			if r := next.Final("GET"); r.Status != 200 || r.Body != "a" {
				t.Errorf("the next client got %s%s", r.Head, r.Body)
			}
			all := m[0].Requests()
			i := slices.IndexFunc(all, func(r servertest.Request) bool { return r.Target == "/next" })
			if i < 0 {
				t.Fatalf("the member got %v", all)
			}
			if again := all[i].Connection == 1; again != row.again {
				t.Errorf("used again: %v, want %v", again, row.again)
			}
			if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 || s.LastFailure != "" {
				t.Errorf("the member is blamed: %+v", s)
			}
		})
	}
}
