package server_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server"
)

// A connection that waits for a request holds no buffer, also where many had one at the same time: what is left are the
// few that a loop keeps for its next requests.
func TestIdleConnectionsHoldNoBuffers(t *testing.T) {
	const connections, shelf = 300, 64
	tests := map[string]struct {
		request string
		answer  servertest.Answer
	}{
		"plain": {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", servertest.Answer{Body: "hello"}},
		"trailers": {
			"PUT / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\nConnection: te\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n",
			servertest.Answer{Chunks: []string{"hello"}, Trailer: []string{"X-Sum: 1"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := named(t, "a")[0]
			m.Default(servertest.HoldBody(2, tt.answer))
			dir := servertest.SocketDir(t)
			rate := runtime.MemProfileRate
			runtime.MemProfileRate = 1
			defer func() { runtime.MemProfileRate = rate }()
			before := buffersInUse()
			s, err := server.New(server.Options{File: "x.yaml", AdminSocket: filepath.Join(dir, "admin.sock"), Loops: 1, Text: fmt.Appendf(nil, `
server:
  listeners: [{name: http, address: "127.0.0.1:0"}]
access_log: {output: off}
upstreams: {p: {members: [{address: %q}]}}
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, upstream: {pool: p}}}]}]
`, m.Address())})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Run(ctx) }()
			conns := make([]*servertest.Conn, connections)
			for i := range conns {
				conns[i] = servertest.Dial(t, s.Addr("http").String())
				conns[i].Send(tt.request)
			}
			m.WaitBodies(connections)
			m.Release()
			for _, c := range conns {
				if r := c.Final("GET"); r.Status != 200 || r.Body != "hello" {
					t.Fatalf("got %s%s", r.Head, r.Body)
				}
			}
			if most := buffersInUse() - before; most > 2*shelf {
				t.Errorf("%d connections that wait hold %d buffers", connections, most)
			}
			for _, c := range conns {
				c.Close()
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// buffersInUse is how many buffers of the data plane are not garbage, of those that were made since every allocation is
// recorded.
func buffersInUse() int {
	for range 3 { // pools keep what is in them for two
		runtime.GC()
	}
	var records []runtime.MemProfileRecord
	for n, ok := runtime.MemProfile(nil, false); !ok; n, ok = runtime.MemProfile(records, false) {
		records = make([]runtime.MemProfileRecord, n+n/4+64)
	}
	inUse := 0
	for _, r := range records {
		frames := runtime.CallersFrames(r.Stack())
		for more := true; more; {
			var f runtime.Frame
			if f, more = frames.Next(); strings.HasSuffix(f.Function, "proxy.(*buffers).get") {
				inUse += int(r.InUseObjects())
				break
			}
		}
	}
	return inUse
}
