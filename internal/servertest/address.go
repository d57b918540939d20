package servertest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// address is where a member listens, again and again.
type address struct {
	text    string
	listen  func() (net.Listener, error)
	release func()
}

// reservePort takes a loopback port with a socket that is bound and never listens. While it is held,
// the kernel gives the port to nobody who asks for a free one, a connection to it is refused, and a
// listener that names it can come and go (SO_REUSEADDR, which package net sets too).
func reservePort() (address, error) {
	fd, err := boundSocket()
	if err != nil {
		return address{}, err
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		unix.Close(fd)
		return address{}, fmt.Errorf("reading the port: %w", err)
	}
	text := fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
	return address{
		text:    text,
		listen:  func() (net.Listener, error) { return net.Listen("tcp4", text) },
		release: func() { unix.Close(fd) },
	}, nil
}

// boundSocket is a TCP socket on a free loopback port that a child process does not inherit.
func boundSocket() (int, error) {
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return 0, fmt.Errorf("making a socket: %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		unix.Close(fd)
		return 0, fmt.Errorf("sharing the port: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		unix.Close(fd)
		return 0, fmt.Errorf("binding: %w", err)
	}
	return fd, nil
}

// SocketDir is a folder for sockets that lives as long as the test. Its path is short: the kernel allows a socket
// about a hundred bytes, and the temporary folder of a test with a long name can be longer.
func SocketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "scalws")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// reservePath makes a short path for the socket of a member, see SocketDir.
func reservePath() (address, error) {
	dir, err := os.MkdirTemp("", "member")
	if err != nil {
		return address{}, err
	}
	path := filepath.Join(dir, "sock")
	listen := func() (net.Listener, error) {
		// What Down has left: refusing needs the file, listening needs it gone.
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		listener, err := net.Listen("unix", path)
		if err != nil {
			return nil, err
		}
		listener.(*net.UnixListener).SetUnlinkOnClose(false)
		return listener, nil
	}
	return address{text: "unix:" + path, listen: listen, release: func() { os.RemoveAll(dir) }}, nil
}
