package server_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server"
)

// X03: a client over a unix socket has no address. Nothing is left of a client over TCP whose connection's state
// is used again for it: connections come in turn, of every kind, and each gets what it would get alone.
func TestX03UnixListener(t *testing.T) {
	dir := servertest.SocketDir(t)
	m := named(t, "a", "b")
	path, logFile := filepath.Join(dir, "http.sock"), filepath.Join(dir, "log")
	s, err := server.New(server.Options{File: "x.yaml", AdminSocket: filepath.Join(dir, "admin.sock"), Text: fmt.Appendf(nil, `
server:
  listeners: [{name: tcp, address: "127.0.0.1:0"}, {name: unix, address: "unix:%s"}]
  trusted_proxies: [127.0.0.1]
access_log: {output: %q}
upstreams: {p: {members: [{address: %q}, {address: %q}], balance: hash, hash: {by: client_ip}}}
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, upstream: {pool: p}}}]}]
`, path, logFile, m[0].Address(), m[1].Address())})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()

	const ask = "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.9\r\nX-Forwarded-Proto: https\r\nX-Request-Id: theirs\r\n"
	tcp := func(text string) {
		c := servertest.Dial(t, s.Addr("tcp").String())
		c.Send(text)
		c.Final("GET")
		c.Close()
	}
	seen := map[string]bool{}
	for range 10 {
		for _, before := range []string{
			ask + "\r\n", // a trusted client
			"GET / HTTP/1.0\r\nHost: x\r\n\r\n",
			"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", // a client at fault
			"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nT: 1\r\n\r\n",
			"nonsense\r\n\r\n",
		} {
			tcp(before)
			c := servertest.Dial(t, "unix:"+path)
			c.Send(ask + "\r\n")
			r := c.Final("GET")
			if r.Status != 200 || r.Proto != "HTTP/1.1" || closes(r) {
				t.Fatalf("over the unix socket, after %q: %s", before, r.Head)
			}
			seen[r.Body] = true
			c.Send("GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			if rest, err := c.Rest(); err != nil || !strings.HasPrefix(rest, "HTTP/1.1 200 ") {
				t.Fatalf("second request: %q, %v", rest, err)
			} else {
				seen[rest[len(rest)-1:]] = true
			}
		}
	}
	if len(seen) != 2 {
		t.Errorf("clients without an address do not go round robin: %v", seen)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	overUnix := 0
	for i := range m {
		for _, r := range m[i].Requests() {
			if len(r.Fields("X-Forwarded-For")) == 0 {
				overUnix++
				if got := strings.Join(r.Fields("X-Forwarded-Proto"), ","); got != "http" {
					t.Errorf("X-Forwarded-Proto of a unix client: %q", got)
				}
			}
			for _, v := range r.Fields("X-Forwarded-For") {
				for _, hop := range strings.Split(v, ", ") {
					if net.ParseIP(hop) == nil {
						t.Errorf("X-Forwarded-For: %q", v)
					}
				}
			}
		}
	}
	if overUnix != 100 {
		t.Errorf("%d requests came without X-Forwarded-For, want 100", overUnix)
	}
	text, err := os.ReadFile(logFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.Contains(l, `"listener":"unix"`) && !strings.Contains(l, `"listener":"unix","client_ip":"-"`) {
			t.Errorf("the log of a unix client has an address: %s", l)
		}
	}
}
