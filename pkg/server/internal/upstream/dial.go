package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/loop"
)

// Stage is what failed while a connection was made.
type Stage uint8

// The stages. Timeout covers name resolution, all addresses and TLS.
const (
	Refused Stage = iota + 1
	Timeout
	TLSFailed
	Failed
	// Exhausted is a lack of descriptors or memory on our side: it says nothing about the member.
	Exhausted
)

// DialError says why there is no connection. Nothing of a request was sent.
type DialError struct {
	Stage Stage
	err   error
}

func (e *DialError) Error() string { return "connecting to member: " + e.err.Error() }

// Unwrap gives the cause.
func (e *DialError) Unwrap() error { return e.err }

// Dial makes a new connection within the timeout, which covers everything; 0 is no limit. A name is resolved
// each time and all its addresses are tried, the two families at nearly the same time (RFC 8305, as the standard
// library does it). Where we lack descriptors, idle connections of the pool are given up for it, once. Dial blocks; the
// connection is one of the loop's. The error is a *DialError.
func (m *Member) Dial(ctx context.Context, on *loop.Loop, timeout time.Duration) (*Conn, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	c, failed := m.connect(ctx, on)
	if failed != nil && failed.Stage == Exhausted && m.options.Spare != nil && m.options.Spare() {
		c, failed = m.connect(ctx, on)
	}
	if failed != nil {
		return nil, failed
	}
	return c, nil
}

func (m *Member) connect(ctx context.Context, on *loop.Loop) (*Conn, *DialError) {
	dialled, err := m.dialSocket(ctx)
	if err != nil {
		return nil, &DialError{Stage: stage(err), err: err}
	}
	if m.options.TLS == nil {
		socket, err := on.Take(dialled)
		if err != nil {
			return nil, &DialError{Stage: stage(err), err: err}
		}
		return &Conn{Conn: socket, socket: socket}, nil
	}
	r := &records{Conn: dialled}
	c := tls.Client(r, m.options.TLS)
	if err := c.HandshakeContext(ctx); err != nil {
		dialled.Close()
		e := &DialError{Stage: TLSFailed, err: handshakeError(err, m.options.TLS.ServerName)}
		if errors.Is(err, context.DeadlineExceeded) {
			e.Stage = Timeout
		}
		return nil, e
	}
	if r.socket, err = on.Take(dialled); err != nil {
		return nil, &DialError{Stage: stage(err), err: err}
	}
	r.Conn = r.socket
	return &Conn{Conn: c, socket: r.socket, records: r}, nil
}

// fullPause is how long a connect to a unix socket rests whose backlog is full.
const fullPause = 5 * time.Millisecond

// dialSocket connects. Over TCP a full backlog is waited for by the kernel; over a unix socket it says so at once
// (EAGAIN, connect(2)), and we wait.
func (m *Member) dialSocket(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{Resolver: m.options.Resolver}
	for {
		socket, err := d.DialContext(ctx, m.network, m.address)
		if m.network != "unix" || !errors.Is(err, syscall.EAGAIN) {
			return socket, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(fullPause):
		}
	}
}

func stage(err error) Stage {
	var ne net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case shortage(err):
		return Exhausted
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return Timeout
	case shortage(room()):
		// The resolver keeps nothing but the text of what went wrong below it, and of several addresses only
		// the first error is told: a shortage can hide in both.
		return Exhausted
	default:
		return Failed
	}
}

// shortage is true if it was we who had no room for another connection.
func shortage(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM) ||
		errors.Is(err, syscall.ENOSPC) // of sockets that are waited for (epoll_ctl(2))
}

// lookupNeeds is how many descriptors a lookup may have open at once: a file of the system's, and a socket for each
// family and one to spare.
const lookupNeeds = 4

// room is why there are no descriptors for a lookup; nil: there are.
func room() error {
	for range lookupNeeds {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer syscall.Close(fd)
	}
	return nil
}

// host is the address without its port and brackets.
func host(address string) string {
	h, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return strings.Trim(h, "[]")
}
