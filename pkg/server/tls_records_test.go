package server_test

import (
	"crypto/tls"

	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
)

// dialRecords makes a TLS connection and the socket below it.
func dialRecords(t *testing.T, d *servertest.Daemon, config *tls.Config) (*tls.Conn, net.Conn) {
	t.Helper()
	nc, err := net.Dial("tcp", d.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.(*net.TCPConn).SetReadBuffer(32 << 10) // so that an answer that is not read fills it soon
	c := tls.Client(nc, config)
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	return c, nc
}

// Z01: a record that cannot be decrypted ends the connection and nothing else, at whatever point it comes: the alert
// that answers it is the first thing that is written on some of these connections.
func TestZ01RecordsThatAreNoRecords(t *testing.T) {
	bad := "\x17\x03\x03\x00\x20" + strings.Repeat("x", 32)
	for _, row := range []struct{ name, before string }{
		{"instead of a request", ""},
		{"in a head", "GET / HTTP/1.1\r\nHo"},
		{"in a body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc"},
		{"in a small body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := named(t, "a")
			d, config := front(t, servertest.Setup{Members: addresses(m)})
			c, nc := dialRecords(t, d, config)
			io.WriteString(c, row.before)
			io.WriteString(nc, bad)
			c.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.Copy(io.Discard, c); err == nil || !strings.Contains(err.Error(), "bad record MAC") {
				t.Errorf("the client was told: %v", err)
			}
			after := dialTLS(t, d, config)
			after.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			if r := after.Final("GET"); r.Body != "a" {
				t.Errorf("the next client got %s", r.Head)
			}
			d.Until("no connection is left to the member but an idle one", func() bool { return show(t, d).Members[0].InFlight == 0 })
		})
	}
}

// A tunnel has no idle limit over TLS either: a client may rest for longer than idle_timeout with a tunnel full of
// what the member has sent.
func TestTunnelOverTLSWaitsForItsClient(t *testing.T) {
	const size = 16 << 20
	sent := make(chan struct{})
	m := named(t, "a")
	m[0].Default(servertest.UpgradeTo(func(x *servertest.Exchange) {
		defer close(sent)
		io.CopyN(x, zeros{}, size)
	}))
	d, config := front(t, servertest.Setup{Members: addresses(m), Server: []string{"idle_timeout: 10ms"}})
	c, _ := dialRecords(t, d, config)
	io.WriteString(c, "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
	const some = 4 << 20 // takes longer than idle_timeout
	if _, err := io.CopyN(io.Discard, c, some); err != nil {
		t.Fatal(err)
	}
	rest := time.NewTimer(200 * time.Millisecond)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-sent:
		t.Error("the member was let go before the client has taken all")
	}
	n, err := io.Copy(io.Discard, c)
	if n < size-some || err != nil {
		t.Errorf("%d bytes came, %v", n, err)
	}
}
