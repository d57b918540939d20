package server

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// limit takes at most n connections of l at once; more wait in the backlog. Callers of the admin API and of
// the metrics must not use up the descriptors that clients need, nor all memory with bodies that they began
// to send.
//
// The limiting listener of golang.org/x/net hides what a unix connection can tell of its peer, and how to end
// one direction of it.
func limit(l net.Listener, n int) net.Listener {
	return &limited{Listener: l, taken: make(chan struct{}, n), closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	// taken holds one signal for each connection.
	taken  chan struct{}
	once   sync.Once
	closed chan struct{}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.taken <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.taken
		return nil, err
	}
	return &limitedConn{Conn: c, release: sync.OnceFunc(func() { <-l.taken })}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	release func()
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// SyscallConn lets the peer of a unix socket be asked for.
func (c *limitedConn) SyscallConn() (syscall.RawConn, error) {
	if sc, ok := c.Conn.(syscall.Conn); ok {
		return sc.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// CloseWrite lets net/http end an answer before it closes a connection that still has something to read, which
// would be reset otherwise, and the answer lost.
func (c *limitedConn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}
