package loop

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Acceptor takes connections from a listening socket. It is a Socket that is accepted from where others are read.
type Acceptor struct {
	s *Socket
}

// Accept makes the Acceptor of a socket, through a descriptor of its own.
func (l *Loop) Accept(from net.Listener) (*Acceptor, error) {
	sc, ok := from.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("accepting from %T: not a socket", from)
	}
	fd, err := duplicate(sc)
	if err != nil {
		return nil, fmt.Errorf("accepting: %w", err)
	}
	return &Acceptor{s: l.New(fd, from.Addr().Network(), netip.AddrPort{})}, nil
}

// Loop is the one that waits for connections.
func (a *Acceptor) Loop() *Loop { return a.s.loop }

// Bind has t be who waits for connections; nil: a goroutine.
func (a *Acceptor) Bind(t *Task) { a.s.Bind(t) }

// Next waits for a connection and gives it to the loop that is chosen then. It fails with net.ErrClosed after Close and
// with os.ErrDeadlineExceeded when the deadline has passed and nothing waits in the backlog.
func (a *Acceptor) Next(choose func() *Loop) (*Socket, error) {
	d := &a.s.in
	for {
		d.mu.Lock()
		if !d.open {
			d.mu.Unlock()
			return nil, net.ErrClosed
		}
		fd, from, err := unix.Accept4(a.s.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err == unix.EAGAIN {
			if d.ready = false; d.late {
				d.mu.Unlock()
				return nil, os.ErrDeadlineExceeded
			}
			if err := a.s.wait(d); err != nil {
				return nil, err
			}
			continue
		}
		d.mu.Unlock()
		switch {
		case err == nil:
			s := choose().accepted(fd, a.s.network, addrPort(from))
			if a.s.task != nil {
				a.s.task.took()
			}
			return s, nil
		case err != unix.EINTR && err != unix.ECONNABORTED: // those say nothing about the next one
			return nil, os.NewSyscallError("accept", err)
		}
	}
}

// SetDeadline ends Next at a time, or as soon after it as nothing waits.
func (a *Acceptor) SetDeadline(t time.Time) error { return a.s.SetReadDeadline(t) }

// Close ends Next.
func (a *Acceptor) Close() error { return a.s.Close() }

// addrPort is not valid for a unix socket.
func addrPort(a unix.Sockaddr) netip.AddrPort {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port))
	default:
		return netip.AddrPort{}
	}
}
