package server_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
)

// front is a daemon behind TLS, and how to connect to it.
func front(t *testing.T, s servertest.Setup) (*servertest.Daemon, *tls.Config) {
	t.Helper()
	authority := servertest.NewAuthority(t)
	cert, key := authority.IssueFiles("h.example")
	s.Listener = fmt.Sprintf("tls: {cert_file: %q, key_file: %q}", cert, key)
	if s.Rest != "" {
		t.Fatal("not for a test with a configuration of its own")
	}
	return servertest.Start(t, s), &tls.Config{ServerName: "h.example", RootCAs: authority.Pool}
}

func dialTLS(t *testing.T, d *servertest.Daemon, config *tls.Config) *servertest.Conn {
	t.Helper()
	nc, err := tls.Dial("tcp", d.Address, config)
	if err != nil {
		t.Fatal(err)
	}
	return servertest.NewConn(t, nc)
}

func TestTLSRequests(t *testing.T) {
	m := named(t, "a")
	d, config := front(t, servertest.Setup{Members: addresses(m), Pool: []string{"balance: hash", "hash: {by: cookie}"}})
	c := dialTLS(t, d, config)
	c.Send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n") // two in one record
	first, second := c.Final("GET"), c.Final("GET")
	if first.Body != "a" || second.Body != "a" {
		t.Errorf("got %s%s", first.Head, second.Head)
	}
	if cookie := first.Header.Get("Set-Cookie"); !strings.HasSuffix(cookie, "; Secure") {
		t.Errorf("affinity cookie %q", cookie)
	}
	if r := m[0].Requests()[0]; r.Header.Get("X-Forwarded-Proto") != "https" {
		t.Errorf("at the member: %s", r.Head)
	}
	c.Send("GET /3 HT")
	c.Send("TP/1.1\r\nHost: x\r\n")
	c.Send("\r\n")
	if r := c.Final("GET"); r.Body != "a" {
		t.Errorf("a head in three records: %s", r.Head)
	}
	c.Send("G")
	c.Send("ET /4 HTTP/1.1\r\nHost: x\r\nX: ", strings.Repeat("x", 5000), "\r\n\r\n")
	if r := c.Final("GET"); r.Body != "a" {
		t.Errorf("a head of more than the first read: %s", r.Head)
	}
	if n := m[0].Connections(); n != 1 {
		t.Errorf("%d connections to the member", n)
	}
	if line := d.Lines(4)[3]; line["protocol"] != "HTTP/1.1" || line["path"] != "/4" {
		t.Errorf("log line %v", line)
	}
}

func TestTLSBodies(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Digest())
	d, config := front(t, servertest.Setup{Members: addresses(m)})
	c := dialTLS(t, d, config)
	body := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	sum := sha256.Sum256(body)
	for range 2 {
		c.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ", fmt.Sprint(len(body)), "\r\n\r\n", string(body))
		if r, want := c.Final("POST"), fmt.Sprintf("%s %d\n", hex.EncodeToString(sum[:]), len(body)); r.Body != want {
			t.Errorf("got %q, want %q", r.Body, want)
		}
	}
	m[0].Default(servertest.Answer{Body: string(body)})
	for range 2 {
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if r := c.Final("GET"); r.Body != string(body) {
			t.Errorf("%d bytes came back", len(r.Body))
		}
	}
}

// A client that is slow to take its answer is served as long as it takes some of it, although TLS cannot go on after a
// deadline.
func TestTLSSlowClient(t *testing.T) {
	m := named(t, "a")
	const size = 4 << 20
	m[0].Default(servertest.Stream(size))
	d, config := front(t, servertest.Setup{Members: addresses(m), Server: []string{"idle_timeout: 400ms"}})
	nc, err := net.Dial("tcp", d.Address)
	if err != nil {
		t.Fatal(err)
	}
	nc.(*net.TCPConn).SetReadBuffer(32 << 10)
	c := tls.Client(nc, config)
	defer c.Close()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	buf := make([]byte, 64<<10)
	got := 0
	tick := time.NewTicker(15 * time.Millisecond) // 4 MiB at this pace take a second: longer than idle_timeout
	defer tick.Stop()
	for {
		n, err := io.ReadFull(c, buf)
		got += n
		if err != nil {
			break
		}
		<-tick.C
	}
	if got < size {
		t.Errorf("%d bytes of %d", got, size)
	}
	if line := d.Lines(1)[0]; line["status"] != 200.0 {
		t.Errorf("log line %v", line)
	}
}

// Z01: a handshake, or an HTTP/2 preface, that stops.
func TestZ01UnfinishedBeginnings(t *testing.T) {
	m := named(t, "a")
	d, config := front(t, servertest.Setup{Members: addresses(m), Server: []string{"header_timeout: 100ms"}})
	half := servertest.Dial(t, d.Address)
	half.Send("\x16\x03\x01\x02\x00\x01\x00")
	silent := servertest.Dial(t, d.Address)
	plain := servertest.Dial(t, d.Address)
	plain.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	after := dialTLS(t, d, config)
	after.Send("GET / HTTP/1.1\r\n")
	for name, c := range map[string]*servertest.Conn{"half a hello": half, "nothing": silent, "plain HTTP": plain, "half a head": after} {
		rest, _ := c.Rest()
		if strings.HasPrefix(rest, "HTTP/1.1 200") {
			t.Errorf("%s: %q", name, rest)
		}
		if name == "half a head" && !strings.HasPrefix(rest, "HTTP/1.1 408") {
			t.Errorf("%s: %q", name, rest)
		}
	}
	if len(m[0].Requests()) > 0 {
		t.Error("something reached the member")
	}
}

// W01 over TLS: the end of one direction leaves the other one open, both ways.
func TestW01TunnelOverTLS(t *testing.T) {
	late := strings.Repeat("y", 30<<10)
	for name, talk := range map[string]func(*servertest.Exchange){
		"the client ends first": func(x *servertest.Exchange) {
			io.Copy(io.Discard, x)
			io.WriteString(x, late)
		},
		"the member ends first": func(x *servertest.Exchange) {
			io.WriteString(x, late)
			x.CloseWrite()
			io.Copy(io.Discard, x)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := named(t, "a")
			m[0].Default(servertest.UpgradeTo(talk))
			d, config := front(t, servertest.Setup{Members: addresses(m)})
			c := dialTLS(t, d, config)
			c.Send("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
			if r := c.Final("GET"); r.Status != 101 {
				t.Fatalf("got %s", r.Head)
			}
			c.Send("early")
			if name == "the client ends first" {
				c.CloseWrite()
			}
			if rest, err := c.Rest(); rest != late || err != nil {
				t.Errorf("%d bytes came back, %v", len(rest), err)
			}
		})
	}
}

// K01 over TLS: idle connections end with a word of TLS, requests in flight are answered.
func TestK01DrainOverTLS(t *testing.T) {
	m := named(t, "a")
	m[0].Script(servertest.Answer{Body: "first"}, servertest.Hold(servertest.Answer{Body: "whole"}))
	d, config := front(t, servertest.Setup{Members: addresses(m)})
	idle, busy := dialTLS(t, d, config), dialTLS(t, d, config)
	idle.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	idle.Final("GET")
	busy.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(2)
	d.Drain()
	if rest, err := idle.Rest(); rest != "" || err != nil {
		t.Errorf("the idle one: %q, %v", rest, err)
	}
	m[0].Release()
	if rest, err := busy.Rest(); err != nil || !strings.Contains(rest, "Connection: close\r\n") || !strings.HasSuffix(rest, "whole") {
		t.Errorf("the busy one: %q, %v", rest, err)
	}
	if err := d.Stop(); err != nil {
		t.Errorf("drain: %v", err)
	}
}

// P01 over TLS: a client that goes away while the member works.
func TestP01ClientLeavesOverTLS(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Hold(servertest.Answer{}))
	d, config := front(t, servertest.Setup{Members: addresses(m)})
	nc, err := net.Dial("tcp", d.Address)
	if err != nil {
		t.Fatal(err)
	}
	c := tls.Client(nc, config)
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(1)
	nc.(*net.TCPConn).SetLinger(0)
	nc.Close()
	if line := d.Lines(1)[0]; line["status"] != 499.0 {
		t.Errorf("log line %v", line)
	}
	if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 {
		t.Errorf("member %+v", s)
	}
}
