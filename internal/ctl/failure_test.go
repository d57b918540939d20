package ctl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

func TestExitCodes(t *testing.T) {
	problem := func(status int) error {
		return fmt.Errorf("doing: %w", api.NewProblem(status, "", "no"))
	}
	for name, test := range map[string]struct {
		err  error
		want int
	}{
		"nothing":         {nil, 0},
		"any error":       {errors.New("no"), 1},
		"500":             {problem(500), 1},
		"404":             {problem(404), 3},
		"403":             {problem(403), 4},
		"409":             {problem(409), 4},
		"501":             {problem(501), 4},
		"400":             {problem(400), 5},
		"413":             {problem(413), 5},
		"412":             {problem(412), 6},
		"unreachable":     {fmt.Errorf("doing: %w", &client.Unreachable{Socket: "s", Err: fs.ErrNotExist}), 7},
		"timed out":       {fmt.Errorf("doing: %w", context.DeadlineExceeded), 8},
		"only a hint":     {&failure{err: problem(409), hint: "do"}, 4},
		"its own code":    {&failure{code: ExitUsage, err: problem(409)}, 2},
		"said already":    {&failure{code: ExitInvalid}, 5},
		"wrapped failure": {fmt.Errorf("doing: %w", &failure{code: ExitInvalid, err: errors.New("no")}), 5},
	} {
		t.Run(name, func(t *testing.T) {
			if got := report(&bytes.Buffer{}, test.err); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
		})
	}
}

func TestReport(t *testing.T) {
	many := api.NewProblem(400, api.CodeInvalidMembers, "members[0].weight: bad")
	for i := range 9 {
		many.Errors = append(many.Errors, api.FieldError{Path: fmt.Sprintf("members[%d].weight", i), Detail: "bad"})
	}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"nothing":      {nil, ""},
		"said already": {&failure{code: ExitInvalid}, ""},
		"without hint": {errors.New("no"), "error: no\n"},
		"context of a wrapped failure": {
			fmt.Errorf("doing: %w", &failure{code: 1, err: errors.New("no"), hint: "do"}),
			"error: doing: no\nhint:  do\n",
		},
		"lines and escapes": {errors.New("a\nb\x1b[2J\u202e\u00e9"), `error: a\nb\x1b[2J\u202eé` + "\n"},
		"several entries": {many, "error: members[0].weight: bad\n" +
			"       members[1].weight: bad\n       members[2].weight: bad\n       members[3].weight: bad\n" +
			"       members[4].weight: bad\n       members[5].weight: bad\n       and 3 more\n" +
			"hint:  nothing was changed; correct the list and run the command again\n"},
		"no permission": {
			&client.Unreachable{Socket: "s", Err: syscall.EACCES},
			"error: connecting to s: permission denied\nhint:  run it as root, or as a member of the group that owns the socket\n",
		},
		"stale socket": {
			&client.Unreachable{Socket: "s", Err: syscall.ECONNREFUSED},
			"error: connecting to s: connection refused\nhint:  nobody listens there any more: start scalwsd\n",
		},
		"full backlog": {
			&client.Unreachable{Socket: "s", Err: syscall.EAGAIN},
			"error: connecting to s: resource temporarily unavailable\n" +
				"hint:  the daemon is there but takes no connection: too many wait for it; try again\n",
		},
		"path too long": {
			&client.Unreachable{Socket: "s", Err: syscall.EINVAL},
			"error: connecting to s: invalid argument\n" +
				"hint:  the path is too long for a socket: name a shorter one with --socket or SCALWSCTL_SOCKET\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			report(&out, test.err)
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

// A set that breaks off says that nobody knows how it ended; one that never began does not.
func TestSetThatBreaksOff(t *testing.T) {
	const hint = "hint:  the list may have been replaced; look with 'scalwsctl upstreams show canary'\n"
	for name, test := range map[string]struct {
		put  func(cancel context.CancelFunc, w http.ResponseWriter, r *http.Request)
		code int
		text string
	}{
		"connection lost": {func(context.CancelFunc, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			ExitFailed, "EOF\n" + hint},
		"no answer in time": {func(_ context.CancelFunc, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			ExitTimeout, "context deadline exceeded\n" + hint},
		"interrupted": {func(cancel context.CancelFunc, _ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		},
			ExitInterrupted, "error: interrupted\n" + hint},
		"refused": {func(_ context.CancelFunc, w http.ResponseWriter, _ *http.Request) {
			refuse(w, api.NewProblem(409, api.CodeMembersFromFile, "no"))
		}, ExitRefused, "hint:  change the members in the configuration file and reload, or give the pool members_from: api\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "ctl")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			socket := filepath.Join(dir, "s")
			serveUnix(t, socket, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPut {
					io.Copy(io.Discard, r.Body) // only then does a server notice that its client has gone
					test.put(cancel, w, r)
					return
				}
				answer(w, api.Upstream{Name: "canary", Members: []api.Member{}})
			}))
			timeout := "10s"
			if test.code == ExitTimeout {
				timeout = "100ms"
			}
			var errs bytes.Buffer
			code := Main(ctx, []string{"--socket", socket, "--request-timeout", timeout, "upstreams", "set", "canary", "a:1"},
				System{Out: &bytes.Buffer{}, Err: &errs, Getenv: env(nil), Now: noon})
			if code != test.code || !strings.HasSuffix(errs.String(), test.text) {
				t.Errorf("exit code %d, stderr %q; want %d, %q", code, errs.String(), test.code, test.text)
			}
		})
	}
}

// An interrupt ends a command that waits for input that never comes.
func TestInterruptWhileReading(t *testing.T) {
	for name, args := range map[string][]string{
		"set":      {"upstreams", "set", "api", "--from-file", "-"},
		"validate": {"config", "validate", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			in, feed, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			defer feed.Close()
			var errs bytes.Buffer
			code := Main(ctx, args, System{In: interruptingReader{in, cancel}, Out: &bytes.Buffer{}, Err: &errs, Getenv: env(nil), Now: noon})
			if code != ExitInterrupted || errs.String() != "error: interrupted\n" {
				t.Errorf("exit code %d, stderr %q", code, errs.String())
			}
		})
	}
}

// So does one that waits for a writer of a named pipe.
func TestInterruptWhileOpening(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"set":      {"upstreams", "set", "api", "--from-file", pipe},
		"simulate": {"simulate", pipe},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			var errs bytes.Buffer
			code := Main(ctx, args, System{Out: &bytes.Buffer{}, Err: &errs, Getenv: env(nil), Now: noon})
			if code != ExitInterrupted || errs.String() != "error: interrupted\n" {
				t.Errorf("exit code %d, stderr %q", code, errs.String())
			}
			// A writer comes and goes, so that nobody waits for one any more.
			file, err := os.OpenFile(pipe, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			file.Close()
		})
	}
}

// interruptingReader is interrupted as soon as somebody waits for it.
type interruptingReader struct {
	from   *os.File
	cancel context.CancelFunc
}

func (r interruptingReader) Read(p []byte) (int, error) {
	r.cancel()
	return r.from.Read(p)
}
