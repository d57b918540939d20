package loop_test

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scalws/scalws/pkg/server/internal/loop"
)

// A task that need not wait leaves the loop to others all the same.
func TestTurns(t *testing.T) {
	buf := make([]byte, 1)
	for name, use := range map[string]func(*loop.Socket) (int, error){
		"read":      func(s *loop.Socket) (int, error) { return s.Read(buf) },
		"write":     func(s *loop.Socket) (int, error) { return s.Write(buf) },
		"write now": func(s *loop.Socket) (int, error) { return s.WriteNow(buf) },
	} {
		t.Run(name, func(t *testing.T) {
			const times = 100
			l := start(t, 1).Any()
			s, peer := pair(t, l)
			say(t, peer, strings.Repeat("x", times))
			turns, others, over := 0, 0, make(chan struct{})
			run(l, func(task *loop.Task) {
				s.Bind(task)
				var other *loop.Task
				other = l.NewTask(func() {
					if others++; turns < times {
						other.Begin()
						return
					}
					close(over)
				})
				other.Begin()
				for ; turns < times; turns++ {
					if _, err := use(s); err != nil {
						t.Error(err)
					}
				}
				s.Bind(nil)
			})
			<-over
			if others < times/10 {
				t.Errorf("another task had %d turns while one had %d", others, times)
			}
		})
	}
}

// A task that has begun goes on before one that has not begins.
func TestBegunFirst(t *testing.T) {
	l := start(t, 1).Any()
	s, peer := pair(t, l)
	var steps []string
	reads := make(chan struct{})
	var begun *loop.Task
	begun = l.NewTask(func() {
		s.Bind(begun)
		s.Read(make([]byte, 1))
		steps = append(steps, "begun")
		s.Bind(nil)
		close(reads)
	})
	begun.Begin()
	held, release := make(chan struct{}), make(chan struct{})
	l.NewTask(func() { close(held); <-release }).Begin() // begun waits
	<-held
	fresh := make(chan struct{})
	l.NewTask(func() { steps = append(steps, "fresh"); close(fresh) }).Begin()
	say(t, peer, "x")
	close(release)
	<-reads
	<-fresh
	if got := strings.Join(steps, " "); got != "begun fresh" {
		t.Error(got)
	}
}

// A loop's thread asks the system for short turns, where the system knows such a wish.
func TestShortSlices(t *testing.T) {
	runtime.LockOSThread() // it ends with this goroutine
	a, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Skip(err)
	}
	const wish = 700e3
	a.Runtime = wish
	if err := unix.SchedSetAttr(0, a, 0); err != nil {
		t.Skip(err)
	}
	if a, err = unix.SchedGetAttr(0, 0); err != nil || a.Runtime != wish {
		t.Skipf("this system keeps no such wish: %v, %v", a.Runtime, err)
	}
	run(start(t, 1).Any(), func(*loop.Task) {
		if a, err := unix.SchedGetAttr(0, 0); err != nil || a.Runtime != loop.Slice {
			t.Errorf("%v and %v, want %v", a.Runtime, err, loop.Slice)
		}
	})
}

// A task that is aside may block, and the others go on.
func TestAside(t *testing.T) {
	l := start(t, 1).Any()
	s, peer := pair(t, l)
	say(t, peer, "abc")
	opened := make(chan struct{})
	var steps []string
	run(l, func(task *loop.Task) {
		s.Bind(task)
		l.NewTask(func() { close(opened) }).Begin()
		s.Bind(nil)
		task.Aside(func() {
			<-opened
			s.SetReadDeadline(time.Now().Add(time.Millisecond))
			got, err := readAll(s) // on a goroutine: it waits in its own way
			if got != "abc" || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("read %q and %v", got, err)
			}
			steps = append(steps, "aside")
		})
		s.Bind(task)
		s.SetReadDeadline(time.Time{})
		l.NewTask(func() { say(t, peer, "def"); peer.Close() }).Begin()
		got, err := readAll(s)
		steps = append(steps, got, err.Error())
		s.Bind(nil)
	})
	if got := strings.Join(steps, " "); got != "aside def EOF" {
		t.Error(got)
	}
}

// A deadline that goes by while a round lasts passes with the round after it: to the task that set it, it has then come.
func TestDeadlineWithinRound(t *testing.T) {
	l := start(t, 1).Any()
	s, _ := pair(t, l)
	run(l, func(task *loop.Task) {
		s.Bind(task)
		deadline := l.Now().Add(5 * time.Millisecond)
		for !time.Now().After(deadline) { // a task that takes its time
		}
		s.SetReadDeadline(deadline)
		if _, err := s.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read ends with %v", err)
		}
		if now := l.Now(); now.Before(deadline) {
			t.Errorf("the deadline passed %v before its time came", deadline.Sub(now))
		}
		s.Bind(nil)
	})
}

// A socket follows the tasks that it is bound to, with what has come and with its deadlines.
func TestMove(t *testing.T) {
	const moves = 100
	g := start(t, 3)
	s, peer := pair(t, g.Any())
	done := make(chan struct{})
	var hop func(n int)
	hop = func(n int) {
		l := g.Any()
		task := l.NewTask(func() {
			buf := make([]byte, 8)
			for want := range 2 { // what has come before it moved, and what comes then
				if n, err := s.Read(buf); n != 1 || err != nil || buf[0] != byte(want) {
					t.Errorf("read %v and %v, want %d", buf[:n], err, want)
				}
				say(t, peer, "\x01")
			}
			s.Read(buf[:1])
			if n > 0 {
				hop(n - 1)
				return
			}
			close(done)
		})
		say(t, peer, "\x00")
		s.SetReadDeadline(time.Now().Add(time.Hour))
		if s.Bind(task); s.Loop() != l {
			t.Error("it did not move")
		}
		task.Begin()
	}
	hop(moves)
	<-done
	l := g.Any()
	s.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
	run(l, func(task *loop.Task) {
		s.Bind(task)
		if _, err := s.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%v, want the deadline that was set before it moved", err)
		}
		s.Bind(nil)
	})
}

// The loop that a socket has moved to tells of room to write, too.
func TestMoveWriting(t *testing.T) {
	g := start(t, 3)
	s, peer := pair(t, g.Any())
	go io.Copy(io.Discard, peer)
	for range 2 * g.Len() {
		run(g.Any(), func(task *loop.Task) {
			s.Bind(task)
			if n, err := s.Write(large); n != len(large) || err != nil {
				t.Errorf("wrote %d and %v", n, err)
			}
			s.Bind(nil)
		})
	}
}

// Coroutines are kept for the next tasks, and go when nobody has needed them for a while. Then nothing wakes a loop.
func TestRest(t *testing.T) {
	const tasks = 100
	before := runtime.NumGoroutine()
	l := start(t, 1).Any()
	for range 2 {
		sockets := make([]*loop.Socket, tasks)
		ended := make(chan error)
		for i := range sockets {
			s, _ := pair(t, l)
			sockets[i] = s
			var task *loop.Task
			task = l.NewTask(func() {
				s.Bind(task)
				s.SetReadDeadline(time.Now().Add(time.Hour))
				_, err := s.Read(make([]byte, 1))
				s.Bind(nil)
				go func() { ended <- err }()
			})
			task.Begin()
		}
		run(l, func(*loop.Task) {}) // all have begun before it
		for _, s := range sockets {
			s.SetReadDeadline(time.Unix(1, 0))
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
			s.Close()
		}
	}
	until(t, "the coroutines to end", func() bool { return runtime.NumGoroutine() <= before+2 }) // the loop, and one that rests
	until(t, "the loop to sleep", l.Sleeps)
}

// panics is where TestPanic's other process does.
func panics() { panic("a mistake") }

// A mistake in a task ends the process, and says where it was made.
func TestPanic(t *testing.T) {
	const other = "LOOP_TEST_PANICS"
	if os.Getenv(other) != "" {
		run(start(t, 1).Any(), func(*loop.Task) { panics() })
	}
	c := exec.Command(os.Args[0], "-test.run=^TestPanic$")
	c.Env = append(os.Environ(), other+"=1")
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "a mistake") || !strings.Contains(string(out), "loop_test.panics") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// A second Close does nothing.
func TestCloseTwice(t *testing.T) {
	g := start(t, 2)
	if g.Len() != 2 || g.Close() != nil {
		t.Fatal("not two, or not closed")
	}
	f, err := os.Open(os.DevNull) // takes a descriptor that was theirs
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g.Close()
	if _, err := f.Stat(); err != nil {
		t.Error(err)
	}
	_, there := pairNet(t)
	if _, err := g.Any().Take(there); !errors.Is(err, syscall.EBADF) {
		t.Errorf("taken by a loop that has ended: %v", err)
	}
	if err := there.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("what was not taken is still open: %v", err)
	}
}
