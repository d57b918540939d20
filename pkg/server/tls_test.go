package server_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// holdConn collects writes while hold is set.
type holdConn struct {
	net.Conn
	mu   sync.Mutex
	hold bool
	buf  bytes.Buffer
}

func (h *holdConn) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hold {
		return h.buf.Write(p)
	}
	return h.Conn.Write(p)
}
func (h *holdConn) set(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hold = on
	if !on {
		h.Conn.Write(h.buf.Bytes())
		h.buf.Reset()
	}
}

func tlsMember(t *testing.T, serve func(c *tls.Conn, h *holdConn)) (addr, ca string) {
	t.Helper()
	authority := servertest.NewAuthority(t)
	cert := authority.Issue("127.0.0.1")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	t.Cleanup(func() { l.Close() })
	wg.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				h := &holdConn{Conn: nc}
				c := tls.Server(h, &tls.Config{Certificates: []tls.Certificate{cert}})
				defer nc.Close()
				if c.Handshake() != nil {
					return
				}
				serve(c, h)
			})
		}
	})
	return l.Addr().String(), authority.File
}

func readHead(c io.Reader) string {
	var s []byte
	b := make([]byte, 1)
	for !bytes.HasSuffix(s, []byte("\r\n\r\n")) {
		if _, err := c.Read(b); err != nil {
			return ""
		}
		s = append(s, b[0])
	}
	return string(s)
}

func TestF07BytesBehindAnAnswerOverTLS(t *testing.T) {
	addr, ca := tlsMember(t, func(c *tls.Conn, h *holdConn) {
		for {
			head := readHead(c)
			if head == "" {
				return
			}
			name := strings.Fields(head)[1]
			h.set(true)
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(name), name)
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
			h.set(false)
		}
	})
	d := servertest.Start(t, servertest.Setup{Members: []string{addr}, Pool: []string{"scheme: https", "tls: {ca_file: " + ca + "}"}})
	for i := range 3 {
		want := fmt.Sprintf("/%d", i)
		if r := d.Get(want); r.Body != want {
			t.Errorf("request %s got %q", want, r.Body)
		}
	}
}

func TestF09BodyCutOffWithinATLSRecord(t *testing.T) {
	addr, ca := tlsMember(t, func(c *tls.Conn, h *holdConn) {
		if readHead(c) == "" {
			return
		}
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\n\r\nfirst part")
		h.set(true)
		fmt.Fprintf(c, "second part")
		h.mu.Lock()
		h.Conn.Write(h.buf.Bytes()[:10]) // a record cut in the middle
		h.Conn.Close()
		h.mu.Unlock()
	})
	d := servertest.Start(t, servertest.Setup{Members: []string{addr}, Pool: []string{"scheme: https", "tls: {ca_file: " + ca + "}"}})
	r := d.Get("/")
	if r.Err == nil {
		t.Errorf("a truncated body looks whole: %s%s", r.Head, r.Body)
	}
}
