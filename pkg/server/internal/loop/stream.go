package loop

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Read reads what is there, or waits for something.
func (s *Socket) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		s.in.mu.Lock()
		err := s.in.usable()
		if err != nil {
			s.in.mu.Unlock()
			return 0, err
		}
		n, err := s.read(p)
		if err != ErrWait {
			s.in.mu.Unlock()
			if s.task != nil {
				s.task.took()
			}
			return n, err
		}
		if err := s.wait(&s.in); err != nil {
			return 0, err
		}
	}
}

// Wait waits until a read may succeed, or fail.
func (s *Socket) Wait() error {
	s.in.mu.Lock()
	if err := s.in.usable(); err != nil || s.in.ready {
		s.in.mu.Unlock()
		return err
	}
	return s.wait(&s.in)
}

// ErrWait is a read that would have to wait.
var ErrWait = errors.New("nothing to read yet")

// ReadNow reads what is there, whatever the deadline. It fails with ErrWait where that is nothing: it looks, also where
// the loop has not been told of anything yet.
func (s *Socket) ReadNow(p []byte) (int, error) {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if !s.in.open {
		return 0, net.ErrClosed
	}
	s.in.ready = true
	return s.read(p)
}

// read is ReadNow. The caller holds the side.
func (s *Socket) read(p []byte) (int, error) {
	d := &s.in
	if !d.ready {
		return 0, ErrWait
	}
	n, err := read(s.fd, p)
	switch {
	case err == syscall.EAGAIN:
		d.ready = false
		return 0, ErrWait
	case err != 0:
		return 0, s.failed("read", err)
	case n == 0:
		return 0, io.EOF
	}
	d.ready = n == len(p) || d.ended
	return n, nil
}

// Poll is Read, but fails with ErrWait where it would have to wait, as far as the loop has been told.
func (s *Socket) Poll(p []byte) (int, error) {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if err := s.in.usable(); err != nil {
		return 0, err
	}
	return s.read(p)
}

// Peek is how many bytes could be read, up to 1, without reading them: 0 at the end of the stream. It fails with ErrWait
// where nothing has come.
func (s *Socket) Peek() (int, error) {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if !s.in.open {
		return 0, net.ErrClosed
	}
	n, err := peek(s.fd)
	switch err {
	case 0:
		return n, nil
	case syscall.EAGAIN:
		return 0, ErrWait
	default:
		return 0, s.failed("recv", err)
	}
}

// Quiet is true if nothing has come: no byte, no end of the stream and no error. Where the loop has looked at its
// sockets since a task let go of this one it would have been told; otherwise Quiet looks itself.
func (s *Socket) Quiet() bool {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	switch {
	case !s.in.open:
		return false
	case s.task != nil && s.in.watched && !s.in.ready && s.rested != 0 && s.rested < s.loop.round:
		return true
	}
	_, err := peek(s.fd)
	return err == syscall.EAGAIN
}

// Write writes all of p, and waits for room.
func (s *Socket) Write(p []byte) (int, error) {
	for sent := 0; ; {
		s.out.mu.Lock()
		err := s.out.usable()
		if err != nil {
			s.out.mu.Unlock()
			return sent, err
		}
		n, err := s.write(p[sent:])
		sent += n
		if err != nil || sent == len(p) {
			s.out.mu.Unlock()
			if s.task != nil {
				s.task.took()
			}
			return sent, err
		}
		if err := s.wait(&s.out); err != nil {
			return sent, err
		}
	}
}

// WriteNow writes as much of p as there is room for, whatever the deadline. It does not wait for room, but a task may
// have to wait for its turn.
func (s *Socket) WriteNow(p []byte) (n int, err error) {
	s.out.mu.Lock()
	if s.out.open {
		n, err = s.write(p)
	} else {
		err = net.ErrClosed
	}
	s.out.mu.Unlock()
	if s.task != nil {
		s.task.took()
	}
	return n, err
}

// write is WriteNow. The caller holds the side.
func (s *Socket) write(p []byte) (int, error) {
	n, err := write(s.fd, p)
	if err != 0 && err != syscall.EAGAIN {
		return 0, s.failed("write", err)
	}
	return n, nil
}

// CloseWrite ends our direction.
func (s *Socket) CloseWrite() error {
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	if !s.out.open {
		return net.ErrClosed
	}
	return os.NewSyscallError("shutdown", unix.Shutdown(s.fd, unix.SHUT_WR))
}

// HungUp is true if both directions have ended: the peer has reset the connection.
func (s *Socket) HungUp() bool {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if !s.in.open {
		return true
	}
	p := []unix.PollFd{{Fd: int32(s.fd)}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0 && p[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}

// Bound sets how many bytes the kernel holds of what is written and not on its way yet (TCP_NOTSENT_LOWAT, tcp(7)).
func (s *Socket) Bound(bytes int) {
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	if s.out.open && s.network == "tcp" {
		unix.SetsockoptInt(s.fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	}
}

// failed says what failed, as net does.
func (s *Socket) failed(op string, err syscall.Errno) error {
	e := &net.OpError{Op: op, Net: s.network, Err: os.NewSyscallError(op, err)}
	if s.peer.IsValid() {
		e.Source, e.Addr = s.local(), s.RemoteAddr()
	}
	return e
}

// Peer is the address of the other end; not valid over a unix socket.
func (s *Socket) Peer() netip.AddrPort { return s.peer }

// RemoteAddr is the address of the other end.
func (s *Socket) RemoteAddr() net.Addr {
	if !s.peer.IsValid() {
		return &net.UnixAddr{Net: s.network}
	}
	return net.TCPAddrFromAddrPort(s.peer)
}

// LocalAddr is the address of this end; an empty one after Close, when the descriptor may be somebody else's.
func (s *Socket) LocalAddr() net.Addr {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	switch {
	case s.in.open:
		return s.local()
	case s.peer.IsValid():
		return &net.TCPAddr{}
	default:
		return &net.UnixAddr{Net: s.network}
	}
}

// local is LocalAddr. The caller holds a side, and the socket is open.
func (s *Socket) local() net.Addr {
	switch a, _ := unix.Getsockname(s.fd); a := a.(type) {
	case *unix.SockaddrInet4:
		return &net.TCPAddr{IP: a.Addr[:], Port: a.Port}
	case *unix.SockaddrInet6:
		return &net.TCPAddr{IP: a.Addr[:], Port: a.Port}
	case *unix.SockaddrUnix:
		return &net.UnixAddr{Name: a.Name, Net: s.network}
	default:
		return &net.UnixAddr{Net: s.network}
	}
}
