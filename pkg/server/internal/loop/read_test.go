package loop_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/loop"
)

// readAll is what reads of at most 8 bytes bring, and how they end.
func readAll(r io.Reader) (string, error) {
	var got strings.Builder
	buf := make([]byte, 8)
	for {
		n, err := r.Read(buf)
		got.Write(buf[:n])
		if err != nil {
			return got.String(), err
		}
	}
}

// What has come is read whole, whenever it came and whatever came behind it, and then the end is told.
func TestRead(t *testing.T) {
	soon := func() time.Time { return time.Now().Add(5 * time.Millisecond) }
	type end = *net.TCPConn
	for name, c := range map[string]struct {
		before, meanwhile func(t *testing.T, s *loop.Socket, peer end)
		want              string
		err               error
	}{
		"there": {
			before: func(t *testing.T, _ *loop.Socket, peer end) { say(t, peer, "abc"); peer.Close() },
			want:   "abc", err: io.EOF,
		},
		"as long as the buffer": {
			before: func(t *testing.T, _ *loop.Socket, peer end) { say(t, peer, "abcdefgh"); peer.Close() },
			want:   "abcdefgh", err: io.EOF,
		},
		"later": {
			meanwhile: func(t *testing.T, _ *loop.Socket, peer end) { say(t, peer, "abc"); peer.CloseWrite() },
			want:      "abc", err: io.EOF,
		},
		"more than once": {
			before:    func(t *testing.T, _ *loop.Socket, peer end) { say(t, peer, "abc") },
			meanwhile: func(t *testing.T, _ *loop.Socket, peer end) { say(t, peer, "defghijklmnop"); peer.Close() },
			want:      "abcdefghijklmnop", err: io.EOF,
		},
		"end": {
			meanwhile: func(_ *testing.T, _ *loop.Socket, peer end) { peer.Close() },
			err:       io.EOF,
		},
		"reset": {
			before:    func(t *testing.T, _ *loop.Socket, peer end) { say(t, peer, "abc") },
			meanwhile: func(_ *testing.T, _ *loop.Socket, peer end) { peer.SetLinger(0); peer.Close() },
			want:      "abc", err: syscall.ECONNRESET,
		},
		"closed": {
			before: func(_ *testing.T, s *loop.Socket, _ end) { s.Close() },
			err:    net.ErrClosed,
		},
		"closed meanwhile": {
			meanwhile: func(_ *testing.T, s *loop.Socket, _ end) { s.Close() },
			err:       net.ErrClosed,
		},
		"deadline gone by": {
			before: func(t *testing.T, s *loop.Socket, peer end) { say(t, peer, "abc"); s.SetReadDeadline(time.Unix(1, 0)) },
			err:    os.ErrDeadlineExceeded,
		},
		"deadline": {
			before: func(t *testing.T, s *loop.Socket, peer end) { say(t, peer, "abc"); s.SetReadDeadline(soon()) },
			want:   "abc", err: os.ErrDeadlineExceeded,
		},
		"deadline meanwhile": {
			meanwhile: func(_ *testing.T, s *loop.Socket, _ end) { s.SetReadDeadline(soon()) },
			err:       os.ErrDeadlineExceeded,
		},
		"past deadline meanwhile": {
			meanwhile: func(_ *testing.T, s *loop.Socket, _ end) { s.SetDeadline(time.Unix(1, 0)) },
			err:       os.ErrDeadlineExceeded,
		},
		"deadline brought forward": {
			before:    func(_ *testing.T, s *loop.Socket, _ end) { s.SetReadDeadline(time.Now().Add(time.Hour)) },
			meanwhile: func(_ *testing.T, s *loop.Socket, _ end) { s.SetReadDeadline(soon()) },
			err:       os.ErrDeadlineExceeded,
		},
		"deadline of writing": {
			before:    func(_ *testing.T, s *loop.Socket, _ end) { s.SetWriteDeadline(time.Unix(1, 0)) },
			meanwhile: func(t *testing.T, _ *loop.Socket, peer end) { say(t, peer, "abc"); peer.Close() },
			want:      "abc", err: io.EOF,
		},
		"deadline taken away": {
			before:    func(_ *testing.T, s *loop.Socket, _ end) { s.SetDeadline(time.Unix(1, 0)); s.SetDeadline(time.Time{}) },
			meanwhile: func(t *testing.T, _ *loop.Socket, peer end) { say(t, peer, "abc"); peer.Close() },
			want:      "abc", err: io.EOF,
		},
		"deadline further than time goes": {
			before:    func(_ *testing.T, s *loop.Socket, _ end) { s.SetReadDeadline(time.Now().Add(1<<63 - 1)) },
			meanwhile: func(t *testing.T, _ *loop.Socket, peer end) { say(t, peer, "abc"); peer.Close() },
			want:      "abc", err: io.EOF,
		},
	} {
		for way, do := range ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				s, peer := pairTCP(t, start(t, 1).Any())
				if c.before != nil {
					c.before(t, s, peer)
				}
				var got string
				var err error
				do(s, func() { got, err = readAll(s) }, func() {
					if c.meanwhile != nil {
						c.meanwhile(t, s, peer)
					}
				})
				if got != c.want || !errors.Is(err, c.err) {
					t.Errorf("read %q and %v, want %q and %v", got, err, c.want, c.err)
				}
				var timeout net.Error
				if c.err == os.ErrDeadlineExceeded && (!errors.As(err, &timeout) || !timeout.Timeout()) {
					t.Errorf("%#v is no timeout to those who ask a net.Error", err)
				}
			})
		}
	}
}

// A deadline that has passed is forgotten with the next one: the read goes on where it was.
func TestReadOn(t *testing.T) {
	for way, do := range ways {
		t.Run(way, func(t *testing.T) {
			s, peer := pair(t, start(t, 1).Any())
			var got string
			var err error
			do(s, func() {
				for end := time.Now(); err == nil || errors.Is(err, os.ErrDeadlineExceeded); end = end.Add(time.Millisecond) {
					s.SetReadDeadline(end)
					var more string
					more, err = readAll(s)
					got += more
				}
			}, func() { say(t, peer, "abcdefghijkl"); peer.Close() })
			if got != "abcdefghijkl" || err != io.EOF {
				t.Errorf("read %q and %v", got, err)
			}
		})
	}
}

// A loop that sleeps until a deadline is woken by an earlier one, and by no later one.
func TestEarlierDeadline(t *testing.T) {
	l := start(t, 1).Any()
	s, _ := pair(t, l)
	s.SetReadDeadline(time.Now().Add(time.Hour))
	until(t, "the loop to sleep", l.Asleep)
	s.SetReadDeadline(time.Now().Add(2 * time.Hour))
	if !l.Asleep() {
		t.Error("woken to look at a deadline later")
	}
	s.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
	if got, err := readAll(s); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %q and %v", got, err)
	}
}

// Poll says what the loop has been told, ReadNow looks. The task does not leave the loop between the two.
func TestLooks(t *testing.T) {
	l := start(t, 1).Any()
	s, peer := pair(t, l)
	say(t, peer, "abc")
	run(l, func(task *loop.Task) {
		s.Bind(task)
		defer s.Bind(nil)
		buf := make([]byte, 8)
		if n, err := s.Poll(buf); n != 3 || err != nil {
			t.Errorf("poll: %d and %v", n, err)
		}
		say(t, peer, "def")
		if _, err := s.Poll(buf); err != loop.ErrWait {
			t.Errorf("a second poll: %v, want %v", err, loop.ErrWait)
		}
		s.SetReadDeadline(time.Unix(1, 0))
		if n, err := s.ReadNow(buf); err != nil || string(buf[:n]) != "def" {
			t.Errorf("read %q and %v", buf[:n], err)
		}
		if _, err := s.ReadNow(buf); err != loop.ErrWait {
			t.Errorf("a second one: %v, want %v", err, loop.ErrWait)
		}
		if _, err := s.Peek(); err != loop.ErrWait {
			t.Errorf("a peek: %v, want %v", err, loop.ErrWait)
		}
	})
}

// Quiet is never wrong about what had come when the loop last looked, or goroutines last read.
func TestQuiet(t *testing.T) {
	l := start(t, 1).Any()
	s, peer := pair(t, l)
	buf := make([]byte, 8)
	run(l, func(task *loop.Task) {
		s.Bind(task)
		l.NewTask(func() { say(t, peer, "abc") }).Begin()
		if _, err := s.Read(buf); err != nil { // it waits, and is watched from now on
			t.Error(err)
		}
		s.Bind(nil)
		say(t, peer, "x")
		if s.Bind(task); s.Quiet() {
			t.Error("quiet in the round in which something came")
		}
		s.Read(buf)
		s.Bind(nil)
		task.Aside(func() {}) // the loop looks
		if s.Bind(task); !s.Quiet() {
			t.Error("not quiet with nothing there")
		}
		s.Bind(nil)

		say(t, peer, "y")
		task.Aside(func() {
			s.Wait()
			stands, used, seen := make(chan struct{}), make(chan struct{}), make(chan struct{})
			l.NewTask(func() {
				close(stands)
				<-used // the loop looks at nothing meanwhile
				if s.Bind(task); s.Quiet() {
					t.Error("quiet with something there that came after goroutines had used it")
				}
				s.Bind(nil)
				close(seen)
			}).Begin()
			<-stands
			s.Read(buf)
			s.Bind(nil)
			say(t, peer, "z")
			close(used)
			<-seen
		})
	})
}

// A task begins when there is something to read.
func TestAwait(t *testing.T) {
	for name, c := range map[string]func(*loop.Socket, *net.UnixConn){
		"bytes":    func(_ *loop.Socket, peer *net.UnixConn) { peer.Write([]byte("abc")) },
		"end":      func(_ *loop.Socket, peer *net.UnixConn) { peer.Close() },
		"closed":   func(s *loop.Socket, _ *net.UnixConn) { s.Close() },
		"deadline": func(s *loop.Socket, _ *net.UnixConn) { s.SetReadDeadline(time.Now().Add(time.Millisecond)) },
		"past":     func(s *loop.Socket, _ *net.UnixConn) { s.SetReadDeadline(time.Unix(1, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t, 1).Any()
			s, peer := pair(t, l)
			turns, done := 0, make(chan struct{})
			var task *loop.Task
			task = l.NewTask(func() {
				s.Bind(task)
				if turns++; turns == 1 {
					s.Poll(make([]byte, 1))
				}
				waits, err := s.Await(task)
				switch {
				case err != nil, waits && turns > 1, !waits && turns == 1:
					t.Errorf("turn %d: waits %v, %v", turns, waits, err)
					fallthrough
				case !waits:
					close(done)
				}
			})
			task.Begin()
			l.NewTask(func() { c(s, peer) }).Begin()
			<-done
		})
	}
}

// Where the kernel does not wait for a socket, that is an error, and no wait for ever.
func TestCannotWait(t *testing.T) {
	g := start(t, 1)
	s, _ := pair(t, g.Any())
	g.Close()
	if _, err := s.ReadNow(make([]byte, 8)); err != loop.ErrWait {
		t.Errorf("read: %v, want %v", err, loop.ErrWait)
	}
	if waits, err := s.Await(g.Any().NewTask(func() {})); waits || !errors.Is(err, syscall.EBADF) {
		t.Errorf("waits %v, %v", waits, err)
	}
	for name, err := range map[string]error{"read": second(s.Read(make([]byte, 8))), "wait": s.Wait(), "write": second(s.Write(large))} {
		if !errors.Is(err, syscall.EBADF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
