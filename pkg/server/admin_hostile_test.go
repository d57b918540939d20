package server_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// What comes to the socket as bytes: it is answered with a problem where it is HTTP, by a line of text where
// it is not, and it changes nothing.
func TestHostileBytes(t *testing.T) {
	const put = "PUT /v1/upstreams/p HTTP/1.1\r\nHost: x\r\n"
	const list = `{"members": [{"address": "192.0.2.66:80"}]}`
	million := strings.Repeat("x", 1_000_000)
	tests := []struct {
		name, bytes string
		// status is 0 where there is no answer; problem where it is one.
		status  int
		problem bool
	}{
		{"a field of a million bytes", put + "X: " + million + "\r\n\r\n", 431, false},
		{"a million bytes of fields", put + strings.Repeat("X: 123456\r\n", 100_000) + "\r\n", 431, false},
		{"a target of a million bytes", "GET /" + million + " HTTP/1.1\r\nHost: x\r\n\r\n", 431, false},
		{"half a head", "PUT /v1/upstreams/p HTTP/1.1\r\nHo", 0, false},
		{"half a body", put + "Content-Length: 44\r\n\r\n" + list, 400, true},
		{"half a chunk", put + "Transfer-Encoding: chunked\r\n\r\n2b\r\n" + list, 400, true},
		{"a broken chunk", put + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + list + "\r\n0\r\n\r\n", 400, true},
		{"two lengths", put + "Content-Length: 44\r\nContent-Length: 43\r\n\r\n" + list, 400, false},
		{"a negative length", put + "Content-Length: -1\r\n\r\n" + list, 400, false},
		{"a length beyond all", put + "Content-Length: 9223372036854775807\r\n\r\n" + list, 413, true},
		{"an unknown coding", put + "Transfer-Encoding: gzip, chunked\r\n\r\n" + list, 501, false},
		{"an unknown expectation", put + "Expect: the-worst\r\nContent-Length: 43\r\n\r\n" + list, 417, false},
		{"no host", "PUT /v1/upstreams/p HTTP/1.1\r\nContent-Length: 43\r\n\r\n" + list, 400, false},
		{"another method", "BREW /v1/upstreams/p HTTP/1.1\r\nHost: x\r\nContent-Length: 43\r\n\r\n" + list, 405, true},
		{"no method", " /v1/upstreams/p HTTP/1.1\r\nHost: x\r\n\r\n", 400, false},
		{"CONNECT", "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", 404, true},
		{"OPTIONS of all", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404, true},
		{"a whole address", "PUT http://x/v1/upstreams/none HTTP/1.1\r\nHost: x\r\nContent-Length: 43\r\n\r\n" + list, 404, true},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 404, true},
		{"TLS", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n", 400, false},
		{"zeros", strings.Repeat("\x00", 1000) + "\r\n\r\n", 400, false},
		{"a request in a body", put + "Content-Length: 2\r\n\r\n{}" + put + "Content-Length: 99\r\n\r\n{", 400, true},
	}
	d := servertest.Start(t, servertest.Setup{})
	before := show(t, d)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn := dialSocket(t, d)
			// The daemon may answer before it has taken everything.
			go func() {
				_, _ = io.WriteString(conn, tt.bytes)
				_ = conn.CloseWrite()
			}()
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if tt.status == 0 {
				if err == nil && res.StatusCode/100 != 4 {
					t.Errorf("answered %s", res.Status)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			var p api.Problem
			if problem := json.NewDecoder(res.Body).Decode(&p) == nil; res.StatusCode != tt.status || problem != tt.problem {
				t.Errorf("answered %s, %+v", res.Status, p)
			}
		})
	}
	if diff := cmp.Diff(before, show(t, d)); diff != "" {
		t.Errorf("the pool has changed: %s", diff)
	}
}

func dialSocket(t *testing.T, d *servertest.Daemon) *net.UnixConn {
	t.Helper()
	conn, err := net.Dial("unix", d.Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.UnixConn)
}

// Many who send heads and bodies without an end cost no more than the limits say: for each connection a head
// of 32 KiB and the buffers of net/http, or a body of 2 MiB as it grows.
func TestHostileMemory(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{})
	chunk := strings.Repeat("x", 1<<20)
	tests := []struct {
		name, head, endless string
		most                uint64
	}{
		{"heads", "GET /v1/status HTTP/1.1\r\nHost: x\r\nX: ", chunk, 512 << 10},
		{"bodies", "PUT /v1/upstreams/p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "100000\r\n" + chunk + "\r\n", 12 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const clients = 10
			endless := []byte(tt.endless) // not copied for each client: only the daemon's cost counts
			allocated := func() uint64 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.TotalAlloc
			}
			before := allocated()
			var all sync.WaitGroup
			for range clients {
				conn := dialSocket(t, d)
				all.Go(func() {
					if _, err := io.WriteString(conn, tt.head); err != nil {
						t.Error(err)
					}
					for range 64 {
						if _, err := conn.Write(endless); err != nil {
							return // the daemon has had enough
						}
					}
					t.Error("the daemon took 64 MiB")
				})
			}
			all.Wait()
			if cost := (allocated() - before) / clients; cost > tt.most {
				t.Errorf("%d bytes a client, more than %d", cost, tt.most)
			}
		})
	}
}
