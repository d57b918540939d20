package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/pkg/server/internal/admin"
)

// adminSocket is the listening admin socket. Closing it removes the file, unless another process has put its
// own there meanwhile.
type adminSocket struct {
	*net.UnixListener
	path string
	file os.FileInfo
	// hold keeps the number of the file from being given to another one, which would be taken for it.
	hold *os.File
	gone sync.Once
	// dir is a folder that was made for the socket and goes with it; empty if it was there before.
	dir string
}

// DefaultAdminSocket is where the admin socket is when nothing is configured: /run/scalws for root, else the
// user's runtime folder, else a folder of the user's own in the system's temporary one.
func DefaultAdminSocket() string {
	if os.Getuid() == 0 {
		return "/run/scalws/admin.sock"
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "scalws", "admin.sock")
	}
	return fmt.Sprintf("/tmp/scalws-%d/admin.sock", os.Getuid())
}

// listenAdmin listens on the admin socket. The file never has more rights than configured, not even for an
// instant: it is bound in a private folder, given its owner and mode, and renamed to its place.
//
// Where before is the socket that stands at the path, the new one takes its place in one step.
func listenAdmin(s config.AdminSocket, before *adminSocket) (*adminSocket, error) {
	path, made := s.Path, ""
	if path == "" {
		path = DefaultAdminSocket()
		if _, err := os.Lstat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
			made = filepath.Dir(path)
		}
		if err := makeDefaultDir(filepath.Dir(path)); err != nil {
			return nil, adminError(path, err)
		}
	}
	if len(path) >= len(unix.RawSockaddrUnix{}.Path) {
		// The private folder's path may be short enough to listen, but nobody could connect to this one.
		return nil, adminError(path, syscall.EINVAL)
	}
	defer claim(path)()
	follows := before != nil && before.path == path
	if !follows {
		if err := removeStale(path); err != nil {
			return nil, adminError(path, err)
		}
	}
	private, err := os.MkdirTemp(filepath.Dir(path), ".scalws-") // 0700
	if err != nil {
		return nil, adminError(path, err)
	}
	defer os.RemoveAll(private)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(private, "s"), Net: "unix"})
	if err != nil {
		return nil, adminError(path, cause(err))
	}
	l.SetUnlinkOnClose(false)
	if err := place(l.Addr().String(), path, s); err != nil {
		l.Close()
		return nil, adminError(path, err)
	}
	hold, err := os.OpenFile(path, unix.O_PATH, 0)
	if err != nil {
		l.Close()
		return nil, adminError(path, err)
	}
	info, err := hold.Stat()
	if err != nil {
		l.Close()
		hold.Close()
		return nil, adminError(path, err)
	}
	if follows {
		made, before.dir = before.dir, "" // the folder goes with the new one
	}
	return &adminSocket{UnixListener: l, path: path, file: info, hold: hold, dir: made}, nil
}

func place(bound, path string, s config.AdminSocket) error {
	if s.Group != "" {
		g, err := user.LookupGroup(s.Group)
		if err != nil {
			return fmt.Errorf("looking up admin.socket.group: %w", err)
		}
		gid, err := strconv.Atoi(g.Gid)
		if err != nil {
			return fmt.Errorf("admin.socket.group: %w", err)
		}
		if err := os.Chown(bound, -1, gid); err != nil {
			return err
		}
	}
	if err := os.Chmod(bound, fs.FileMode(s.Mode)); err != nil {
		return err
	}
	return os.Rename(bound, path)
}

func adminError(path string, err error) error {
	e := &ListenError{Address: "admin socket " + path, err: err}
	var group user.UnknownGroupError
	switch {
	case errors.As(err, &group):
		e.Hint = "create that group, or name one that there is"
	case errors.Is(err, errLive):
		e.Hint = "stop it, or give this one its own socket with --admin-socket or admin.socket.path"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		e.Hint = "the folder must exist and be writable: create it, or choose another with --admin-socket or admin.socket.path"
	case errors.Is(err, syscall.EINVAL):
		e.Hint = "the path is too long for a socket: choose a shorter one with --admin-socket or admin.socket.path"
	default:
		e.Hint = "choose another path with --admin-socket or admin.socket.path"
	}
	return e
}

// makeDefaultDir makes the folder of a default path. One in the shared temporary folder must be ours alone:
// somebody else could have made it to catch our clients.
func makeDefaultDir(dir string) error {
	mode := fs.FileMode(0o700)
	if os.Getuid() == 0 {
		mode = 0o755 // the socket's own mode and group decide who may connect
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != os.Getuid() || info.Mode().Perm()&^mode != 0 {
		return fmt.Errorf("%s must be a folder of ours that nobody else may write to (mode %04o)", dir, mode)
	}
	return nil
}

// Close stops listening and removes the file if it is still the one that was made here. Only the first call does: the
// file's number may be another one's afterwards.
func (a *adminSocket) Close() error {
	err := closer(a.UnixListener)() // it may be closed already
	a.gone.Do(func() {
		if now, statErr := os.Lstat(a.path); statErr == nil && os.SameFile(now, a.file) {
			err = errors.Join(err, os.Remove(a.path))
		}
		a.hold.Close()
		if a.dir != "" {
			os.Remove(a.dir) // it stays if something else is in it
		}
	})
	return err
}

// peerOf says who is at the other end of a unix socket.
func peerOf(c net.Conn) (admin.Peer, error) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return admin.Peer{}, fmt.Errorf("reading peer of %T: not a socket", c)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return admin.Peer{}, fmt.Errorf("reading peer: %w", err)
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return admin.Peer{}, fmt.Errorf("reading peer: %w", err)
	}
	if credErr != nil {
		return admin.Peer{}, fmt.Errorf("reading peer: %w", credErr)
	}
	return admin.Peer{UID: cred.Uid, GID: cred.Gid, PID: cred.Pid}, nil
}
