package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// E03: an interim answer rules out retries, not the final answer.
func TestE03FinalAnswerAfterAnInterimOne(t *testing.T) {
	head := "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
	for _, c := range []struct {
		name       string
		server     []string
		send, then string
		status     int
	}{
		{"too large", []string{"max_body: 4"}, "Transfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n", 413},
		{"malformed", nil, "Transfer-Encoding: chunked\r\n\r\n", "zz\r\n", 400},
		{"gap", []string{"body_read_timeout: 100ms"}, "Content-Length: 5\r\n\r\n", "he", 408},
		{"member closes", nil, "Content-Length: 5\r\n\r\n", "hello", 502},
		{"member is slow", []string{"upstream_client: {response_timeout: 200ms}"}, "Content-Length: 5\r\n\r\n", "hello", 504},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := named(t, "a")
			m[0].Default(servertest.Do(func(x *servertest.Exchange) {
				x.Continue()
				if x.ReadBody(-1) == nil && c.status == 504 {
					x.WaitRelease()
				}
				x.Close()
			}))
			d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: c.server})
			conn := servertest.Dial(t, d.Address)
			conn.Send(head, c.send)
			if r := conn.Response("POST"); r.Status != 100 {
				t.Fatalf("got %s", r.Head)
			}
			conn.Send(c.then)
			conn.CloseWrite()
			rest, err := conn.Rest()
			// A client that half-closes within a body is one that cut it short, unless the fault came first.
			if !strings.HasPrefix(rest, fmt.Sprintf("HTTP/1.1 %d ", c.status)) && !(c.status == 408 && strings.HasPrefix(rest, "HTTP/1.1 400 ")) {
				t.Errorf("got %q, %v; want %d", rest, err, c.status)
			}
			if l := d.Lines(1)[0]; l["status"] == 0.0 {
				t.Errorf("log: status %v", l["status"])
			}
		})
	}
}
