package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scalws/scalws/pkg/client"
)

// SIGHUP reloads, tells systemd so, and opens the log anew even where the configuration is refused.
func TestReloadBySignal(t *testing.T) {
	socket, dir := socketPath(t), t.TempDir()
	heard, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket + ".notify", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Close()
	file, log := filepath.Join(dir, "scalws.yaml"), filepath.Join(dir, "access.log")
	write := func(more string) {
		text := "server: {listeners: [{name: http, address: \"127.0.0.1:0\"}]}\naccess_log: {output: " + log + "}\n" + more
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	cmd := exec.Command(os.Args[0], "--config", file, "--admin-socket", socket, "--log-format", "json")
	cmd.Env = append(os.Environ(), asDaemon+"=1", "NOTIFY_SOCKET="+socket+".notify")
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	hear := func(want string) {
		t.Helper()
		heard.SetReadDeadline(time.Now().Add(20 * time.Second))
		text := make([]byte, 200)
		n, err := heard.Read(text)
		if err != nil || !strings.HasPrefix(string(text[:n]), want) {
			t.Fatalf("heard %q, %v, want %s", text[:n], err, want)
		}
	}
	hangUp := func() {
		t.Helper()
		if err := os.Rename(log, log+".1"); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		hear("RELOADING=1\nMONOTONIC_USEC=")
		hear("READY=1")
		if _, err := os.Stat(log); err != nil {
			t.Errorf("the log was not opened anew: %v", err)
		}
	}
	hear("READY=1")
	admin := client.Client{Socket: socket}
	for _, step := range []struct {
		text    string
		success bool
		pools   int
	}{
		{"upstreams: {one: {members_from: api}}\n", true, 1},
		{"upstreams: {one: {members_from: api}, one: {}}\n", false, 1},
		{"", true, 0},
	} {
		write(step.text)
		hangUp()
		status, err := admin.Status(t.Context())
		if err != nil || status.LastReload == nil || status.LastReload.Success != step.success {
			t.Errorf("%q: %+v, %v", step.text, status.LastReload, err)
		}
		if pools, err := admin.Upstreams(t.Context()); err != nil || len(pools) != step.pools {
			t.Errorf("%q: %d pools, %v", step.text, len(pools), err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	for _, want := range []string{`"msg":"reloaded"`, `"actor":"signal"`, `"msg":"reload refused, the configuration stays as it was"`,
		"scalws.yaml:3:39: upstreams.one: the key was given before"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("the log does not have %s:\n%s", want, errs.String())
		}
	}
}
