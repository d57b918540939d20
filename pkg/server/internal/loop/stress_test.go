package loop_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/loop"
)

var seed = flag.Uint64("seed", 1, "of TestStress")

// echo gives back what comes over a socket, and changes how it waits for it, and where, all the time.
type echo struct {
	t      *testing.T
	g      *loop.Group
	s      *loop.Socket
	task   *loop.Task
	chance *rand.Rand
	buf    []byte
	parked bool
	over   func()
}

// on has the task go on, on a loop.
func (e *echo) on(l *loop.Loop) {
	e.task = l.NewTask(e.turn)
	e.s.Bind(e.task)
	e.task.Begin()
}

// turn is the task.
func (e *echo) turn() {
	for {
		var err error
		how := e.chance.IntN(8)
		if e.parked {
			how = 1
		}
		switch how {
		case 0:
			e.on(e.g.Any()) // last: it may run already
			return
		case 1:
			e.parked, err = e.s.Await(e.task)
			if e.parked {
				return
			}
			if err == nil {
				err = e.carry(e.s.Poll)
			}
		case 2:
			e.s.Bind(nil)
			e.task.Aside(func() { err = e.carry(e.s.Read) })
			e.s.Bind(e.task)
		case 3:
			e.s.SetReadDeadline(time.Now().Add(time.Duration(e.chance.IntN(100)) * time.Microsecond))
			err = e.carry(e.s.Read)
			e.s.SetReadDeadline(time.Time{})
		case 4:
			time.AfterFunc(time.Duration(e.chance.IntN(50))*time.Microsecond, func() { e.s.SetReadDeadline(time.Unix(1, 0)) })
			err = e.carry(e.s.Read)
		case 5:
			if err = e.s.Wait(); err == nil {
				err = e.carry(e.s.ReadNow)
			}
		default:
			err = e.carry(e.s.Read)
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			e.s.SetReadDeadline(time.Time{})
		case err != nil && !errors.Is(err, loop.ErrWait):
			if err != io.EOF && err != net.ErrClosed && !reset(err) {
				e.t.Errorf("echo ended with %v", err)
			}
			e.s.Close()
			e.over()
			return
		}
	}
}

// carry gives back one piece.
func (e *echo) carry(read func([]byte) (int, error)) error {
	n, err := read(e.buf[:1+e.chance.IntN(len(e.buf))])
	for sent := 0; sent < n; {
		w := 0
		var failed error
		if e.chance.IntN(2) == 0 {
			w, failed = e.s.WriteNow(e.buf[sent:n])
			if w == 0 && failed == nil {
				w, failed = e.s.Write(e.buf[sent:n])
			}
		} else {
			e.s.SetWriteDeadline(time.Now().Add(time.Duration(e.chance.IntN(100)) * time.Microsecond))
			w, failed = e.s.Write(e.buf[sent:n])
			e.s.SetWriteDeadline(time.Time{})
		}
		sent += w
		if failed != nil && !errors.Is(failed, os.ErrDeadlineExceeded) {
			return failed
		}
	}
	return err
}

// What goes in comes out, in order and whole, over many sockets at once, whatever becomes of their tasks meanwhile.
// Some are closed in the middle, by either side.
func TestStress(t *testing.T) {
	const sockets = 64
	t.Logf("seed %d", *seed)
	g := start(t, 3)
	var all sync.WaitGroup
	for i := range uint64(sockets) {
		s, peer := pairTCP(t, g.Any())
		chance := rand.New(rand.NewPCG(*seed, i))
		sent := make([]byte, chance.IntN(1<<20))
		rand.NewChaCha8([32]byte{byte(i)}).Read(sent)
		cut := i%8 == 0 // the client leaves in the middle
		kill := i%8 == 1

		all.Add(1)
		e := &echo{t: t, g: g, s: s, chance: rand.New(rand.NewPCG(*seed, ^i)), buf: make([]byte, 16<<10), over: all.Done}
		e.on(s.Loop())
		all.Go(func() {
			for rest := sent; len(rest) > 0; {
				n := min(len(rest), 1+chance.IntN(32<<10))
				if _, err := peer.Write(rest[:n]); err != nil && !cut && !kill {
					t.Errorf("socket %d: writing: %v", i, err)
				}
				rest = rest[n:]
			}
			peer.CloseWrite()
		})
		all.Go(func() {
			peer.SetReadDeadline(time.Now().Add(patience))
			most := int64(len(sent)) + 1
			if cut || kill {
				most = int64(len(sent)) / 2
			}
			got, err := io.ReadAll(io.LimitReader(peer, most))
			switch {
			case cut:
				peer.Close()
			case kill:
				s.Close()
			}
			if err != nil || !bytes.HasPrefix(sent, got) || !cut && !kill && len(got) < len(sent) {
				t.Errorf("socket %d: %d bytes came back of %d, or others: %v", i, len(got), len(sent), err)
			}
		})
	}
	all.Wait()
	for _, l := range loops(g) {
		until(t, "all to be at rest", l.Sleeps)
	}
}

// loops are those of g.
func loops(g *loop.Group) (all []*loop.Loop) {
	for range g.Len() {
		all = append(all, g.Any())
	}
	return all
}

// reset is true for a connection that the other side has left.
func reset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
