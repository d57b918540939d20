package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scalws/scalws/pkg/server/internal/proxy"
)

// ListenError is an address that cannot be listened on.
type ListenError struct {
	Address string
	// Hint says what to do about it; may be empty.
	Hint string
	err  error
}

func (e *ListenError) Error() string {
	s := fmt.Sprintf("listening on %s: %v", e.Address, e.err)
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// Unwrap gives the cause.
func (e *ListenError) Unwrap() error { return e.err }

// listen opens a listening socket; key is where the address stands in the configuration.
func listen(address, key string) (net.Listener, error) {
	return listenShared(address, key, false)
}

// listenShared is listen; with shared, other processes of the same user that ask for it too may listen on the
// address (SO_REUSEPORT, socket(7)), and the kernel spreads connections over them.
func listenShared(address, key string, shared bool) (net.Listener, error) {
	network, at := "tcp", address
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, at = "unix", path
		defer claim(path)()
		if err := removeStale(path); err != nil {
			return nil, &ListenError{Address: address, err: err, Hint: "stop that process, or change " + key}
		}
	}
	c := net.ListenConfig{KeepAlive: -1} // the listening socket has it, see proxy.Prepare
	if network == "tcp" {
		c.Control = func(_, _ string, raw syscall.RawConn) error {
			if err := proxy.Prepare(raw); err != nil || !shared {
				return err
			}
			return sharePort(raw)
		}
	}
	l, err := c.Listen(context.Background(), network, at)
	if err != nil {
		return nil, &ListenError{Address: address, err: cause(err), Hint: hint(err, key)}
	}
	return l, nil
}

// sharePort has to come before the socket is bound.
func sharePort(raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("sharing the port: %w", err)
	}
	return nil
}

// cause cuts the words that net puts around the system's error.
func cause(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

func hint(err error, key string) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "stop the program that listens there, or change " + key
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "no interface of this machine has that address: change " + key
	case errors.Is(err, fs.ErrPermission):
		return "ports below 1024 need root or CAP_NET_BIND_SERVICE, a unix socket needs a folder that we may write to: grant it, or change " + key
	case errors.Is(err, fs.ErrNotExist):
		return "the folder of the socket does not exist: create it, or change " + key
	default:
		return "check " + key
	}
}

// claimTime is how long a process waits for others that are taking a socket in the same folder. They need
// no time worth mentioning: whoever holds the folder for longer does so for other reasons.
const claimTime = time.Second

// claim keeps other processes from taking the socket at path until release is called: of two that start
// at the same instant, the second one then sees the socket of the first, and not its place empty or the file
// of a socket that is not listened on yet. The lock is on the folder, so that no file is left behind. Where
// it cannot be had, we go on without: that is what it was before the other process came.
func claim(path string) (release func()) {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return func() {} // what follows fails too, and says why
	}
	for end := time.Now().Add(claimTime); ; {
		err := unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(end) {
			return func() { folder.Close() } // closing releases
		}
		time.Sleep(time.Millisecond)
	}
}

// errLive is a socket that somebody listens on.
var errLive = errors.New("socket in use")

// removeStale removes a socket file that nobody listens on. A live one, and a file that is no socket, are
// errors.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s exists and is not a socket", path)
	}
	if owner, live := listenerOf(path); live {
		return fmt.Errorf("%w by %s", errLive, owner)
	}
	return os.Remove(path)
}

// listenerOf says which process listens on a unix socket.
func listenerOf(path string) (owner string, live bool) {
	c, err := net.Dial("unix", path)
	if err != nil {
		// Only a refusal proves that nobody listens; everything else may be a full backlog or a permission.
		return "another process", !errors.Is(err, syscall.ECONNREFUSED)
	}
	defer c.Close()
	p, err := peerOf(c)
	if err != nil {
		return "another process", true
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p.PID))
	if err != nil {
		return fmt.Sprintf("process %d", p.PID), true
	}
	return fmt.Sprintf("process %d (%s)", p.PID, strings.TrimSpace(string(name))), true
}
