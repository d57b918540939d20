package proxy

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// past is a deadline that has gone by: it ends a blocked read or write at once.
var past = time.Unix(1, 0)

// conn is a client connection and the goroutine that serves it.
type conn struct {
	srv *Server
	// nc is what requests come from: the socket, TLS over it, or a stream of HTTP/2, which has no socket.
	nc       net.Conn
	sock     net.Conn
	raw      syscall.RawConn
	tls      *tls.Conn // nil: plain
	stream   *stream   // nil: HTTP/1
	secure   bool      // TLS, over whatever protocol
	listener *Listener
	terms    *Terms     // as they were when the connection was accepted
	peer     netip.Addr // not valid over a unix socket

	under *socket // the TLS or HTTP/2
	small []byte  // of a TLS connection, to wait with

	in  window // what the client sent; holds a buffer only while there is something in it
	out []byte // scratch for heads and small bodies, lent from the pool during a request
	x   exchange
	rec Record

	// readBy is where the deadline of reading stands, as far as it is known; see due.
	readBy time.Time
	to     patient // for writing to the socket, where nothing is between

	// The looks at the socket are made once: a closure for each would be an allocation.
	tryRead func(fd uintptr) bool
	poll    func(fd uintptr)
	hungUp  bool
	first   bool // no request has come yet

	// mu guards what is below, which a drain and a stop look at, and readBy while waiting.
	mu      sync.Mutex
	waiting bool           // for the next request: a drain may wake it
	goAway  func()         // ends a connection of HTTP/2 with GOAWAY; nil: none
	member  *upstream.Conn // in use; nil: none
	aborted bool
}

// newConn makes the conn of a connection that was accepted, out of one that has ended where there is one.
func newConn(s *Server, nc net.Conn, l *Listener) (*conn, error) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("serving %T: not a socket", nc)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("serving connection: %w", err)
	}
	c, ok := s.ended.Get().(*conn)
	if !ok {
		c = makeConn(s)
	}
	c.reset(l, l.terms.Load())
	c.nc, c.sock, c.raw, c.to = nc, nc, raw, patient{sock: nc, raw: raw}
	if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		c.peer = a.AddrPort().Addr().Unmap().WithZone("")
	}
	return c, nil
}

// reset forgets what c was.
func (c *conn) reset(l *Listener, t *Terms) {
	c.nc, c.sock, c.raw, c.tls, c.stream, c.secure = nil, nil, nil, nil, nil, false
	c.listener, c.terms, c.peer = l, t, netip.Addr{}
	c.under, c.first, c.aborted = nil, true, false
	c.readBy, c.to = time.Time{}, patient{}
	if t == nil || t.TLS == nil {
		c.small = nil
	}
}

func makeConn(s *Server) *conn {
	c := &conn{srv: s}
	c.tryRead = c.readOnce
	c.poll = func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(p, 0)
		c.hungUp = err == nil && n > 0 && p[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	}
	c.x.c = c
	c.x.up.init(&c.x)
	c.x.asked.Fields = &c.x
	return c
}

func (c *conn) serve() {
	defer c.srv.forget(c) // last: another connection may use c then
	defer c.close()
	switch c.open() {
	case speaksHTTP1:
		c.serveHTTP1()
	case speaksHTTP2:
		c.serveHTTP2()
	}
	c.release()
}

// close ends the connection, with a word of TLS if there is room for it.
func (c *conn) close() {
	if c.tls != nil && c.under.ended == nil {
		c.under.patient = nil
		c.tls.SetWriteDeadline(time.Now().Add(closeTime))
		c.tls.CloseWrite()
	}
	c.sock.Close()
}

// closeTime is how long the end of a TLS connection may take to be said.
const closeTime = 100 * time.Millisecond

func (c *conn) serveHTTP1() {
	for c.next() {
		c.out = c.srv.buffers.get()[:0]
		keep := c.x.run()
		c.srv.buffers.put(c.out)
		c.out = nil
		if !keep {
			if c.x.unread || c.in.r < c.in.w || c.draining() || c.pending() {
				c.linger()
			}
			break
		}
	}
}

// next waits for the first bytes of a request. It is false when the connection is to be closed: the
// client closed it, was silent for too long, or the daemon drains.
func (c *conn) next() bool {
	if c.in.r < c.in.w {
		c.first = false
		return true // pipelined
	}
	c.release()
	now, limit := c.x.now, c.srv.config.Load().IdleTimeout
	if c.first {
		now, limit = time.Now(), c.srv.config.Load().HeaderTimeout
	}
	for until := after(now, limit); ; {
		c.wait(until, limit)
		err := c.readFirst()
		draining := c.waited()
		switch {
		case !timedOut(err):
		case draining:
			// Woken by the drain. A request that came at the same moment is still answered.
			c.readNow()
		case time.Now().Before(until):
			c.readBy = time.Time{}
			continue
		}
		c.first = false
		return c.in.r < c.in.w
	}
}

// readFirst waits for the first bytes of a request, with as little memory as it can.
func (c *conn) readFirst() error {
	if c.tls == nil {
		return c.raw.Read(c.tryRead)
	}
	n, err := c.tls.Read(c.small)
	if n > 0 {
		c.in = window{buf: c.srv.buffers.get()}
		c.in.w = copy(c.in.buf, c.small[:n])
	}
	return err
}

// readNow reads what is there, without waiting for more.
func (c *conn) readNow() {
	switch {
	case c.tls == nil:
		c.sock.SetReadDeadline(time.Time{})
		c.raw.Control(func(fd uintptr) { c.readOnce(fd) })
	case c.pending():
		c.sock.SetReadDeadline(time.Now().Add(recordTime))
		c.readFirst()
	}
	c.readBy = time.Time{}
}

// recordTime is how long the rest of a TLS record may take that has begun to arrive.
const recordTime = 100 * time.Millisecond

// readOnce reads what is there. While there is nothing it holds no buffer, so that an idle connection
// costs its goroutine and little else.
func (c *conn) readOnce(fd uintptr) bool {
	buf := c.srv.buffers.get()
	for {
		n, err := syscall.Read(int(fd), buf)
		if err == syscall.EINTR {
			continue
		}
		if n > 0 {
			c.in = window{buf: buf, w: n}
			return true
		}
		c.srv.buffers.put(buf)
		return err != syscall.EAGAIN
	}
}

// wait begins the wait for a request. The deadline is set under the same lock as wake's, so that a drain's
// wake can neither be lost nor hit a request that has begun.
func (c *conn) wait(until time.Time, limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = true
	switch {
	case c.draining():
		c.readBy = c.drainDeadline()
		c.sock.SetReadDeadline(c.readBy)
	case due(c.readBy, until, limit/2):
		c.readBy = until
		c.sock.SetReadDeadline(until)
	}
}

// waited ends the wait, and says whether the daemon drains.
func (c *conn) waited() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = false
	return c.draining()
}

// draining is true when the connection is to end: the daemon stops, or has given up its listener.
func (c *conn) draining() bool { return c.srv.draining.Load() || c.listener.retired.Load() }

// freshGrace is how long a drain waits for the first request of a connection: its client has just been let
// in, and unlike one between requests does not expect to be sent away.
const freshGrace = 500 * time.Millisecond

func (c *conn) drainDeadline() time.Time {
	if c.first {
		return time.Now().Add(freshGrace)
	}
	return past
}

// wake ends the wait for the next request.
func (c *conn) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.goAway != nil:
		c.sendAway()
	case c.waiting:
		c.readBy = c.drainDeadline()
		c.sock.SetReadDeadline(c.readBy)
	}
}

// abort cuts the connection and the one to the member.
func (c *conn) abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sock.Close() // TLS included: nothing is said any more
	c.cut()
}

// cutMember cuts the connection to the member.
func (c *conn) cutMember() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut()
}

func (c *conn) cut() {
	c.aborted = true
	if c.member != nil {
		c.member.Cut()
	}
}

// holds tells abort which connection to a member is in use; nil: none.
func (c *conn) holds(m *upstream.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.member = m
	if c.aborted && m != nil {
		m.Cut()
	}
}

// release gives back what a connection does not need while it waits.
func (c *conn) release() {
	c.x.leave()
	if c.in.buf != nil {
		c.srv.buffers.put(c.in.buf)
	}
	c.in = window{}
}

// gone looks whether the client's connection was reset. A client that only closed its direction after a
// whole request still gets its answer (RFC 9112 section 9.6).
func (c *conn) gone() bool {
	if c.stream != nil {
		return c.stream.gone()
	}
	c.hungUp = false
	return c.raw.Control(c.poll) != nil || c.hungUp
}

// pending is true if the client has sent more than was read: closing would reset the connection.
func (c *conn) pending() bool {
	n := 0
	err := c.raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, _ = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	return err == nil && n > 0
}

// write sends to the client.
func (c *conn) write(p []byte) error {
	if c.stream == nil && c.tls == nil {
		return c.writeSocket(p)
	}
	var err error
	if c.stream != nil {
		err = c.stream.send(p, c.x.config.IdleTimeout)
	} else {
		_, err = c.tls.Write(p)
	}
	c.x.now = time.Now() // the client may have taken its time
	return err
}

// push sends what a layer below holds back.
func (c *conn) push() error {
	if c.stream != nil && c.stream.flush(c.x.config.IdleTimeout) != nil {
		return errClientWrite
	}
	return nil
}

// writeSocket sends to the client.
func (c *conn) writeSocket(p []byte) (err error) {
	c.x.now, err = c.to.write(p, c.x.now, c.x.config.IdleTimeout)
	return err
}

// lingerTime is how long a client that is still sending is listened to after our last answer, so that it can read
// it: closing at once would reset the connection and the answer with it (RFC 9112 section 9.6). It is bounded by
// time alone: what comes meanwhile is thrown away, and how much that is says nothing about what the client has read.
const lingerTime = 2 * time.Second

func (c *conn) linger() {
	w, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || w.CloseWrite() != nil {
		return
	}
	buf := c.srv.buffers.get()
	defer c.srv.buffers.put(buf)
	c.sock.SetDeadline(time.Now().Add(lingerTime))
	for {
		if _, err := c.nc.Read(buf); err != nil {
			return
		}
	}
}
