package servertest

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// address is where a member listens, again and again.
type address struct {
	text    string
	listen  func() (net.Listener, error)
	release func()
}

// anyPort is what most members live at.
var anyPort = netip.MustParseAddrPort("127.0.0.1:0")

// reservePort takes a loopback port with a socket that is bound and never listens. While it is held,
// the kernel gives the port to nobody who asks for a free one, a connection to it is refused, and a
// listener that names it can come and go (SO_REUSEADDR, which package net sets too).
func reservePort(at netip.AddrPort) (address, error) {
	fd, err := boundSocket(at)
	if err != nil {
		return address{}, err
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		unix.Close(fd)
		return address{}, fmt.Errorf("reading the port: %w", err)
	}
	port := 0
	switch n := name.(type) {
	case *unix.SockaddrInet4:
		port = n.Port
	case *unix.SockaddrInet6:
		port = n.Port
	}
	text := netip.AddrPortFrom(at.Addr(), uint16(port)).String()
	return address{
		text:    text,
		listen:  func() (net.Listener, error) { return net.Listen("tcp", text) },
		release: func() { unix.Close(fd) },
	}, nil
}

// boundSocket is a TCP socket that a child process does not inherit.
func boundSocket(at netip.AddrPort) (int, error) {
	family := unix.AF_INET
	var name unix.Sockaddr
	if at.Addr().Is4() {
		name = &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	} else {
		family = unix.AF_INET6
		name = &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("making a socket: %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		unix.Close(fd)
		return 0, fmt.Errorf("sharing the port: %w", err)
	}
	if err := unix.Bind(fd, name); err != nil {
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
