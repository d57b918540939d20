package upstream

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
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
	idleSince time.Time
	raw       syscall.RawConn
	peek      func(fd uintptr) // made once: a closure for each look would be an allocation
	peekErr   error
	peekN     int
}

// newConn wraps a connection; socket is the one under the TLS, or c itself.
func newConn(c, socket net.Conn) *Conn {
	u := &Conn{Conn: c, socket: socket}
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
	if !errors.Is(c.peekErr, syscall.EAGAIN) {
		return false
	}
	t, ok := c.Conn.(*tls.Conn)
	if !ok {
		return true
	}
	// The TLS layer reads ahead: what came behind the last answer may lie in it already. With a deadline
	// that has passed it looks there and not at the socket, and a timeout leaves it as it was.
	t.SetReadDeadline(time.Unix(1, 0))
	c.ReadBy = time.Time{}
	var b [1]byte
	n, err := t.Read(b[:])
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

// Cut closes the connection without a word of TLS: nothing waits for a member that does not read.
func (c *Conn) Cut() error { return c.socket.Close() }

// CloseWrite ends our direction only.
func (c *Conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return c.Close()
}
