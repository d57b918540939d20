package loop_test

import (
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/scalws/scalws/pkg/server/internal/loop"
)

// No loop, coroutine or goroutine may be left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is a time that no test that passes waits for.
const patience = 20 * time.Second

// start starts loops that end with the test.
func start(t testing.TB, n int) *loop.Group {
	t.Helper()
	g, err := loop.Start(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// pair is a socket of l and the other end of it.
func pair(t testing.TB, l *loop.Loop) (*loop.Socket, *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fds[1]), "the other end")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	s := l.New(fds[0], "unix", netip.AddrPort{})
	t.Cleanup(func() { s.Close(); c.Close() })
	return s, c.(*net.UnixConn)
}

// pairTCP is pair over TCP.
func pairTCP(t testing.TB, l *loop.Loop) (*loop.Socket, *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Take(accepted)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); c.Close() })
	return s, c.(*net.TCPConn)
}

// ways are the two ways to use a socket. Each runs f, which reads or writes s, and what happens meanwhile. A task has
// begun to wait by then, if it has to.
var ways = map[string]func(s *loop.Socket, f, meanwhile func()){
	"task": func(s *loop.Socket, f, meanwhile func()) {
		done, l := make(chan struct{}), s.Loop()
		var task *loop.Task
		task = l.NewTask(func() {
			s.Bind(task)
			f()
			s.Bind(nil)
			close(done)
		})
		task.Begin()
		l.NewTask(meanwhile).Begin()
		<-done
	},
	"goroutine": func(_ *loop.Socket, f, meanwhile func()) {
		done := make(chan struct{})
		go func() {
			f()
			close(done)
		}()
		meanwhile()
		<-done
	},
}

// run runs f as a task of l and waits for its end.
func run(l *loop.Loop, f func(task *loop.Task)) {
	done := make(chan struct{})
	var task *loop.Task
	task = l.NewTask(func() {
		f(task)
		close(done)
	})
	task.Begin()
	<-done
}

// say writes what surely fits.
func say(t testing.TB, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Error(err)
	}
}

// until waits for what has no event of its own.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); !ok(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
