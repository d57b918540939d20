package ctl

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listen makes a socket that accepts connections.
func listen(t *testing.T, socket string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
}

func TestSocketOrder(t *testing.T) {
	runtime := t.TempDir()
	users := filepath.Join(runtime, "scalws", "admin.sock")
	listen(t, users)
	for name, test := range map[string]struct {
		flag  string
		env   map[string]string
		want  string
		found bool
	}{
		"flag":                     {"/flag", map[string]string{"SCALWSCTL_SOCKET": "/env", "XDG_RUNTIME_DIR": runtime}, "/flag", false},
		"environment":              {"", map[string]string{"SCALWSCTL_SOCKET": "/env", "XDG_RUNTIME_DIR": runtime}, "/env", false},
		"empty environment, found": {"", map[string]string{"SCALWSCTL_SOCKET": "", "XDG_RUNTIME_DIR": runtime}, users, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &session{System: System{Getenv: env(test.env), UID: os.Getuid()}, socket: test.flag}
			if _, err := os.Stat(s.defaultSockets()[0]); test.found && err == nil {
				t.Skip("a daemon runs on this machine")
			}
			c, found, err := s.daemon(t.Context())
			if err != nil || c.Socket != test.want || found != test.found {
				t.Errorf("socket %q, found %v, error %v; want %q, %v", c.Socket, found, err, test.want, test.found)
			}
		})
	}
}

func TestDefaultSockets(t *testing.T) {
	s := &session{System: System{Getenv: env(map[string]string{"XDG_RUNTIME_DIR": "/run/user/1000"}), UID: 1000}}
	want := []string{"/run/scalws/admin.sock", "/run/user/1000/scalws/admin.sock", "/tmp/scalws-1000/admin.sock"}
	if diff := cmp.Diff(want, s.defaultSockets()); diff != "" {
		t.Errorf("sockets (-want +got):\n%s", diff)
	}
	s.Getenv = env(nil)
	if diff := cmp.Diff([]string{want[0], want[2]}, s.defaultSockets()); diff != "" {
		t.Errorf("sockets without a run-time directory (-want +got):\n%s", diff)
	}
}

// A socket that somebody else could have put below /tmp is not spoken to.
func TestCheckOwner(t *testing.T) {
	for name, test := range map[string]struct {
		mode os.FileMode
		uid  int
		ok   bool
	}{
		"ours":              {0o700, os.Getuid(), true},
		"open to others":    {0o755, os.Getuid(), false},
		"open to the group": {0o710, os.Getuid(), false},
		"of somebody else":  {0o700, os.Getuid() + 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "d")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(folder, test.mode); err != nil {
				t.Fatal(err)
			}
			if err := checkOwner(folder, test.uid); (err == nil) != test.ok {
				t.Errorf("error %v, want ok %v", err, test.ok)
			}
			link := folder + "-link"
			if err := os.Symlink(folder, link); err != nil {
				t.Fatal(err)
			}
			if err := checkOwner(link, test.uid); err == nil {
				t.Error("a link is taken for the folder")
			}
		})
	}
}

// A change says which daemon was found; one that was named is not worth a line.
func TestSetNamesTheDaemonItFound(t *testing.T) {
	runtime, err := os.MkdirTemp("", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(runtime) })
	socket := filepath.Join(runtime, "scalws", "admin.sock")
	if err := os.Mkdir(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	(&fakeDaemon{pools: fakePools(noon())}).start(t, socket)
	if _, err := os.Stat("/run/scalws/admin.sock"); err == nil {
		t.Skip("a daemon runs on this machine")
	}
	checkSet(t, "found", runtime, nil, "using the daemon at "+socket+"\ncanary: added a:1\n")
	checkSet(t, "named", runtime, []string{"--socket", socket}, "canary: unchanged\n")
}

func checkSet(t *testing.T, name, runtime string, flags []string, want string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := Main(t.Context(), append(flags, "upstreams", "set", "canary", "a:1"), System{
		In: strings.NewReader(""), Out: &out, Err: &errs, Now: noon, UID: os.Getuid(),
		Getenv: env(map[string]string{"XDG_RUNTIME_DIR": runtime})})
	if code != ExitDone || errs.String() != want {
		t.Errorf("%s: exit code %d, stderr %q; want %q", name, code, errs.String(), want)
	}
}

func TestNoDaemonFound(t *testing.T) {
	if _, err := os.Stat("/run/scalws/admin.sock"); err == nil {
		t.Skip("a daemon runs on this machine")
	}
	var errs bytes.Buffer
	code := Main(t.Context(), []string{"status"}, System{
		Out: &bytes.Buffer{}, Err: &errs, Getenv: env(map[string]string{"XDG_RUNTIME_DIR": "/nowhere"}), UID: 999999, Now: noon})
	want := "error: no daemon found at /run/scalws/admin.sock, /nowhere/scalws/admin.sock, /tmp/scalws-999999/admin.sock\n" +
		"hint:  start scalwsd, or name its socket with --socket or SCALWSCTL_SOCKET\n"
	if code != ExitUnreachable || errs.String() != want {
		t.Errorf("exit code %d, stderr %q; want %q", code, errs.String(), want)
	}
}

// A shell waits a second for names, however long the other commands may wait.
func TestCompletionGivesUp(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	listen(t, socket) // accepts, in the kernel, and never answers
	ctx, cancel := context.WithTimeout(t.Context(), 10*completionTimeout)
	defer cancel()
	s := &session{System: System{Getenv: env(nil)}, socket: socket}
	if names := append(s.poolNames(ctx, ""), s.memberNames(ctx, "api", nil)...); len(names) > 0 {
		t.Errorf("names %q from nobody", names)
	}
	if ctx.Err() != nil {
		t.Error("it waited for more than a second")
	}
}
