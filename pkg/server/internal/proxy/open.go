package proxy

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pires/go-proxyproto"
	"golang.org/x/net/http2"
)

// protocol is what a connection speaks.
type protocol uint8

const (
	speaksNothing protocol = iota // it is not served
	speaksHTTP1
	speaksHTTP2
)

// open does what comes before the first request: the PROXY header, TLS, and the choice of the protocol. All of it
// has header_timeout.
func (c *conn) open() protocol {
	t := c.terms
	if t.TLS == nil && !t.H2C && !t.ProxyProtocol {
		return speaksHTTP1
	}
	until := time.Now().Add(c.srv.config.Load().HeaderTimeout)
	c.sock.SetWriteDeadline(until)
	c.until, c.limit = until, 0
	c.wait()
	defer func() {
		c.waited()
		c.sock.SetDeadline(time.Time{})
		c.readBy, c.to.by = time.Time{}, time.Time{}
	}()
	if t.ProxyProtocol && !c.readProxyHeader() {
		return speaksNothing
	}
	switch {
	case t.TLS != nil:
		return c.shakeHands(t.TLS)
	case t.H2C:
		return c.readPreface()
	default:
		return speaksHTTP1
	}
}

// proxyHeaderRoom holds the longest PROXY header that is taken, type-length-value fields included.
const proxyHeaderRoom = 4 << 10

// readProxyHeader takes the client's address from a PROXY header, version 1 or 2
// (https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt). It is believed from trusted proxies, and from
// who may open a unix socket. A LOCAL header, or one of an unknown protocol, leaves the peer's own address.
func (c *conn) readProxyHeader() bool {
	if c.peer.IsValid() && !c.srv.config.Load().trusts(c.peer) {
		return false
	}
	r := bufio.NewReaderSize(c.sock, proxyHeaderRoom)
	h, err := proxyproto.Read(r)
	if err != nil {
		return false
	}
	if !h.Command.IsLocal() {
		c.peer = netip.Addr{}
		if ip, _, ok := h.IPs(); ok {
			a, _ := netip.AddrFromSlice(ip)
			c.peer = a.Unmap()
		}
	}
	if early, _ := r.Peek(r.Buffered()); len(early) > 0 {
		c.in = window{buf: c.borrow()}
		c.in.w = copy(c.in.buf, early)
	}
	return true
}

// trusts is true for a peer that is a trusted proxy.
func (cfg *Config) trusts(a netip.Addr) bool {
	if !a.IsValid() {
		return false
	}
	for _, p := range cfg.TrustedProxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// firstRead is what a TLS connection reads into while it waits for a request: enough for most heads, and little
// enough for a connection that is idle.
const firstRead = 1 << 10

func (c *conn) shakeHands(t *tls.Config) protocol {
	c.under = c.layer()
	c.tls = tls.Server(c.under, t)
	c.nc, c.secure = c.tls, true
	var err error
	if c.aside(func() { err = c.tls.Handshake() }); err != nil { // it computes for long
		return speaksNothing
	}
	if c.tls.ConnectionState().NegotiatedProtocol == http2.NextProtoTLS {
		return speaksHTTP2
	}
	if c.small == nil {
		c.small = make([]byte, firstRead)
	}
	c.under.patient = c.srv
	return speaksHTTP1
}

// readPreface looks whether the client begins with HTTP/2 (RFC 9113 section 3.4).
func (c *conn) readPreface() protocol {
	for {
		here := c.in.bytes()
		n := min(len(here), len(http2.ClientPreface))
		switch {
		case string(here[:n]) != http2.ClientPreface[:n]:
			return speaksHTTP1
		case n == len(http2.ClientPreface):
			c.under = c.layer()
			c.nc = c.under
			return speaksHTTP2
		}
		if c.in.buf == nil {
			c.in = window{buf: c.borrow()}
		}
		if c.in.fill(c.sock, bufferSize) != nil {
			// Too slow, or at its end, in the middle of the preface or before: what is there is read as HTTP/1.1.
			return speaksHTTP1
		}
	}
}

// layer makes the socket for a layer above that reads by itself, what is there included.
func (c *conn) layer() *socket {
	s := &socket{Conn: c.sock, to: patient{sock: c.sock}, early: bytes.Clone(c.in.bytes())}
	c.release()
	return s
}

// socket is a client's socket under TLS or HTTP/2: it begins with the bytes that were read from it already, and
// is written to patiently where that is asked for. TLS cannot go on after a deadline that has passed in the middle of a
// record, and writes when it likes: an alert, or the answer to a key update, while a request is read. So nothing of
// the exchange is used here.
type socket struct {
	net.Conn
	early   []byte // what came with a PROXY header or a preface
	to      patient
	patient *Server       // whose idle_timeout writes have; nil: the deadlines are those of the layer above
	ended   chan struct{} // closed when the layer above closes; nil: nobody asks
	once    sync.Once
}

func (s *socket) Read(p []byte) (int, error) {
	if len(s.early) > 0 {
		n := copy(p, s.early)
		s.early = s.early[n:]
		return n, nil
	}
	return s.Conn.Read(p)
}

func (s *socket) Write(p []byte) (int, error) {
	if s.patient == nil {
		return s.Conn.Write(p)
	}
	_, err := s.to.write(p, time.Now(), s.patient.config.Load().IdleTimeout)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close closes the socket.
func (s *socket) Close() error {
	if s.ended != nil {
		s.once.Do(func() { close(s.ended) })
	}
	return s.Conn.Close()
}
