package loop_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// large is more than a socket holds.
var large = bytes.Repeat([]byte("0123456789abcdef"), 64<<10)

// A write waits for room as often as it has to, and says how far it came.
func TestWrite(t *testing.T) {
	for way, do := range ways {
		t.Run("whole/"+way, func(t *testing.T) {
			s, peer := pair(t, start(t, 1).Any())
			got := make(chan []byte, 1)
			do(s, func() {
				if n, err := s.Write(large); n != len(large) || err != nil {
					t.Errorf("wrote %d and %v", n, err)
				}
				s.CloseWrite()
			}, func() {
				go func() {
					p, _ := io.ReadAll(peer)
					got <- p
				}()
			})
			if !bytes.Equal(<-got, large) {
				t.Error("what came is not what was sent")
			}
		})
		for name, c := range map[string]struct {
			before, meanwhile func(io.Closer, deadlines)
			none              bool
			err               error
		}{
			"deadline":            {before: func(_ io.Closer, s deadlines) { s.SetWriteDeadline(time.Now().Add(5 * time.Millisecond)) }, err: os.ErrDeadlineExceeded},
			"deadline meanwhile":  {meanwhile: func(_ io.Closer, s deadlines) { s.SetWriteDeadline(time.Now().Add(time.Millisecond)) }, err: os.ErrDeadlineExceeded},
			"deadline gone by":    {before: func(_ io.Closer, s deadlines) { s.SetWriteDeadline(time.Unix(1, 0)) }, none: true, err: os.ErrDeadlineExceeded},
			"closed":              {before: func(_ io.Closer, s deadlines) { s.Close() }, none: true, err: net.ErrClosed},
			"closed meanwhile":    {meanwhile: func(_ io.Closer, s deadlines) { s.Close() }, err: net.ErrClosed},
			"peer gone":           {before: func(peer io.Closer, _ deadlines) { peer.Close() }, none: true, err: syscall.EPIPE},
			"peer gone meanwhile": {meanwhile: func(peer io.Closer, _ deadlines) { peer.Close() }, err: syscall.EPIPE},
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				s, peer := pair(t, start(t, 1).Any())
				if c.before != nil {
					c.before(peer, s)
				}
				var n int
				var err error
				do(s, func() { n, err = s.Write(large) }, func() {
					if c.meanwhile != nil {
						c.meanwhile(peer, s)
					}
				})
				// Where it ended meanwhile, a goroutine may not even have begun.
				if !errors.Is(err, c.err) || c.none && n > 0 || n == len(large) || way == "task" && !c.none && n == 0 {
					t.Errorf("wrote %d and %v, want %v", n, err, c.err)
				}
			})
		}
	}
}

type deadlines interface {
	io.Closer
	SetWriteDeadline(time.Time) error
}

// Reading and writing wait side by side.
func TestBothWays(t *testing.T) {
	s, peer := pair(t, start(t, 1).Any())
	sent, got := make(chan error), make(chan []byte)
	go func() {
		_, err := s.Write(large)
		s.CloseWrite()
		sent <- err
	}()
	go func() {
		p, _ := io.ReadAll(s)
		got <- p
	}()
	go func() {
		io.Copy(peer, peer)
		peer.CloseWrite()
	}()
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if !bytes.Equal(<-got, large) {
		t.Error("not what was sent")
	}
}

// After Close nothing works any more, and nothing asks about a descriptor that may be somebody else's.
func TestClosed(t *testing.T) {
	l := start(t, 1).Any()
	s, _ := pairTCP(t, l)
	if a, ok := s.LocalAddr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() || a.Port == 0 {
		t.Errorf("local address %v", s.LocalAddr())
	}
	if s.HungUp() || s.Close() != nil {
		t.Error("hung up, or not closed")
	}
	for name, err := range map[string]error{
		"close": s.Close(), "close write": s.CloseWrite(), "wait": s.Wait(),
		"deadline": s.SetDeadline(time.Time{}), "past": s.SetReadDeadline(time.Unix(1, 0)),
		"poll": second(s.Poll(large)), "read": second(s.ReadNow(large)), "write": second(s.WriteNow(large)), "peek": second(s.Peek()),
	} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v, want %v", name, err, net.ErrClosed)
		}
	}
	if a, ok := s.LocalAddr().(*net.TCPAddr); !ok || a.Port != 0 {
		t.Errorf("local address %v, want none", s.LocalAddr())
	}
	if !s.HungUp() || s.Quiet() {
		t.Error("not hung up, or quiet")
	}
}

func second(_ int, err error) error { return err }
