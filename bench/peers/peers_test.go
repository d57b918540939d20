package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/bench/pair"
	"github.com/scalws/scalws/internal/config"
)

func testSetup(dir string) setup {
	return setup{
		Dir: dir, Address: "127.0.0.1:8080", Metrics: "127.0.0.1:9464", Log: logFile(dir), Threads: 2,
		Members: []string{"127.0.0.1:9001", "127.0.0.1:9002"}, LeastConn: true, Idle: 1024,
		TLS: &pair.Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), Both: filepath.Join(dir, "both.pem")},
	}
}

// TestConfigsSayTheSame: whatever a setup asks for is in every configuration, or the figures could not be
// compared.
func TestConfigsSayTheSame(t *testing.T) {
	for _, p := range peers() {
		t.Run(p.name, func(t *testing.T) {
			dir := t.TempDir()
			s := testSetup(dir)
			file := filepath.Join(dir, p.file)
			if err := writeConfig(file, p.config, s); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			said := string(text) + strings.Join(p.command(p.name, dir), " ")
			for _, want := range append(s.Members, s.Address, s.Metrics, "1024", "least", "log", "metrics") {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in\n%s", want, said)
				}
			}
		})
	}
}

func TestOurConfigIsValid(t *testing.T) {
	for _, leastConn := range []bool{false, true} {
		dir := t.TempDir()
		s := testSetup(dir)
		s.LeastConn = leastConn
		files, err := pair.Write(dir)
		if err != nil {
			t.Fatal(err)
		}
		s.TLS = &files
		file := filepath.Join(dir, "scalws.yaml")
		if err := writeConfig(file, scalwsConfig, s); err != nil {
			t.Fatal(err)
		}
		if _, problems := config.Load(file); len(problems) > 0 {
			t.Errorf("least_conn %t: %v", leastConn, problems)
		}
	}
}

func TestChoose(t *testing.T) {
	tests := []struct {
		name, only string
		want       []string
		wrong      bool
	}{
		{name: "all", only: "", want: names(scenarios())},
		{name: "in the order of the scenarios", only: "post-64,small-4", want: []string{"small-4", "post-64"}},
		{name: "unknown", only: "small-4,small-5", wrong: true},
		{name: "empty name", only: "small-4,", wrong: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := choose(scenarios(), test.only)
			if (err != nil) != test.wrong {
				t.Fatalf("error %v", err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(test.want, names(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
