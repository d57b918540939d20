package main

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The access log goes to a program that ends. Traffic goes on, and the lines that nobody takes are counted.
func TestReaderOfTheOutputEnds(t *testing.T) {
	cmd := exec.Command(os.Args[0], "--demo", "--demo-address", "127.0.0.1:0", "--admin-socket", socketPath(t))
	cmd.Env = append(os.Environ(), asDaemon+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	var greeting strings.Builder
	for lines := bufio.NewScanner(out); strings.Count(greeting.String(), "curl") < 2 && lines.Scan(); {
		greeting.WriteString(lines.Text() + "\n")
	}
	m := regexp.MustCompile(`traffic +(http://\S+)\n +metrics +(http://\S+)`).FindStringSubmatch(greeting.String())
	if m == nil {
		t.Fatalf("greeting:\n%s", greeting.String())
	}
	out.Close()

	get := func(url string) string {
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", url, r.Status, err)
		}
		return string(text)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(20 * time.Second); strings.Contains(get(m[2]), "\nscalws_access_log_dropped_total 0\n"); {
		get(m[1])
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("no line was dropped")
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != exitFailed) {
		t.Errorf("the end: %v", err)
	}
}
