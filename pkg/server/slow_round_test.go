package server_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server"
)

// A round of a loop may last longer than a timeout, on a machine that stands still. A timeout that goes by within it ends
// the request, and not the loop.
func TestSlowRound(t *testing.T) {
	const timeout = 100 * time.Millisecond
	dir, m := servertest.SocketDir(t), named(t, "a")[0]
	s, err := server.New(server.Options{File: "x.yaml", AdminSocket: filepath.Join(dir, "admin.sock"), Loops: 1, Text: fmt.Appendf(nil, `
server:
  listeners: [{name: http, address: "127.0.0.1:0"}]
access_log: {output: off}
upstreams: {p: {members: [{address: %q}]}}
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, response_timeout: %v, upstream: {pool: p}}}]}]
`, m.Address(), timeout)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()

	c := servertest.Dial(t, s.Addr("http").String())
	ask := func() int {
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		return c.Final("GET").Status
	}
	if got := ask(); got != 200 {
		t.Fatalf("got %d", got)
	}
	s.SlowRound(func() {}, 300*time.Millisecond) // so that no deadline of the last request stands
	m.Script(servertest.Hold(servertest.Answer{}))
	s.SlowRound(func() { c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }, 2*timeout)
	if r := c.Final("GET"); r.Status != 504 {
		t.Errorf("got %d, want 504", r.Status)
	}
	if got := ask(); got != 200 {
		t.Errorf("got %d after it", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
