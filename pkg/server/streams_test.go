package server_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
)

// A head that needed a larger window leaves more of a chunked body in it than one buffer takes.
func TestChunkedUploadBehindALargeHead(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Digest())
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"max_header: 256KiB"}})
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "%07d\n", i)
	}
	c := servertest.Dial(t, d.Address)
	c.Send("POST / HTTP/1.1\r\nHost: x\r\nX: ", strings.Repeat("x", 70_000), "\r\nTransfer-Encoding: chunked\r\n\r\n",
		fmt.Sprintf("%x\r\n", b.Len()), b.String(), "\r\n0\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n")
	if r, want := c.Final("POST"), fmt.Sprintf("%x %d\n", sha256.Sum256([]byte(b.String())), b.Len()); r.Body != want {
		t.Errorf("got %s%s, want %s", r.Head, r.Body, want)
	}
	if r := c.Final("GET"); r.Status != 200 {
		t.Errorf("pipelined: %s", r.Head)
	}
}

// A handshake has no body (RFC 6455 section 4.1): with one, it is no handshake.
func TestNoTunnelForARequestWithABody(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	for _, text := range []string{
		"POST /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\nx",
	} {
		c := servertest.Dial(t, d.Address)
		c.Send(text)
		if r := c.Final("GET"); r.Status != 200 {
			t.Errorf("got %s", r.Head)
		}
	}
	for _, r := range m[0].WaitRequests(2) {
		if u := r.Fields("Upgrade"); len(u) > 0 {
			t.Errorf("the member was asked for an upgrade: %s", r.Head)
		}
	}
}

// A client that never pauses is not idle, however slow it is.
func TestSlowClientIsNotIdle(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Stream(64 << 20))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"idle_timeout: 1s"}})
	conn, err := net.Dial("tcp", d.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	piece := make([]byte, 4<<10) // 400 KB/s
	for range 300 {
		<-tick.C
		if _, err := conn.Read(piece); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.MetricsText(); got == "" {
		t.Fatal("no metrics")
	}
	if u := show(t, d).Members[0]; u.InFlight != 1 {
		t.Errorf("the answer was cut off: %v", d.Lines(1)[0])
	}
}
