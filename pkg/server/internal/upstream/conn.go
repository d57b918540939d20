package upstream

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"
	"time"
)

// Conn is a connection to a member.
type Conn struct {
	net.Conn
	// Reused is true once the connection has carried a request before this one.
	Reused bool
	// IdleFor is how long it lay idle before this request.
	IdleFor time.Duration
	// Loaded is true if the request before this one had a body that was still arriving when the answer was
	// awaited: a member that has not read it all may leave no room for the next head.
	Loaded bool
	// ReadBy is where the owner has left the read deadline; zero where that is not known.
	ReadBy time.Time

	socket    net.Conn // below the TLS
	records   *records // nil: no TLS
	idleSince time.Time
	raw       syscall.RawConn
	peek      func(fd uintptr) // made once: a closure for each look would be an allocation
	peekErr   error
}

// newConn wraps a connection that speaks no TLS.
func newConn(socket net.Conn) *Conn {
	c := &Conn{Conn: socket, socket: socket, raw: rawConn(socket)}
	c.peek = func(fd uintptr) {
		var b [1]byte
		_, _, c.peekErr = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	}
	return c
}

// newTLSConn wraps a connection whose handshake is done; r is what it reads its records from.
func newTLSConn(c *tls.Conn, r *records) *Conn {
	return &Conn{Conn: c, socket: r.Conn, records: r}
}

// rawConn is the file descriptor of a socket; nil where it has none.
func rawConn(socket net.Conn) syscall.RawConn {
	s, ok := socket.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// open looks at the socket without waiting. An idle connection has nothing to say: the end of the
// stream, an error, and bytes that nobody asked for all mean that it cannot carry another request.
func (c *Conn) open() bool {
	if t, ok := c.Conn.(*tls.Conn); ok {
		return c.records.quiet(t)
	}
	if c.raw == nil || c.raw.Control(c.peek) != nil {
		return false
	}
	return errors.Is(c.peekErr, syscall.EAGAIN)
}

// Cut closes the connection without a word of TLS: nothing waits for a member that does not read.
func (c *Conn) Cut() error { return c.socket.Close() }

// leave closes an idle connection in good order, which over TLS is announced (RFC 8446 section 6.1). A member
// that may not have read all of an upload is not told: the word would wait behind it.
func (c *Conn) leave() {
	if c.Loaded {
		c.Cut()
		return
	}
	c.Close()
}

// CloseWrite ends our direction only.
func (c *Conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return c.Close()
}
