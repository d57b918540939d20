package server_test

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// quietMember answers every read with the same bytes and allocates nothing.
func quietMember(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 4096)
				answer := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n")
				for {
					if _, err := c.Read(buf); err != nil {
						return
					}
					if _, err := c.Write(answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// quietClient sends the same request and reads an answer without looking at it.
func quietClient(t testing.TB, address string, fields ...string) (once func()) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return quietRequests(t, c, fields...)
}

// quietRequests is quietClient on a connection that exists.
func quietRequests(t testing.TB, c net.Conn, fields ...string) (once func()) {
	t.Helper()
	t.Cleanup(func() { c.Close() })
	request := []byte("GET /index.html?a=1 HTTP/1.1\r\nHost: example.com\r\nUser-Agent: test/1\r\nAccept: */*\r\nCookie: SESSION=abcdef\r\n" +
		strings.Join(append(fields, ""), "\r\n") + "\r\n")
	buf := make([]byte, 4096)
	return func() {
		if _, err := c.Write(request); err != nil {
			t.Fatal(err)
		}
		n := 0
		for {
			m, err := c.Read(buf[n:])
			if err != nil && err != io.EOF {
				t.Fatal(err)
			}
			n += m
			if n >= 6 && string(buf[n-6:n]) == "hello\n" {
				return
			}
			if m == 0 {
				t.Fatalf("closed after %q", buf[:n])
			}
		}
	}
}

// In steady state a proxied request allocates nothing, log and metrics included.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop buffers at random")
	}
	for _, pool := range [][]string{nil, {"balance: least_conn"}, {"balance: hash", "hash: {by: client_ip}"}} {
		d := servertest.Start(t, servertest.Setup{Members: []string{quietMember(t), quietMember(t)}, Pool: pool})
		once := quietClient(t, d.Address)
		for range 100 {
			once()
		}
		if n := testing.AllocsPerRun(2000, once); n != 0 {
			t.Errorf("%v: %v allocations a request, want 0", pool, n)
		}
	}
}

// Behind a trusted proxy it allocates nothing either.
func TestSteadyStateBehindProxyAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop buffers at random")
	}
	for _, field := range []string{"X-Forwarded-For: 2001:db8::1, 192.0.2.1:4711", `Forwarded: for="[2001:db8::1]:4711";proto=https`} {
		for _, way := range []string{"x", "both", "rfc7239"} {
			d := servertest.Start(t, servertest.Setup{
				Members: []string{quietMember(t)}, Server: []string{"trusted_proxies: [127.0.0.1]", "forwarded: " + way},
			})
			once := quietClient(t, d.Address, field)
			for range 100 {
				once()
			}
			if n := testing.AllocsPerRun(500, once); n != 0 {
				t.Errorf("%s, forwarded %s: %v allocations a request, want 0", field, way, n)
			}
		}
	}
}

// Over TLS there is what crypto/tls allocates for each record that it reads, once here and once at the client, and
// nothing else.
func TestSteadyStateOverTLS(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop buffers at random")
	}
	d, config := front(t, servertest.Setup{Members: []string{quietMember(t)}})
	c, err := tls.Dial("tcp", d.Address, config)
	if err != nil {
		t.Fatal(err)
	}
	once := quietRequests(t, c)
	for range 100 {
		once()
	}
	if n := testing.AllocsPerRun(2000, once); n > 2 {
		t.Errorf("%v allocations a request, want those of two records that were read", n)
	}
}

// BenchmarkRequest is one request through the daemon and back, client and member included.
func BenchmarkRequest(b *testing.B) {
	d := servertest.Start(b, servertest.Setup{Members: []string{quietMember(b), quietMember(b)}})
	once := quietClient(b, d.Address)
	b.ReportAllocs()
	for b.Loop() {
		once()
	}
}
