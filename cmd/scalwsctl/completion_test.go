package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// prompt is what the shells say when they wait for a line; no output of a command has it.
const prompt = "ready-for-a-line>"

// interactive is a shell with a terminal of its own, that is typed to.
type interactive struct {
	t      *testing.T
	ctx    context.Context
	keys   io.Writer
	screen io.Reader
	seen   bytes.Buffer
}

// startShell starts a shell on a terminal, which the program script makes.
func startShell(t *testing.T, shell, folder string) *interactive {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "script", "-qfec", shell, "/dev/null")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "TERM=dumb", "HOME="+folder, "HISTFILE=")
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	screen, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		keys.Close()
		cancel()
		cmd.Wait() // it was killed: that is no news
	})
	return &interactive{t: t, ctx: ctx, keys: keys, screen: screen}
}

// press types keys as they are.
func (s *interactive) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		s.t.Fatalf("typing: %v\nscreen:\n%s", err, s.seen.String())
	}
}

// expect reads the screen until it shows something, and returns what stood before it. Control sequences do not
// count.
func (s *interactive) expect(text string) string {
	s.t.Helper()
	controls := regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\x1b\\][^\a]*\a|[\r\a]")
	buffer := make([]byte, 4096)
	for {
		plain := controls.ReplaceAllString(s.seen.String(), "")
		if before, after, found := strings.Cut(plain, text); found {
			s.seen.Reset()
			s.seen.WriteString(after)
			return before
		}
		n, err := s.screen.Read(buffer)
		s.seen.Write(buffer[:n])
		if err != nil {
			s.t.Fatalf("the screen never showed %q (%v):\n%s", text, errors.Join(err, s.ctx.Err()), plain)
		}
	}
}

// line types a line and waits for the next prompt. What comes back is what the line printed, without its echo.
func (s *interactive) line(keys string) string {
	s.t.Helper()
	s.press(keys + "\n")
	_, printed, _ := strings.Cut(s.expect(prompt), "\n")
	return printed
}

// completingShells are shells and how completion is switched on in them.
func completingShells() map[string]struct{ needs, start, setup string } {
	return map[string]struct{ needs, start, setup string }{
		"bash": {"/usr/share/bash-completion/bash_completion", "bash --norc --noprofile -i",
			"bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind 'set page-completions off'; . /usr/share/bash-completion/bash_completion; source <(scalwsctl completion bash)"},
		"zsh": {"", "zsh -f -i",
			"unsetopt zle_bracketed_paste prompt_cr prompt_sp beep; autoload -Uz compinit; compinit -u -D; source <(scalwsctl completion zsh)"},
	}
}

// TestShellsComplete types at real shells, against a real daemon.
func TestShellsComplete(t *testing.T) {
	for shell, how := range completingShells() {
		t.Run(shell, func(t *testing.T) {
			for _, program := range []string{shell, "script"} {
				if _, err := exec.LookPath(program); err != nil {
					skip(t, program+" is not installed")
				}
			}
			if _, err := os.Stat(how.needs); how.needs != "" && err != nil {
				skip(t, how.needs+" is missing: install bash-completion")
			}
			startDaemon(t)
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "unusual.yaml"), []byte(goodConfig), 0o644); err != nil {
				t.Fatal(err)
			}
			settings := filepath.Join(folder, ".config", "scalws")
			if err := os.MkdirAll(settings, 0o700); err != nil {
				t.Fatal(err)
			}
			context := "contexts: [{name: production, socket: " + os.Getenv("SCALWSCTL_SOCKET") + "}]\n"
			if err := os.WriteFile(filepath.Join(settings, "scalwsctl.yaml"), []byte(context), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("XDG_CONFIG_HOME", "")
			s := startShell(t, how.start, folder)
			s.line("PS1=" + prompt[:5] + "'" + prompt[5:] + "'") // so that its echo is not taken for it
			s.line(how.setup)
			s.typeAndComplete()
		})
	}
}

// typeAndComplete goes through everything that is completed. A line that was completed runs: it shows that what
// the shell has put there is what was meant.
func (s *interactive) typeAndComplete() {
	s.t.Helper()
	for _, test := range []struct{ what, keys, says string }{
		{"a command", "scalwsctl vers\t", "scalwsctl "},
		{"a pool", "scalwsctl upstreams show w\t", "Pool:            web"},
		{"a member", "scalwsctl upstreams set api 192.0.2.5\t", "api: removed 192.0.2.16:8080"},
		{"a pool to change", "scalwsctl upstreams set a\t192.0.2.7:80", "api: added 192.0.2.7:80"},
		{"a file", "scalwsctl config validate unu\t", "valid"},
		{"a format", "scalwsctl version -o js\t", `"schema": "scalws.version/1"`},
		{"a context", "scalwsctl --context prod\tstatus", "context production (--context)"},
		{"a context to use", "scalwsctl context use prod\t", "using context production"},
		{"a flag", "scalwsctl config validate --warn\tunusual.yaml", "valid"},
		{"nothing, silently", "scalwsctl --socket /nowhere upstreams show \tx", "connecting to /nowhere"},
	} {
		if out := s.line(test.keys); !strings.Contains(out, test.says) {
			s.t.Errorf("%s: %q does not print %q:\n%s", test.what, test.keys, test.says, out)
		}
	}
}

// TestFishCompletes asks fish itself, which paints its line too often to be typed at.
func TestFishCompletes(t *testing.T) {
	if _, err := exec.LookPath("fish"); err != nil {
		skip(t, "fish is not installed")
	}
	startDaemon(t)
	for line, want := range map[string]string{
		"scalwsctl upstreams show ":                   "api\t2 members\nweb\t2 members\n",
		"scalwsctl upstreams set api 192.0.2.5":       "192.0.2.5:8080=2\tup\n",
		"scalwsctl version -o ":                       "json\ntext\n",
		"scalwsctl --socket /nowhere upstreams show ": "",
	} {
		cmd := exec.Command("fish", "--no-config", "-c", "scalwsctl completion fish | source; complete -C '"+line+"'")
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CONFIG_HOME=")
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("%q gives %q, %v; want %q", line, out, err, want)
		}
	}
}

// skip skips the test, unless the environment says that everything is there.
func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("SHELLS_REQUIRED") != "" {
		t.Fatal(why)
	}
	t.Skip(why + "; 'make shells' installs it and runs this test")
}
