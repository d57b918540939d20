package upstream

import (
	"crypto/tls"
	"net"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/loop"
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

	socket    *loop.Socket // below the TLS
	records   *records     // nil: no TLS
	idleSince time.Time
}

// Bind has a task be who waits for the connection; nil: goroutines.
func (c *Conn) Bind(t *loop.Task) { c.socket.Bind(t) }

// Wait waits until something has come, as a read would.
func (c *Conn) Wait() error { return c.socket.Wait() }

// Plain is the socket of a connection without TLS; nil: there is TLS.
func (c *Conn) Plain() *loop.Socket {
	if c.records != nil {
		return nil
	}
	return c.socket
}

// open looks at the socket without waiting. It is bound to who will use it. An idle connection has nothing to say: the end of the
// stream, an error, and bytes that nobody asked for all mean that it cannot carry another request.
func (c *Conn) open() bool {
	if t, ok := c.Conn.(*tls.Conn); ok {
		return c.records.quiet(t)
	}
	return c.socket.Quiet()
}

// Cut closes the connection without a word of TLS: nothing waits for a member that does not read.
func (c *Conn) Cut() error { return c.socket.Close() }

// leave closes an idle connection in good order, which over TLS is announced (RFC 8446 section 6.1). A member
// that may not have read all of an upload is not told: the word would wait behind it.
func (c *Conn) leave() {
	switch {
	case c.Loaded || c.records == nil:
		c.Cut()
	default:
		go c.Close() // it may wait for room
	}
}

// CloseWrite ends our direction only.
func (c *Conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return c.Close()
}
