package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/client"
)

// session is one run: the system and the global flags. Every command's options embed it.
type session struct {
	System
	// What follows are the global flags; socket to ca name a daemon.
	socket  string
	server  string
	cert    string
	key     string
	ca      string
	context string
	output  string
	timeout time.Duration
	// chosen is the daemon that was asked; daemon decides it.
	chosen target
	// format is the output format of the command that runs; prepare decides it.
	format string
}

// prepare checks the global flags, once the command is known and before it runs.
func (s *session) prepare(cmd *cobra.Command, _ []string) error {
	if s.timeout < 0 {
		return usage(cmd, "--request-timeout must not be negative; 0 waits for ever")
	}
	var err error
	s.format, err = chooseFormat(cmd, s.output, s.Getenv("SCALWSCTL_OUTPUT"))
	return err
}

// defaultSockets are where a daemon's socket is by default: root's, the user's, the one without a
// run-time directory.
func (s *session) defaultSockets() []string {
	sockets := []string{"/run/scalws/admin.sock"}
	if dir := s.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		sockets = append(sockets, filepath.Join(dir, "scalws", "admin.sock"))
	}
	return append(sockets, fmt.Sprintf("/tmp/scalws-%d/admin.sock", s.UID))
}

// findSocket is the first default socket that accepts a connection.
func (s *session) findSocket(ctx context.Context) (string, error) {
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	sockets := s.defaultSockets()
	for _, socket := range sockets {
		if strings.HasPrefix(socket, "/tmp/") {
			if err := checkOwner(filepath.Dir(socket), s.UID); err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				return "", &failure{code: ExitUnreachable, err: err, hint: "name the daemon's socket with --socket or SCALWSCTL_SOCKET"}
			}
		}
		conn, err := client.Dial(ctx, socket)
		if err == nil {
			conn.Close()
			return socket, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED) {
			return "", err
		}
	}
	return "", &failure{
		code: ExitUnreachable,
		err:  fmt.Errorf("no daemon found at %s", strings.Join(sockets, ", ")),
		hint: "start scalwsd, or name its socket with --socket or SCALWSCTL_SOCKET",
	}
}

// checkOwner refuses a folder below /tmp that somebody else could have made, to be spoken to in the
// daemon's place.
func checkOwner(folder string, uid int) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != uid || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("not connecting to a socket in %s: it must be a folder of user %d with mode 0700", folder, uid)
	}
	return nil
}

// readFile is readAll of a file. Opening it may not end either: it may be a pipe that nobody writes to.
func readFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	return readAll(ctx, &lazyFile{name: name}, limit)
}

// lazyFile is a file that is opened when it is read first, and closed at its end.
type lazyFile struct {
	name string
	file *os.File
}

func (l *lazyFile) Read(p []byte) (n int, err error) {
	if l.file == nil {
		if l.file, err = os.Open(l.name); err != nil {
			return 0, err
		}
	}
	if n, err = l.file.Read(p); err != nil {
		l.file.Close()
	}
	return n, err
}

// readAll reads a stream to its end or to its limit, or until the context ends: a terminal may not have
// an end.
func readAll(ctx context.Context, r io.Reader, limit int64) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(r, limit+1))
		done <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case got := <-done:
		if got.err == nil && int64(len(got.text)) > limit {
			got.err = fmt.Errorf("larger than %d bytes", limit)
		}
		return got.text, got.err
	}
}
