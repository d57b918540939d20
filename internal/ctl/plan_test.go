package ctl

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/api"
)

// A remote daemon's file is not looked for on this machine.
func TestLinesOfARemoteDaemon(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scalws.yaml")
	if err := os.WriteFile(file, []byte("ours: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	problems := strict.Problems{{File: file, Line: 1, Column: 1}}
	for server, want := range map[string]bool{"": true, "https://lb1.example.com:9443": false} {
		s := &session{chosen: target{place: place{Server: server}}}
		if line, shown := s.sources(problems).line(file, 1); shown != want {
			t.Errorf("server %q: the line %q is shown: %v", server, line, shown)
		}
	}
}

func TestLosses(t *testing.T) {
	for want, l := range map[string]*api.Loses{
		"": nil,
		"1 ejection, 12 idle connections, the retries of 3 requests in flight": {Ejections: 1, IdleConnections: 12, InFlight: 3},
		"affinity: clients move to other members":                              {Affinity: true},
	} {
		if got := losses(l); got != want {
			t.Errorf("%+v: %q, want %q", l, got, want)
		}
	}
}
