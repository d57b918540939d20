package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// F01: the body of a request that is refused before it has a route is never read as the next request.
func TestF01BodyOfARefusedRequest(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Rest: strings.ReplaceAll(`upstreams:
  p: {members: [{address: "ADDR"}]}
tenants: [{name: t, applications: [
  {name: a, domains: [known], runtime: {type: proxy, upstream: {pool: p}, websocket: false}}]}]
`, "ADDR", m[0].Address())})
	evil := "GET /smuggled HTTP/1.1\r\nHost: known\r\n\r\n"
	length := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(evil), evil)
	chunked := fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(evil), evil)
	for name, head := range map[string]string{
		"404": "POST / HTTP/1.1\r\nHost: unknown\r\n",
		"405": "TRACE / HTTP/1.1\r\nHost: known\r\n",
		"403": "GET / HTTP/1.1\r\nHost: known\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
	} {
		for framing, body := range map[string]string{"length": length, "chunked": chunked} {
			t.Run(name+" "+framing, func(t *testing.T) {
				c := servertest.Dial(t, d.Address)
				c.Send(head, body)
				c.CloseWrite()
				rest, err := c.Rest()
				if n := strings.Count(rest, "HTTP/1.1 "); n != 1 || err != nil {
					t.Errorf("%d answers to one request: %q, %v", n, rest, err)
				}
			})
		}
	}
	for _, r := range m[0].Requests() {
		if r.Target == "/smuggled" {
			t.Errorf("the member got %s", r.Head)
		}
	}

	// A short body is skipped, and the connection goes on behind it.
	c := servertest.Dial(t, d.Address)
	c.Send("POST / HTTP/1.1\r\nHost: unknown\r\n"+length, "GET /next HTTP/1.1\r\nHost: known\r\n\r\n")
	if r := c.Final("POST"); r.Status != 404 || closes(r) {
		t.Errorf("got %s", r.Head)
	}
	if r := c.Final("GET"); r.Status != 200 || r.Body != "a" {
		t.Errorf("behind it: %s%s", r.Head, r.Body)
	}
}
