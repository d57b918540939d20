package proxy

import (
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/loop"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// past is a deadline that has gone by: it ends a blocked read or write at once.
var past = time.Unix(1, 0)

// conn is a client connection and the task that serves it.
type conn struct {
	srv *Server
	// task runs on the loop of the socket; nil while a goroutine serves, as it does a stream of HTTP/2.
	task *loop.Task
	// nc is what requests come from: the socket, TLS over it, or a stream of HTTP/2, which has no socket.
	nc       net.Conn
	sock     *loop.Socket
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

	speaks protocol // speaksNothing before open
	opened bool
	first  bool // no request has come yet
	// parked is true while no coroutine waits for the next request, which it does until a time that lies limit ahead.
	parked bool
	until  time.Time
	limit  time.Duration

	member  atomic.Pointer[upstream.Conn] // in use, and not cut; see holds
	aborted atomic.Bool

	// mu guards what is below, which a drain and a stop look at, and readBy while waiting.
	mu      sync.Mutex
	waiting bool   // for the next request: a drain may wake it
	goAway  func() // ends a connection of HTTP/2 with GOAWAY; nil: none
}

// newConn makes the conn of a connection that was accepted, out of one that has ended where there is one.
func newConn(s *Server, sock *loop.Socket, l *Listener) *conn {
	c, ok := s.ended.Get().(*conn)
	if !ok {
		c = makeConn(s)
	}
	c.reset(l, l.terms.Load())
	c.nc, c.sock, c.to = sock, sock, patient{sock: sock}
	c.peer = sock.Peer().Addr().Unmap().WithZone("")
	c.task = sock.Loop().NewTask(c.turn)
	sock.Bind(c.task)
	return c
}

// reset forgets what c was.
func (c *conn) reset(l *Listener, t *Terms) {
	c.nc, c.sock, c.task, c.tls, c.stream, c.secure = nil, nil, nil, nil, nil, false
	c.listener, c.terms, c.peer = l, t, netip.Addr{}
	c.under, c.first = nil, true
	c.aborted.Store(false)
	c.readBy, c.to = time.Time{}, patient{}
	c.speaks, c.opened, c.parked = speaksNothing, false, false
	if t == nil || t.TLS == nil {
		c.small = nil
	}
}

func makeConn(s *Server) *conn {
	c := &conn{srv: s}
	c.x.c = c
	c.x.up.init(&c.x)
	c.x.asked.Fields = &c.x
	return c
}

// turn serves the connection until it waits for a request, or for ever. What comes then begins the next turn.
func (c *conn) turn() {
	if !c.opened {
		c.opened = true
		c.speaks = c.open()
	}
	switch c.speaks {
	case speaksHTTP1:
		if c.serveHTTP1() == waits {
			return
		}
	case speaksHTTP2:
		c.handOver(c.serveHTTP2)
	}
	c.release()
	c.close()
	c.srv.forget(c) // last: another connection may use c then
}

// aside runs what may block, or what more than one goroutine has a part in, on a goroutine of its own: all other
// connections of the loop would wait for it.
func (c *conn) aside(f func()) {
	t := c.task
	if t == nil {
		f() // it is on one
		return
	}
	c.handOver(f)
	c.bind(t)
}

// handOver is aside for the rest of the connection: goroutines that f leaves behind may still be using the socket.
func (c *conn) handOver(f func()) {
	t := c.task
	c.task = nil
	c.bind(nil)
	t.Aside(f)
	c.task = t
}

func (c *conn) bind(t *loop.Task) {
	c.sock.Bind(t)
	if m := c.x.wire.conn; m != nil {
		m.Bind(t)
	}
}

// clock is the time. To a task it is that of the loop's round: what has come was there when the round began.
func (c *conn) clock() time.Time {
	if c.task != nil {
		return c.task.Loop().Now()
	}
	return time.Now()
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

// awaited is what became of the wait for a request.
type awaited uint8

const (
	comes awaited = iota // a request
	waits                // it goes on, and costs no stack meanwhile
	ends                 // the connection does
)

func (c *conn) serveHTTP1() awaited {
	for {
		if a := c.next(); a != comes {
			return a
		}
		c.out = c.borrow()[:0]
		keep := c.x.run()
		c.giveBack(c.out)
		c.out = nil
		if !keep {
			if c.x.unread || c.in.r < c.in.w || c.draining() || c.pending() {
				c.linger()
			}
			return ends
		}
	}
}

// next waits for the first bytes of a request. The connection ends when its client has closed it, was silent for too
// long, or the daemon drains.
func (c *conn) next() awaited {
	woken := c.parked // by something to read, the deadline, or the end
	if c.parked = false; !woken {
		if c.in.r < c.in.w {
			c.x.leave()
			c.first = false
			return comes // pipelined
		}
		c.release()
		now := c.x.now
		c.limit = c.srv.config.Load().IdleTimeout
		if c.first {
			now, c.limit = time.Now(), c.srv.config.Load().HeaderTimeout
		}
		c.until = after(now, c.limit)
		c.wait()
	}
	for ; ; woken = false {
		if c.tls == nil && !woken {
			parks, err := c.sock.Await(c.task)
			if parks {
				c.parked = true
				return waits
			}
			if err != nil {
				c.waited()
				return ends
			}
		}
		err := c.readFirst()
		if err == loop.ErrWait {
			continue
		}
		draining := c.waited()
		switch {
		case !timedOut(err):
		case draining:
			// Woken by the drain. A request that came at the same moment is still answered.
			c.readNow()
		case time.Now().Before(c.until):
			c.readBy = time.Time{}
			c.wait()
			continue
		}
		c.first = false
		if c.in.r < c.in.w {
			return comes
		}
		return ends
	}
}

// readFirst reads the first bytes of a request, with as little memory as it can.
func (c *conn) readFirst() error {
	if c.tls == nil {
		return c.readOnce(c.sock.Poll)
	}
	n, err := c.tls.Read(c.small)
	if n > 0 {
		c.in = window{buf: c.borrow()}
		c.in.w = copy(c.in.buf, c.small[:n])
	}
	return err
}

// readNow reads what is there, without waiting for more.
func (c *conn) readNow() {
	switch {
	case c.tls == nil:
		c.sock.SetReadDeadline(time.Time{})
		c.readOnce(c.sock.ReadNow)
	case c.pending():
		c.sock.SetReadDeadline(time.Now().Add(recordTime))
		c.readFirst()
	}
	c.readBy = time.Time{}
}

// recordTime is how long the rest of a TLS record may take that has begun to arrive.
const recordTime = 100 * time.Millisecond

// readOnce reads what is there. Where there is nothing it keeps no buffer.
func (c *conn) readOnce(read func([]byte) (int, error)) error {
	buf := c.borrow()
	n, err := read(buf)
	if n == 0 {
		c.giveBack(buf)
		return err
	}
	c.in = window{buf: buf, w: n}
	return nil
}

// wait begins the wait for a request. The deadline is set under the same lock as wake's, so that a drain's
// wake can neither be lost nor hit a request that has begun.
func (c *conn) wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = true
	switch {
	case c.draining():
		c.readBy = c.drainDeadline()
		c.sock.SetReadDeadline(c.readBy)
	case due(c.readBy, c.until, c.limit/2):
		c.readBy = c.until
		c.sock.SetReadDeadline(c.until)
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
	c.cutMember()
}

// cutMember cuts the connection to the member. Whoever takes it out of member has it for himself: it cannot be cut once it
// is given back and in use by another.
func (c *conn) cutMember() {
	c.aborted.Store(true)
	if m := c.member.Swap(nil); m != nil {
		m.Cut()
	}
}

// holds tells cutMember which connection to a member is in use.
func (c *conn) holds(m *upstream.Conn) {
	c.member.Store(m)
	if c.aborted.Load() {
		c.cutMember()
	}
}

// letsGo ends holds. It is false for a connection that was cut.
func (c *conn) letsGo() bool { return c.member.Swap(nil) != nil }

// release gives back what a connection does not need while it waits.
func (c *conn) release() {
	c.x.leave()
	if c.in.buf != nil {
		c.giveBack(c.in.buf)
	}
	c.in = window{}
}

// gone looks whether the client's connection was reset. A client that only closed its direction after a
// whole request still gets its answer (RFC 9112 section 9.6).
func (c *conn) gone() bool {
	if c.stream != nil {
		return c.stream.gone()
	}
	return c.sock.HungUp()
}

// pending is true if the client has sent more than was read: closing would reset the connection.
func (c *conn) pending() bool {
	n, err := c.sock.Peek()
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
	c.x.now = c.clock() // the client may have taken its time
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
	buf := c.borrow()
	defer c.giveBack(buf)
	c.sock.SetDeadline(time.Now().Add(lingerTime))
	for {
		if _, err := c.nc.Read(buf); err != nil {
			return
		}
	}
}
