package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"
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

// Dial makes a new connection within the timeout; 0 is no limit. A name is resolved each time and all
// its addresses are tried (RFC 8305, as the standard library does it). The error is a *DialError.
func (m *Member) Dial(ctx context.Context, timeout time.Duration) (*Conn, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	var d net.Dialer
	socket, err := d.DialContext(ctx, m.network, m.address)
	if err != nil {
		return nil, &DialError{Stage: stage(err), err: err}
	}
	if m.options.TLS == nil {
		return newConn(socket, socket), nil
	}
	c := tls.Client(socket, m.options.TLS)
	if err := c.HandshakeContext(ctx); err != nil {
		socket.Close()
		e := &DialError{Stage: TLSFailed, err: fmt.Errorf("TLS handshake: %w", err)}
		if errors.Is(err, context.DeadlineExceeded) {
			e.Stage = Timeout
		}
		return nil, e
	}
	return newConn(c, socket), nil
}

func stage(err error) Stage {
	var ne net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOBUFS), errors.Is(err, syscall.ENOMEM):
		return Exhausted
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return Timeout
	default:
		return Failed
	}
}

// host is the address without its port and brackets.
func host(address string) string {
	h, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return strings.Trim(h, "[]")
}
