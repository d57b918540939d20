package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// dropped is scalws_access_log_dropped_total.
func dropped(t *testing.T, d *servertest.Daemon) int {
	t.Helper()
	n, err := strconv.Atoi(d.Metric("scalws_access_log_dropped_total"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The disk is full. Every request is answered; the lines are counted, and the process log says why once.
func TestAccessLogFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), AccessLog: "{output: /dev/full}"})
	if got, want := d.Sequence(10), strings.TrimSpace(strings.Repeat("a ", 10)); got != want {
		t.Errorf("answers %q, want %q", got, want)
	}
	d.Until("ten lines are counted", func() bool { return dropped(t, d) == 10 })
	const lost = "access log lines are lost"
	d.Until("the process log tells", func() bool { return strings.Contains(d.ProcessLog(), lost) })
	if n := strings.Count(d.ProcessLog(), lost); n != 1 || !strings.Contains(d.ProcessLog(), "no space left on device") {
		t.Errorf("told %d times:\n%s", n, d.ProcessLog())
	}
}

// The log is a pipe whose reader has stopped reading. Requests go on when it is full and more.
func TestAccessLogBlockedPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // for both ends: it waits for nobody
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), AccessLog: fmt.Sprintf("{output: %q}", pipe)})
	c := servertest.Dial(t, d.Address)
	request := "GET /" + strings.Repeat("\"", 7000) + " HTTP/1.1\r\nHost: x\r\n\r\n" // twice as long in the log
	for n := 0; dropped(t, d) == 0; n += 100 {
		if n > 10_000 {
			t.Fatal("the log took everything")
		}
		for range 100 {
			c.Send(request)
			if r := c.Final("GET"); r.Status != 200 {
				t.Fatalf("got %s", r.Head)
			}
		}
	}
	d.Until("the process log tells", func() bool { return strings.Contains(d.ProcessLog(), "the output stands still") })
}

// SIGHUP is not needed after the file was moved: the next line opens it anew.
func TestAccessLogMovedAway(t *testing.T) {
	m := named(t, "a")
	file := filepath.Join(t.TempDir(), "access.log")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), AccessLog: fmt.Sprintf("{output: %q, format: text}", file)})
	if err := os.Rename(file, file+".1"); err != nil {
		t.Fatal(err)
	}
	d.Until("a line is in a new file", func() bool {
		d.Get("/moved")
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), " GET example.com /moved HTTP/1.1 200 ")
	})
}
