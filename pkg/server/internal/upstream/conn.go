package upstream

import (
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

	idleSince time.Time
	raw       syscall.RawConn
	peek      func(fd uintptr) // made once: a closure for each look would be an allocation
	peekErr   error
	peekN     int
}

// newConn wraps a connection; socket is the one under the TLS, or c itself.
func newConn(c, socket net.Conn) *Conn {
	u := &Conn{Conn: c}
	if s, ok := socket.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			u.raw = raw
		}
	}
	u.peek = func(fd uintptr) {
		var b [1]byte
		u.peekN, _, u.peekErr = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	}
	return u
}

// open looks at the socket without waiting. An idle connection has nothing to say: the end of the
// stream, an error, and bytes that nobody asked for all mean that it cannot carry another request.
func (c *Conn) open() bool {
	if c.raw == nil {
		return false
	}
	if err := c.raw.Control(c.peek); err != nil {
		return false
	}
	return errors.Is(c.peekErr, syscall.EAGAIN)
}

// CloseWrite ends our direction only.
func (c *Conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return c.Close()
}
