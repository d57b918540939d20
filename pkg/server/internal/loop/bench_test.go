package loop_test

import (
	"io"
	"net"
	"testing"

	"github.com/scalws/scalws/pkg/server/internal/loop"
)

// echoed is a socket of l whose other end gets back what it sends, from a task.
func echoed(t testing.TB, l *loop.Loop) net.Conn {
	s, peer := pairTCP(t, l)
	done := make(chan struct{})
	t.Cleanup(func() {
		s.Close()
		<-done
	})
	var task *loop.Task
	task = l.NewTask(func() {
		defer close(done)
		s.Bind(task)
		buf := make([]byte, 512)
		for {
			n, err := s.Read(buf)
			if err != nil {
				return
			}
			if _, err = s.Write(buf[:n]); err != nil {
				return
			}
		}
	})
	task.Begin()
	return peer
}

// roundTrip sends a request and reads the answer.
func roundTrip(t testing.TB, c net.Conn, buf []byte) {
	if _, err := c.Write(buf); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, buf); err != nil {
		t.Fatal(err)
	}
}

// A request and its answer, answered by a task and by a goroutine. The client is a goroutine.
func BenchmarkRoundTrip(b *testing.B) {
	for name, dial := range map[string]func() net.Conn{
		"loop": func() net.Conn { return echoed(b, start(b, 1).Any()) },
		"net": func() net.Conn {
			here, there := pairNet(b)
			go io.CopyBuffer(struct{ io.Writer }{here}, struct{ io.Reader }{here}, make([]byte, 512))
			return there
		},
	} {
		b.Run(name, func(b *testing.B) {
			c, buf := dial(), make([]byte, 200)
			b.ReportAllocs()
			for b.Loop() {
				roundTrip(b, c, buf)
			}
		})
	}
}

// pairNet is a connection of the standard library.
func pairNet(t testing.TB) (here, there net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if there, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if here, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close(); there.Close() })
	return here, there
}

// Waiting and changing between tasks takes no memory.
func TestRoundTripAllocates(t *testing.T) {
	c, buf := echoed(t, start(t, 1).Any()), make([]byte, 200)
	if n := testing.AllocsPerRun(1000, func() { roundTrip(t, c, buf) }); n > 0 {
		t.Errorf("%v allocations a round trip", n)
	}
}

// A connection that comes and goes.
func BenchmarkAccept(b *testing.B) {
	g := start(b, 1)
	l, a := accepting(b, g, "tcp", "127.0.0.1:0")
	for name, accept := range map[string]func() (io.Closer, error){
		"loop": func() (io.Closer, error) { return a.Next(g.Pick) },
		"net":  func() (io.Closer, error) { return l.Accept() },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c, err := net.Dial("tcp", l.Addr().String())
				if err != nil {
					b.Fatal(err)
				}
				s, err := accept()
				if err != nil {
					b.Fatal(err)
				}
				s.Close()
				c.Close()
			}
		})
	}
}
