package loop

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Acceptor takes connections from a listening socket.
type Acceptor struct {
	file    *os.File // of a second descriptor: those of net wait, and cannot be asked for one of a connection
	raw     syscall.RawConn
	network string
	closed  atomic.Bool

	// What follows belongs to who accepts.
	fd   int
	from unix.Sockaddr
	err  error
	try  func(fd uintptr) bool // made once
}

// Accept makes the Acceptor of a socket, which has to stay open meanwhile.
func Accept(l net.Listener) (*Acceptor, error) {
	f, ok := l.(interface{ File() (*os.File, error) })
	if !ok {
		return nil, fmt.Errorf("accepting from %T: not a socket", l)
	}
	file, err := f.File()
	if err != nil {
		return nil, fmt.Errorf("accepting: %w", err)
	}
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("accepting: %w", err)
	}
	a := &Acceptor{file: file, raw: raw, network: l.Addr().Network()}
	a.try = func(fd uintptr) bool {
		a.fd, a.from, a.err = unix.Accept4(int(fd), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		return a.err != unix.EAGAIN
	}
	return a, nil
}

// Next waits for a connection and gives it to a loop that is chosen then. It fails with net.ErrClosed after Close.
func (a *Acceptor) Next(choose func() *Loop) (*Socket, error) {
	for {
		err := a.raw.Read(a.try)
		switch {
		case err == nil && a.err == nil: // also if Close came meanwhile: its client knows nothing of that
			return choose().Accepted(a.fd, a.network, addrPort(a.from)), nil
		case a.closed.Load():
			return nil, net.ErrClosed
		case err != nil:
			return nil, err
		case a.err != unix.EINTR && a.err != unix.ECONNABORTED: // those say nothing about the next one
			return nil, os.NewSyscallError("accept", a.err)
		}
	}
}

// SetDeadline ends Next at a time.
func (a *Acceptor) SetDeadline(t time.Time) error { return a.file.SetReadDeadline(t) }

// Close ends Next.
func (a *Acceptor) Close() error {
	if a.closed.Swap(true) {
		return net.ErrClosed
	}
	return a.file.Close()
}

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
