package loop_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/loop"
)

// accepting listens and accepts until the test ends.
func accepting(t testing.TB, g *loop.Group, network, address string) (net.Listener, *loop.Acceptor) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	a, err := g.Any().Accept(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); l.Close() })
	return l, a
}

func TestAccept(t *testing.T) {
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "socket")} {
		t.Run(network, func(t *testing.T) {
			g := start(t, 1)
			l, a := accepting(t, g, network, address)
			c, err := net.Dial(network, l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			s, err := a.Next(g.Pick)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if network == "tcp" && (s.Peer().String() != c.LocalAddr().String() || s.RemoteAddr().String() != c.LocalAddr().String()) {
				t.Errorf("from %v, want %v", s.Peer(), c.LocalAddr())
			}
			if network == "unix" && s.Peer().IsValid() {
				t.Errorf("from %v, want none", s.Peer())
			}
			say(t, c, "abc")
			c.Close()
			if got, err := readAll(s); got != "abc" {
				t.Errorf("read %q and %v", got, err)
			}
		})
	}
}

// Next ends with a deadline and with Close. What was there before the deadline is given out after it.
func TestAcceptEnds(t *testing.T) {
	g := start(t, 1)
	l, a := accepting(t, g, "tcp", "127.0.0.1:0")
	for range 2 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	a.SetDeadline(time.Unix(1, 0))
	for range 2 {
		s, err := a.Next(g.Pick)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	if _, err := a.Next(g.Pick); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v, want %v", err, os.ErrDeadlineExceeded)
	}
	a.SetDeadline(time.Time{})
	ended := make(chan error)
	go func() {
		_, err := a.Next(g.Pick)
		ended <- err
	}()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != net.ErrClosed {
		t.Errorf("%v, want %v", err, net.ErrClosed)
	}
	if err := a.Close(); err != net.ErrClosed {
		t.Errorf("a second close: %v, want %v", err, net.ErrClosed)
	}
}

// Connections go to the loop that has fewest, also after some have moved or ended.
func TestPick(t *testing.T) {
	const each = 4
	g := start(t, 3)
	l, a := accepting(t, g, "tcp", "127.0.0.1:0")
	loads := map[*loop.Loop][]*loop.Socket{}
	next := func() *loop.Socket {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		s, err := a.Next(g.Pick)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	for range g.Len() * each {
		s := next()
		loads[s.Loop()] = append(loads[s.Loop()], s)
	}
	var quiet, full *loop.Loop
	for l, sockets := range loads {
		if len(sockets) != each || l.Load() != each {
			t.Errorf("loop %d has %d and counts %d, want %d", l.Index(), len(sockets), l.Load(), each)
		}
		quiet, full = full, l
	}
	loads[quiet][0].Close()
	if s := next(); s.Loop() != quiet {
		t.Errorf("loop %d, want %d, where one has ended", s.Loop().Index(), quiet.Index())
	}
	moved := loads[quiet][1]
	run(full, func(task *loop.Task) {
		moved.Bind(task)
		moved.Bind(nil)
	})
	if s := next(); s.Loop() != quiet {
		t.Errorf("loop %d, want %d, which one has left", s.Loop().Index(), quiet.Index())
	}
}
