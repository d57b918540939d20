package loop

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Socket is a stream socket that a loop waits for. It is a net.Conn.
//
// While it is bound to a task, only that task reads and writes it, and waiting leaves the loop to others. Otherwise
// goroutines may use it, one to read and one to write, and waiting stops them. Close, CloseWrite and deadlines may be
// used from everywhere at all times.
type Socket struct {
	fd      int
	loop    *Loop
	task    *Task // who waits; nil: goroutines
	network string
	peer    netip.AddrPort // not valid over a unix socket
	counted bool           // in the loop's load
	rested  uint64         // the round of the loop in which a task let go of it; 0: none has, or goroutines used it since

	in, out side

	// What follows is the loop's, under its mu.
	asked           uint32 // the events that are asked for; 0: it is not watched
	number, edition int32  // in the loop's table
	rings           int64  // in the loop's timers; 0: not there
	place           int
}

// side is one direction of a socket.
type side struct {
	mu       sync.Mutex // held during calls of the system: a descriptor is not closed under them
	open     bool
	watched  bool  // the loop is told when it becomes ready
	ready    bool  // a call need not wait
	ended    bool  // and will never have to again
	late     bool  // the deadline has passed
	deadline int64 // 0: none

	task   *Task // waits
	waits  bool  // a goroutine does
	signal chan struct{}
}

// New makes a socket of a descriptor, which is its own from now on. The descriptor is non-blocking.
func (l *Loop) New(fd int, network string, peer netip.AddrPort) *Socket {
	s := &Socket{fd: fd, loop: l, network: network, peer: peer}
	s.in.open, s.in.ready, s.out.open = true, true, true
	return s
}

// accepted is New for a socket that was accepted. The loop counts it.
func (l *Loop) accepted(fd int, network string, peer netip.AddrPort) *Socket {
	s := l.New(fd, network, peer)
	s.counted = true
	l.load.Add(1)
	return s
}

// Take makes a socket of a connection, which is closed: its descriptor lives on. The socket is waited for from the
// beginning, so that a kernel without room for that (ENOSPC, epoll_ctl(2)) says so here and not in the middle of a read.
func (l *Loop) Take(c net.Conn) (*Socket, error) {
	defer c.Close()
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("taking over %T: not a socket", c)
	}
	fd, err := duplicate(sc)
	if err != nil {
		return nil, fmt.Errorf("taking over connection: %w", err)
	}
	peer := netip.AddrPort{}
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		peer = a.AddrPort()
	}
	s := l.New(fd, c.RemoteAddr().Network(), peer)
	if err := s.enrol(); err != nil {
		s.Close()
		return nil, fmt.Errorf("taking over connection: %w", err)
	}
	return s, nil
}

// duplicate is a second descriptor of a socket. It is non-blocking, as the first one is.
func duplicate(sc syscall.Conn) (fd int, err error) {
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, err
	}
	if failed := raw.Control(func(theirs uintptr) { fd, err = unix.FcntlInt(theirs, unix.F_DUPFD_CLOEXEC, 0) }); failed != nil {
		return 0, failed
	}
	return fd, os.NewSyscallError("fcntl", err)
}

// Loop is the one that waits for the socket.
func (s *Socket) Loop() *Loop { return s.loop }

// Bind has t be who waits; nil: goroutines. Nobody waits meanwhile. The socket moves to the task's loop.
func (s *Socket) Bind(t *Task) {
	switch {
	case t == nil && s.task != nil:
		s.rested = s.loop.round
	case t == nil:
		s.rested = 0
	case t != nil && t.loop != s.loop:
		s.move(t.loop)
	}
	s.task = t
}
