package server_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server"
)

// What waits in the backlog is served before a listener closes, however long its loop takes to come to it: a daemon that
// is stopped, one that is stopped before it has begun, and a listener that a reload takes away.
func TestBacklogIsServed(t *testing.T) {
	const slow = 200 * time.Millisecond // ten times what a listener waits for handshakes
	m := named(t, "a")[0]
	tests := map[string]func(s *server.Server, run, serve, stop, reload func()){
		"stop":         func(s *server.Server, _, serve, stop, _ func()) { serve(); s.SlowTask(stop, slow) },
		"stop at once": func(s *server.Server, run, _, stop, _ func()) { s.SlowTask(func() { stop(); run() }, slow) },
		"reload":       func(s *server.Server, _, serve, _, reload func()) { serve(); s.SlowTask(reload, slow) },
	}
	for name, end := range tests {
		t.Run(name, func(t *testing.T) {
			dir := servertest.SocketDir(t)
			file := filepath.Join(dir, "scalws.yaml")
			configure := func(listeners string) {
				text := fmt.Appendf(nil, `
server:
  listeners: [{name: stays, address: "unix:%s"}%s]
access_log: {output: off}
upstreams: {p: {members: [{address: %q}]}}
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, upstream: {pool: p}}}]}]
`, filepath.Join(dir, "stays.sock"), listeners, m.Address())
				if err := os.WriteFile(file, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			configure(`, {name: goes, address: "127.0.0.1:0"}`)
			s, err := server.New(server.Options{File: file, AdminSocket: filepath.Join(dir, "admin.sock"), Loops: 1})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended, reloaded := make(chan error, 1), make(chan error, 1)
			ask := func() *servertest.Conn {
				c := servertest.Dial(t, s.Addr("goes").String())
				c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				return c
			}
			c := make([]*servertest.Conn, 3)
			connect := func() {
				for i := range c {
					c[i] = ask()
				}
			}
			run := func() { go func() { ended <- s.Run(ctx) }() }
			end(s,
				run,
				func() {
					run()
					c := ask()
					c.Final("GET")
					c.Close()
				},
				func() { connect(); stop() },
				func() {
					connect()
					configure("")
					go func() { _, err := s.Reload("test"); reloaded <- err }()
				})
			for _, c := range c {
				if r := c.Final("GET"); r.Status != 200 || !closes(r) {
					t.Errorf("got %s", r.Head)
				}
				c.Close()
			}
			if name == "reload" {
				if err := <-reloaded; err != nil {
					t.Error(err)
				}
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
