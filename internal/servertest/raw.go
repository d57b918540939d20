package servertest

import (
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// RawPeer listens on a loopback port and gives f every connection, one after the other. Those that f leaves open are
// closed when the test ends. It is for peers that do not speak HTTP; the others are members.
func RawPeer(t testing.TB, f func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open []net.Conn
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open = append(open, conn)
			f(conn)
		}
	})
	t.Cleanup(func() {
		listener.Close()
		running.Wait()
		for _, c := range open {
			c.Close()
		}
	})
	return listener.Addr().String()
}

// FullBacklog listens at an address where nothing is accepted and no room is left: who connects gets no answer.
func FullBacklog(t testing.TB, address string) string {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	raw, err := listener.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	// Listening again makes the backlog that small.
	if raw.Control(func(fd uintptr) { err = unix.Listen(int(fd), 0) }); err != nil {
		t.Fatal(err)
	}
	for range 16 {
		conn, err := net.DialTimeout("tcp", listener.Addr().String(), 200*time.Millisecond)
		if err != nil {
			return listener.Addr().String()
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Fatal("the backlog has no end")
	return ""
}
