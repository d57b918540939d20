package main

import (
	"os/exec"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
)

// mostCPU is the processor time that a command may take from start to finish. People run these commands in
// prompts and loops, and shells run them at each press of the tab key.
const mostCPU = 30 * time.Millisecond

// TestStartupCost counts what the kernel counted for the process; the best of a few runs, because on a busy
// machine the caches are everybody's.
func TestStartupCost(t *testing.T) {
	startDaemon(t)
	for name, args := range map[string][]string{
		"upstreams show": {"upstreams", "show", "api"},
		"completion":     {"__complete", "upstreams", "show", ""},
		"context list":   {"context", "list"},
		"version":        {"version"},
	} {
		t.Run(name, func(t *testing.T) {
			best := time.Hour
			for range 10 {
				cmd := exec.Command("scalwsctl", args...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				best = min(best, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
			}
			t.Logf("%v of processor time", best)
			if best > mostCPU {
				t.Errorf("%v of processor time, more than %v", best, mostCPU)
			}
		})
	}
}

// startDaemon starts a daemon with the pools api (members at run time) and web, for the commands of this test.
func startDaemon(t *testing.T) {
	t.Helper()
	daemon := servertest.Start(t, servertest.Setup{Rest: `upstreams:
  api:
    members_from: api
    members: [{address: "192.0.2.5:8080", weight: 2}, {address: "192.0.2.16:8080"}]
  web:
    members: [{address: "198.51.100.10:8080"}, {address: "198.51.100.11:8080"}]
`})
	t.Setenv("SCALWSCTL_SOCKET", daemon.Socket)
}
