package loop

import (
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// always are the events that every watched socket is watched for. Edges are enough: a call that finds less than it
// asked for has found all that there was.
const always = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET

// over are the events after which neither reading nor writing waits.
const over = unix.EPOLLHUP | unix.EPOLLERR

// usable is nil while d may be used.
func (d *side) usable() error {
	switch {
	case !d.open:
		return net.ErrClosed
	case d.late:
		return os.ErrDeadlineExceeded
	default:
		return nil
	}
}

// wait waits until d may be ready. The caller holds d.mu, which is let go.
func (s *Socket) wait(d *side) error {
	if err := s.watch(d); err != nil {
		d.mu.Unlock()
		return err
	}
	if t := s.task; t != nil {
		d.task = t
		d.mu.Unlock()
		t.pause()
		return nil
	}
	if d.signal == nil {
		d.signal = make(chan struct{}, 1)
	}
	d.waits = true
	d.mu.Unlock()
	<-d.signal
	return nil
}

// Await has t begin once there is something to read, the read deadline has passed or the socket is closed. It is false
// if that is so already. It costs no stack while nothing comes. It fails where the kernel has no room for another
// socket that is waited for (epoll_ctl(2)).
func (s *Socket) Await(t *Task) (waits bool, err error) {
	d := &s.in
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.usable() != nil || d.ready {
		return false, nil
	}
	if err := s.watch(d); err != nil {
		return false, err
	}
	d.task = t
	return true, nil
}

// enrol has the loop wait for s before anybody does, and tell what has come already.
func (s *Socket) enrol() error {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	err := s.watch(&s.in)
	s.in.ready = err != nil
	return err
}

// watch has the loop told about d. The caller holds d.mu.
func (s *Socket) watch(d *side) error {
	if d.watched {
		return nil
	}
	l := s.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	asked, op := s.asked|always, unix.EPOLL_CTL_MOD
	if d == &s.out {
		asked |= unix.EPOLLOUT
	}
	if s.asked == 0 {
		op = unix.EPOLL_CTL_ADD
		s.number, s.edition = l.table.add(s)
	}
	if asked != s.asked {
		err := unix.EpollCtl(l.epoll, op, s.fd, &unix.EpollEvent{Events: asked, Fd: s.number, Pad: s.edition})
		if err != nil {
			if op == unix.EPOLL_CTL_ADD {
				l.table.remove(s.number)
			}
			return os.NewSyscallError("epoll_ctl", err)
		}
		s.asked = asked
	}
	d.watched = true
	return nil
}

// move has another loop wait for the socket.
func (s *Socket) move(to *Loop) {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	if !s.in.open {
		return
	}
	s.leave()
	unix.EpollCtl(s.loop.epoll, unix.EPOLL_CTL_DEL, s.fd, nil)
	if s.counted {
		s.loop.load.Add(-1)
		to.load.Add(1)
	}
	s.loop, s.rested = to, 0
	s.in.watched, s.out.watched = false, false
	// What has come already is told by the new loop; where that cannot be, it is found by trying.
	s.in.ready = s.in.ended || s.watch(&s.in) != nil
	if at := soonest(s.in.deadline, s.out.deadline); at != 0 {
		to.arm(s, at)
	}
}

// leave has the loop forget the socket; the kernel forgets it when it is closed. The caller holds both sides.
func (s *Socket) leave() {
	l := s.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timers.remove(s)
	if s.asked != 0 {
		s.asked = 0
		l.table.remove(s.number)
	}
}

// happened is called by l with what the kernel says of s.
func (s *Socket) happened(l *Loop, what uint32) {
	if what&(unix.EPOLLIN|unix.EPOLLRDHUP|over) != 0 {
		s.in.rise(l, what&(unix.EPOLLRDHUP|over) != 0)
	}
	if what&(unix.EPOLLOUT|over) != 0 {
		s.out.rise(l, what&over != 0)
	}
}

// rise makes d ready.
func (d *side) rise(l *Loop, ended bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ready = true
	d.ended = d.ended || ended
	d.wake(l)
}

// wake ends who waits for d. The caller holds d.mu, and is l; nil: it is nobody's goroutine.
func (d *side) wake(l *Loop) {
	if t := d.task; t != nil {
		d.task = nil
		if t.loop == l {
			l.ready = append(l.ready, t)
		} else {
			t.loop.post(t)
		}
	}
	if d.waits {
		d.waits = false
		d.signal <- struct{}{}
		if l != nil {
			l.roused = true
		}
	}
}

// SetDeadline sets both deadlines.
func (s *Socket) SetDeadline(t time.Time) error {
	if err := s.SetReadDeadline(t); err != nil {
		return err
	}
	return s.SetWriteDeadline(t)
}

// SetReadDeadline bounds reading, a read that waits included. The zero time is no bound. A deadline has passed when a round
// of the loop begins after it. So it does not pass while a task looks at [Loop.Now], which stands still: who finds that a
// deadline has passed before its time came would set it again, for ever.
func (s *Socket) SetReadDeadline(t time.Time) error { return s.setDeadline(&s.in, t) }

// SetWriteDeadline bounds writing, a write that waits included. The zero time is no bound.
func (s *Socket) SetWriteDeadline(t time.Time) error { return s.setDeadline(&s.out, t) }

func (s *Socket) setDeadline(d *side, t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.open {
		return net.ErrClosed
	}
	d.deadline, d.late = 0, false
	if t.IsZero() {
		return nil
	}
	l := s.loop
	d.deadline = l.at(t)
	if d.deadline <= l.shown.Load() {
		d.late = true
		d.wake(nil)
	} else {
		l.arm(s, d.deadline)
	}
	return nil
}

// rang looks at the deadlines.
func (s *Socket) rang(l *Loop, now int64) {
	next := soonest(s.in.passed(l, now), s.out.passed(l, now))
	if next == 0 {
		return
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if s.in.open {
		s.loop.arm(s, next)
	}
}

// passed is when d has to be looked at again; 0: never.
func (d *side) passed(l *Loop, now int64) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.deadline == 0 || !d.open || d.late:
		return 0
	case d.deadline > now:
		return d.deadline
	}
	d.late = true
	d.wake(l)
	return 0
}

// soonest is the earlier of two times; 0: none.
func soonest(a, b int64) int64 {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// Close closes the socket and ends who waits for it.
func (s *Socket) Close() error {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	if !s.in.open {
		return net.ErrClosed
	}
	s.in.open, s.out.open = false, false
	s.leave()
	err := syscall.Close(s.fd)
	s.in.wake(nil)
	s.out.wake(nil)
	if s.counted {
		s.loop.load.Add(-1)
	}
	return os.NewSyscallError("close", err)
}
