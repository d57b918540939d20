package ctl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/scalws/scalws/pkg/api"
)

// run is one run of scalwsctl at noon against a daemon with the usual pools.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	(&fakeDaemon{pools: fakePools(noon())}).start(t, socket)
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, System{
		In: strings.NewReader(""), Out: &out, Err: &errs, Now: noon,
		Getenv: env(map[string]string{"SCALWSCTL_SOCKET": socket, "TERM": "xterm"}),
	})
	return code, out.String(), strings.ReplaceAll(errs.String(), socket, "SOCKET")
}

// env is an environment.
func env(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

const listTable = `
POOL    BALANCE                MEMBER              WEIGHT  SHARE  STATE      IN FLIGHT  FAILURES  EJECTED FOR  LAST FAILURE
api     least_conn             192.0.2.5:8080           2  50.0%  up                12         0            -  -
api     least_conn             192.0.2.6:8080           1  25.0%  ejected            0         3         8.2s  connect_refused
api     least_conn             [2001:db8::7]:8080       1  25.0%  probation          1         3            -  status_503
canary  round_robin            -                        -      -  -                  -         -            -  -
web     hash/cookie:SHOP_NODE  198.51.100.10:8443       1   0.1%  up                 0         0            -  -
web     hash/cookie:SHOP_NODE  198.51.100.11:8443    1000  99.9%  up                 0         0            -  -
`

const showAPI = `
Pool:            api
Members from:    api
Balance:         least_conn
Scheme:          http
Retries:         1
Keepalive:       32 idle connections a member
Passive health:  ejected after 3 failures for 10s, then 1 request at once on probation
Revision:        7
Members:         3, 1 ejected, 1 on probation

MEMBER              WEIGHT  SHARE  STATE      IN FLIGHT  FAILURES  EJECTED FOR  LAST FAILURE
192.0.2.5:8080           2  50.0%  up                12         0            -  -
192.0.2.6:8080           1  25.0%  ejected            0         3         8.2s  connect_refused
[2001:db8::7]:8080       1  25.0%  probation          1         3            -  status_503
`

const showWeb = `
Pool:            web
Members from:    file
Balance:         hash/cookie:SHOP_NODE
Cookie max age:  1d
Scheme:          https
CA file:         -
Server name:     web.internal
Retries:         2
Retry budget:    0.2 of the requests, at least 10 a second
Keepalive:       0 idle connections a member
Passive health:  off
Revision:        2
Members:         2

MEMBER              WEIGHT  SHARE  STATE  IN FLIGHT  FAILURES  EJECTED FOR  LAST FAILURE
198.51.100.10:8443       1   0.1%  up             0         0            -  -
198.51.100.11:8443    1000  99.9%  up             0         0            -  -
`

const statusPage = `
State:                serving
Version:              v1.2.3
PID:                  4242
Started:              2026-11-29 10:30:00 UTC (1h30m0s ago)
Boot:                 b00t
Daemon:               SOCKET
Chosen by:            SCALWSCTL_SOCKET
Configuration:        /etc/scalws/scalws.yaml
Loaded:               2026-11-29 11:59:00 UTC (1m0s ago)
Digest:               abc123
Listener http:        127.0.0.1:8080
Quota acme/shop/api:  7 of 100 used, until 2026-11-30 00:00:00 UTC
`

func TestTables(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"list":     {[]string{"upstreams"}, listTable},
		"show api": {[]string{"upstreams", "show", "api"}, showAPI},
		"show web": {[]string{"upstreams", "show", "web"}, showWeb},
		"status":   {[]string{"status"}, statusPage},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, test.args...)
			if code != ExitDone || stderr != "" {
				t.Fatalf("exit code %d, stderr %q", code, stderr)
			}
			got := "\n" + socketLine(stdout)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

// socketLine replaces the one value that differs from run to run.
func socketLine(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "Daemon:") {
			lines[i] = line[:strings.LastIndexByte(line, ' ')+1] + "SOCKET"
		}
	}
	return strings.Join(lines, "\n")
}

// -o json is the daemon's document, but for its layout.
func TestJSONIsTheDaemons(t *testing.T) {
	pools := fakePools(noon())
	for name, test := range map[string]struct {
		args []string
		want any
	}{
		"list":   {[]string{"upstreams", "-o", "json"}, api.Upstreams{Upstreams: pools}},
		"show":   {[]string{"upstreams", "show", "web", "-o", "json"}, pools[2]},
		"set":    {[]string{"upstreams", "set", "canary", "--empty", "-o", "json"}, pools[1]},
		"status": {[]string{"status", "-o", "json"}, fakeStatus()},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, _ := run(t, test.args...)
			if code != ExitDone || !strings.HasPrefix(stdout, "{\n  ") || !strings.HasSuffix(stdout, "\n}\n") {
				t.Fatalf("exit code %d, output %q", code, stdout)
			}
			var got bytes.Buffer
			if err := json.Compact(&got, []byte(stdout)); err != nil {
				t.Fatal(err)
			}
			want, err := json.Marshal(test.want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("document (-daemon +scalwsctl):\n%s", diff)
			}
		})
	}
}

// A daemon cannot make a terminal do anything.
func TestTablesAreHarmless(t *testing.T) {
	dir, err := os.MkdirTemp("", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	const bad = "\x1b[2J\n"
	(&fakeDaemon{pools: []api.Upstream{{
		Name: bad, MembersFrom: bad, Balance: bad, Hash: &api.Hash{By: bad, Name: bad}, Scheme: bad,
		Members: []api.Member{{Address: bad, State: bad, LastFailure: bad}},
	}}}).start(t, filepath.Join(dir, "s"))
	socket := filepath.Join(dir, "s")
	for _, args := range [][]string{
		{"--socket", socket, "upstreams"},
		{"--socket", socket, "upstreams", "show", bad},
		{"__complete", "upstreams", "show", "--socket", socket, ""},
	} {
		var out, errs bytes.Buffer
		code := Main(t.Context(), args, System{Out: &out, Err: &errs, Getenv: env(nil), Now: noon})
		if code != ExitDone || strings.Contains(out.String(), "\x1b") || !strings.Contains(out.String(), `\x1b[2J\n`) {
			t.Errorf("%q: exit code %d, output %q, stderr %q", args, code, out.String(), errs.String())
		}
	}
}

func TestEjectedFor(t *testing.T) {
	for left, want := range map[time.Duration]string{
		-time.Second:             "0s",
		0:                        "0s",
		time.Millisecond:         "100ms",
		8150 * time.Millisecond:  "8.2s",
		10 * time.Second:         "10s",
		10001 * time.Millisecond: "11s",
		time.Hour:                "1h0m0s",
	} {
		until := noon().Add(left)
		if got := ejectedFor(api.Member{EjectedUntil: &until}, noon()); got != want {
			t.Errorf("%v: %q, want %q", left, got, want)
		}
	}
	if got := ejectedFor(api.Member{}, noon()); got != "-" {
		t.Errorf("not ejected: %q", got)
	}
}

// terminal opens a pseudo-terminal: what is written to the one can be read from the other.
func terminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no pseudo-terminals: ", err)
	}
	t.Cleanup(func() { ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	return ours, theirs
}

// Colour is where a member is in trouble, and only on a terminal that has it and whose user wants it.
func TestColour(t *testing.T) {
	_, tty := terminal(t)
	pipe, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	const plain, red = "ejected", "\x1b[31mejected\x1b[0m"
	for name, test := range map[string]struct {
		out  *os.File
		env  map[string]string
		want string
	}{
		"terminal":               {tty, map[string]string{"TERM": "xterm-256color"}, red},
		"NO_COLOR":               {tty, map[string]string{"TERM": "xterm-256color", "NO_COLOR": "1"}, plain},
		"NO_COLOR empty":         {tty, map[string]string{"TERM": "xterm-256color", "NO_COLOR": ""}, red},
		"dumb terminal":          {tty, map[string]string{"TERM": "dumb"}, plain},
		"unknown terminal":       {tty, nil, plain},
		"file":                   {pipe, map[string]string{"TERM": "xterm-256color"}, plain},
		"file, colour is forced": {pipe, map[string]string{"TERM": "xterm-256color", "CLICOLOR_FORCE": "1"}, plain},
	} {
		t.Run(name, func(t *testing.T) {
			palette := newStatePalette(newOutput(test.out), env(test.env))
			if got := palette.paint(api.StateEjected); got != test.want {
				t.Errorf("ejected is %q, want %q", got, test.want)
			}
			if got := palette.paint(api.StateUp); got != api.StateUp {
				t.Errorf("up is %q, want it plain", got)
			}
			if got := palette.paint("\x1b[2J"); got != `\x1b[2J` {
				t.Errorf("a state that nobody knows is %q, want it harmless", got)
			}
		})
	}
}

// Colours do not shift columns.
func TestColouredTableIsAligned(t *testing.T) {
	var out bytes.Buffer
	rows := [][]string{{"up", "1"}, {"\x1b[31mejected\x1b[0m", "2"}}
	if err := writeTable(&out, []string{"STATE", "N"}, []bool{false, true}, rows); err != nil {
		t.Fatal(err)
	}
	want := "STATE    N\nup       1\nejected  2\n"
	got := strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "").Replace(out.String())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// brokenWriter fails every write.
type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestOutputThatFails(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		args []string
		code int
		text string
	}{
		"disk full":                  {syscall.ENOSPC, []string{"version"}, ExitFailed, "error: writing the output: no space left on device\n"},
		"disk full after a failure":  {syscall.ENOSPC, []string{"nope"}, ExitUsage, "unknown command"},
		"reader gone":                {syscall.EPIPE, []string{"version"}, ExitDone, ""},
		"reader gone, after failure": {syscall.EPIPE, []string{"nope"}, ExitUsage, "unknown command"},
	} {
		t.Run(name, func(t *testing.T) {
			var errs bytes.Buffer
			code := Main(t.Context(), test.args, System{
				Out: brokenWriter{&os.PathError{Op: "write", Path: "/dev/stdout", Err: test.err}}, Err: &errs, Getenv: env(nil), Now: noon})
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			want := strings.Replace(test.text, "output: no", "output: write /dev/stdout: no", 1)
			if !strings.Contains(errs.String(), want) || (test.text == "" && errs.Len() > 0) {
				t.Errorf("stderr %q, want %q", errs.String(), want)
			}
		})
	}
}

// A large output meets the failure in the middle: what comes after it is not written.
func TestOutputStopsAtTheFirstFailure(t *testing.T) {
	failed := errors.New("no")
	out := newOutput(brokenWriter{failed})
	chunk := make([]byte, 100_000)
	for range 2 {
		if n, err := out.Write(chunk); n != len(chunk) || err != nil {
			t.Fatalf("a command sees %d, %v", n, err)
		}
	}
	if err := out.close(); !errors.Is(err, failed) {
		t.Errorf("close: %v, want %v", err, failed)
	}
}

func BenchmarkList10000(b *testing.B) {
	s := &session{System: System{Out: bytes.NewBuffer(nil), Getenv: env(nil), Now: noon}}
	pools := []api.Upstream{bigPool()}
	for b.Loop() {
		if err := s.memberTable(s.memberColumns(), pools); err != nil {
			b.Fatal(err)
		}
	}
}
