package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
	"github.com/scalws/scalws/pkg/server"
)

// asDaemon makes this test program the daemon.
const asDaemon = "SCALWSD_TEST_AS_DAEMON"

func TestMain(m *testing.M) {
	if os.Getenv(asDaemon) != "" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func TestUsage(t *testing.T) {
	t.Setenv("SCALWSD_CONFIG", "")
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := write("good.yaml", "server: {listeners: [{name: http, address: \"127.0.0.1:0\"}]}\n")
	bad := write("bad.yaml", "server: {listeners: [{name: http, address: \"127.0.0.1:0\"}]}\nmetrics: {adress: x}\n")
	for _, c := range []struct {
		name     string
		args     []string
		code     int
		out, err string
	}{
		{"help", []string{"--help"}, 0, "Exit codes:", ""},
		{"version", []string{"--version"}, 0, "scalwsd ", ""},
		{"unknown flag", []string{"--nope"}, 2, "", "unknown flag: --nope"},
		{"argument", []string{"start"}, 2, "", `unknown argument "start"`},
		{"demo and config", []string{"--demo", "--config", good}, 2, "", "--demo has a configuration of its own"},
		{"demo address alone", []string{"--demo-address", "x"}, 2, "", "--demo-address goes with --demo"},
		{"empty config", []string{"--config", ""}, 2, "", "--config needs the name of a file"},
		{"log level", []string{"--config", good, "--log-level", "loud"}, 2, "", "must be debug, info, warn or error"},
		{"log format", []string{"--config", good, "--log-format", "xml"}, 2, "", "must be text or json"},
		{"check", []string{"--check", "--config", good}, 0, "", "good.yaml: valid"},
		{"check finds problems", []string{"--check", "--config", bad}, 5, "", "bad.yaml:2:11: error: metrics.adress: "},
		{"start with problems", []string{"--config", bad}, 5, "", "bad.yaml:2:11: error: metrics.adress: "},
		{"no file", []string{"--config", filepath.Join(dir, "none.yaml")}, 5, "", "none.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, err bytes.Buffer
			if code := run(c.args, &out, &err); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !strings.Contains(out.String(), c.out) || !strings.Contains(err.String(), c.err) {
				t.Errorf("stdout %q\nstderr %q", out.String(), err.String())
			}
		})
	}
}

// startDaemon runs this program as the daemon and returns it with its greeting.
func startDaemon(t *testing.T, socket string, args ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append(args, "--admin-socket", socket)...)
	cmd.Env = append(os.Environ(), asDaemon+"=1")
	cmd.Stderr = io.Discard
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	var greeting strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		greeting.WriteString(lines.Text() + "\n")
		if strings.Count(greeting.String(), "curl") == 2 {
			break
		}
	}
	go io.Copy(io.Discard, out) // the access log
	return cmd, greeting.String()
}

func socketPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(servertest.SocketDir(t), "admin.sock")
}

// The demo does what the README promises: members in turn, traffic moved by a set, nothing left behind.
func TestDemo(t *testing.T) {
	socket := socketPath(t)
	cmd, greeting := startDaemon(t, socket, "--demo", "--demo-address", "127.0.0.1:0")
	m := regexp.MustCompile(`traffic +(http://\S+)`).FindStringSubmatch(greeting)
	if m == nil {
		t.Fatalf("greeting:\n%s", greeting)
	}
	get := func() string {
		r, err := http.Get(m[1])
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, name := range []string{"a", "b", "c", "a"} {
		if got := get(); !strings.HasPrefix(got, "member "+name+" ") {
			t.Errorf("got %q, want member %s", got, name)
		}
	}
	admin := client.Client{Socket: socket}
	u, err := admin.Upstream(t.Context(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.SetMembers(t.Context(), "demo", []api.SetMember{{Address: u.Members[2].Address}}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := get(); !strings.HasPrefix(got, "member c ") {
			t.Errorf("after the set: %q", got)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	if _, err := os.Lstat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

// systemd opens the socket, starts us, and hears when we are ready and when we stop.
func TestSystemd(t *testing.T) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	socket := socketPath(t)
	heard, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket + ".notify", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Close()
	// The address of the file is another one: the socket is taken by its name.
	config := filepath.Join(t.TempDir(), "c.yaml")
	text := "server: {listeners: [{name: web, address: \"127.0.0.1:1\"}]}\naccess_log: {output: off}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, os.Args[0], "--config", config, "--admin-socket", socket)
	cmd.Env = append(os.Environ(), asDaemon+"=1", "LISTEN_FDS=1", "LISTEN_FDNAMES=web", "NOTIFY_SOCKET="+socket+".notify")
	cmd.ExtraFiles = []*os.File{file}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	hear := func(want string) {
		t.Helper()
		heard.SetReadDeadline(time.Now().Add(10 * time.Second))
		text := make([]byte, 100)
		n, err := heard.Read(text)
		if err != nil || string(text[:n]) != want {
			t.Fatalf("heard %q, %v, want %s", text[:n], err, want)
		}
	}
	hear("READY=1")
	r, err := http.Get("http://" + l.Addr().String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusNotFound {
		t.Errorf("got %s, want the daemon's 404", r.Status)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	hear("STOPPING=1")
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// A second daemon on the same socket says who has it and what to do.
func TestSocketInUse(t *testing.T) {
	socket := socketPath(t)
	startDaemon(t, socket, "--demo", "--demo-address", "127.0.0.1:0")
	var out, errs bytes.Buffer
	code := run([]string{"--demo", "--demo-address", "127.0.0.1:0", "--admin-socket", socket}, &out, &errs)
	if code != exitFailed || !strings.Contains(errs.String(), "socket in use by process ") || !strings.Contains(errs.String(), "--admin-socket") {
		t.Errorf("exit code %d, stderr %q", code, errs.String())
	}
	admin := client.Client{Socket: socket}
	if _, err := admin.Status(context.Background()); err != nil {
		t.Errorf("the first daemon lost its socket: %v", err)
	}
}

// The manual lists every flag and exit code.
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, set, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(set.FlagUsages(), "\n") {
		if name := regexp.MustCompile(`--[a-z-]+`).FindString(line); name != "" && !bytes.Contains(manual, []byte("| `"+name)) {
			t.Errorf("docs/configuration.md does not list %s", name)
		}
	}
	for _, code := range []int{exitDone, exitFailed, exitUsage, exitDrainTimeout, exitInvalid} {
		if !bytes.Contains(manual, fmt.Appendf(nil, "\n| %d | ", code)) {
			t.Errorf("docs/configuration.md does not list exit code %d", code)
		}
	}
}

// What ended the daemon is in its exit code, also where stopping brought another error.
func TestExitCodes(t *testing.T) {
	other := errors.New("closing access log: no space left on device")
	for _, c := range []struct {
		name string
		err  error
		code int
	}{
		{"drained", nil, exitDone},
		{"failed", other, exitFailed},
		{"drain timed out", server.ErrDrainTimeout, exitDrainTimeout},
		{"drain timed out and more", errors.Join(server.ErrDrainTimeout, other), exitDrainTimeout},
		{"second signal", server.ErrKilled, exitFailed},
		{"invalid configuration", &server.ConfigError{}, exitInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code := report(c.err, &flags{}, io.Discard); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
		})
	}
}
