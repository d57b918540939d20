package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scalws/scalws/pkg/server/internal/loop"
)

// Terms are how the connections of a listening socket are served.
type Terms struct {
	// Name is the listener's in the log.
	Name string
	// TLS is nil for plain HTTP. Its NextProtos say whether HTTP/2 is offered.
	TLS *tls.Config
	// H2C also serves HTTP/2 without TLS, to clients that begin with it (RFC 9113 section 3.3).
	H2C bool
	// ProxyProtocol expects a PROXY header, version 1 or 2, before anything else, and takes the client's address
	// from it. Peers that are no trusted proxies are not served.
	ProxyProtocol bool
}

// Listener is a listening socket with its terms.
type Listener struct {
	accepts *loop.Acceptor
	addr    net.Addr
	file    string // goes with the socket; empty: none
	closed  atomic.Bool
	terms   atomic.Pointer[Terms]
	retired atomic.Bool
	over    chan struct{} // closed when no connection is accepted any more; nil before Serve
	stats   listenerStats
}

// NewListener makes the Listener of a socket, for whose connections a loop waits; the terms are required. file is that of
// a unix socket, which is removed when the Listener is closed; empty: none is. The socket is the Listener's, unless it
// fails.
func NewListener(on *loop.Loop, socket net.Listener, file string, t Terms) (*Listener, error) {
	accepts, err := on.Accept(socket)
	if err != nil {
		return nil, err
	}
	l := &Listener{accepts: accepts, addr: socket.Addr(), file: file}
	// Go's poller would be told of every connection too. The loop has a descriptor of its own.
	if u, ok := socket.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	socket.Close()
	l.SetTerms(t)
	return l, nil
}

// Addr is where it listens.
func (l *Listener) Addr() net.Addr { return l.addr }

const (
	// lateTime is how long a listener that finishes waits for connections whose handshake is under way.
	lateTime = 20 * time.Millisecond
	// mostLateTime bounds it together with what the kernel has accepted already, where clients do not stop coming.
	mostLateTime = time.Second
)

// Finish takes what waits in the backlog, which would be reset otherwise, and closes the socket: after a few milliseconds
// as a rule, after a second at most, and at once when ctx ends. It may be called while Serve's task runs, and not while
// Serve does.
func (l *Listener) Finish(ctx context.Context) error {
	if l.over != nil {
		l.accepts.SetDeadline(time.Now().Add(lateTime))
		ctx, cancel := context.WithTimeout(ctx, mostLateTime)
		defer cancel()
		select {
		case <-l.over:
		case <-ctx.Done():
		}
	}
	return l.Close()
}

// Close closes the socket. A second one does nothing.
func (l *Listener) Close() error {
	if l.closed.Swap(true) {
		return net.ErrClosed
	}
	if l.file != "" {
		os.Remove(l.file) // before the next one can take its place
	}
	return l.accepts.Close()
}

// SetTerms changes the terms of connections that are accepted from now on. The socket and the connections
// that are there stay as they are.
func (l *Listener) SetTerms(t Terms) { l.terms.Store(&t) }

// Terms are those of the next connection.
func (l *Listener) Terms() Terms { return *l.terms.Load() }

// ListenerStats is what a listener has counted.
type ListenerStats struct {
	// Accepted connections, and Connections that are open.
	Accepted    uint64
	Connections int64
	// Requests that have begun, by protocol, and InFlight, those that are not finished.
	HTTP1, HTTP2 uint64
	InFlight     int64
}

type listenerStats struct {
	accepted, http1, http2 atomic.Uint64
	connections, inFlight  atomic.Int64
}

// Stats reads the counters.
func (l *Listener) Stats() ListenerStats {
	return ListenerStats{
		Accepted:    l.stats.accepted.Load(),
		Connections: l.stats.connections.Load(),
		HTTP1:       l.stats.http1.Load(),
		HTTP2:       l.stats.http2.Load(),
		InFlight:    l.stats.inFlight.Load(),
	}
}

const (
	// probeAfter and probeEvery are when a silent connection is probed, in seconds: a tunnel has no other limit.
	probeAfter = 15
	probeEvery = 15
)

// Prepare sets on a listening TCP socket what its connections inherit. Set on each connection, the same would
// cost three system calls.
func Prepare(raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		set := func(level, option, value int) {
			failed = errors.Join(failed, unix.SetsockoptInt(int(fd), level, option, value))
		}
		set(unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
		set(unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, probeAfter)
		set(unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, probeEvery)
		set(unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	})
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("preparing the listening socket: %w", err)
	}
	return nil
}
