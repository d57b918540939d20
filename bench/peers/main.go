// Command peers measures scalwsd beside nginx, HAProxy and Caddy: the same members, the same load, one
// after the other and round by round, with access log and metrics on for everybody. README.md of the
// folder above says what the figures mean.
//
// It needs Debian's nginx, haproxy, caddy and wrk. Everything listens on loopback, has its files in a
// temporary folder, and ends with this command.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() { os.Exit(run()) }

func run() int {
	rounds := flag.Int("rounds", 5, "measured runs of each proxy in each scenario")
	seconds := flag.Int("seconds", 4, "length of a run")
	threads := flag.Int("threads", 2, "worker processes or threads of each proxy, GOMAXPROCS where it is written in Go")
	only := flag.String("only", "", "scenarios, separated by commas: "+strings.Join(names(scenarios()), ", ")+" (default all)")
	file := flag.String("json", "", "also write every single run to this file")
	limit := flag.Duration("limit", 20*time.Minute, "bound of the whole comparison")
	flag.Parse()
	chosen, err := choose(scenarios(), *only)
	if err == nil && (*rounds < 1 || *seconds < 1 || *threads < 1 || flag.NArg() > 0) {
		err = errors.New("-rounds, -seconds and -threads begin at 1, and there are no arguments")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "peers: %v\n", err)
		return 2
	}
	programs, err := find("nginx", "haproxy", "caddy", "wrk")
	if err != nil {
		fmt.Fprintf(os.Stderr, "peers: %v\n", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	r := report{Began: time.Now().UTC(), Rounds: *rounds, Seconds: *seconds, Threads: *threads}
	err = compare(ctx, programs, chosen, &r)
	if *file != "" {
		err = errors.Join(err, r.write(*file)) // what was measured before a failure too
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "peers: %v\n", err)
		return 1
	}
	return 0
}

// find looks for the programs, also where Debian keeps those that users rarely start, and says what to
// install.
func find(programs ...string) (map[string]string, error) {
	at := make(map[string]string, len(programs)+1)
	var missing []string
	for _, name := range programs {
		path, err := exec.LookPath(name)
		if err != nil {
			path, err = exec.LookPath("/usr/sbin/" + name)
		}
		if err != nil {
			missing = append(missing, name)
			continue
		}
		at[name] = path
	}
	if missing != nil {
		list := strings.Join(missing, " ")
		return nil, fmt.Errorf("not installed: %s: apt-get install %s", list, list)
	}
	return at, nil
}

// compare runs the scenarios and prints a table after each.
func compare(ctx context.Context, programs map[string]string, chosen []scenario, r *report) (err error) {
	dir, err := os.MkdirTemp("", "scalws-peers")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	programs["scalws"] = filepath.Join(dir, "scalwsd")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", programs["scalws"], "./cmd/scalwsd").CombinedOutput(); err != nil {
		return fmt.Errorf("building the daemon: %w\n%s", err, out)
	}
	r.Versions = versions(ctx, programs)
	fmt.Print(r.heading())
	ms, err := startMembers(ctx, programs["nginx"], filepath.Join(dir, "members"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ms.stop()) }()
	for _, s := range chosen {
		b := bench{scenario: s, programs: programs, dir: filepath.Join(dir, s.name), report: r}
		runs, err := b.measure(ctx, ms)
		done := outcome{Name: s.name, Title: s.title, Runs: runs}
		r.Scenarios = append(r.Scenarios, done)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Printf("\n%s", done.table())
	}
	return nil
}

// versions are the first lines in which the programs name theirs, for the reader of the figures.
func versions(ctx context.Context, programs map[string]string) []string {
	list := make([]string, 0, len(programs))
	for _, ask := range [][2]string{{"scalws", "--version"}, {"nginx", "-v"}, {"haproxy", "-v"}, {"caddy", "version"}, {"wrk", "-v"}} {
		out, _ := exec.CommandContext(ctx, programs[ask[0]], ask[1]).CombinedOutput() // wrk tells it with exit code 1
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		list = append(list, ask[0]+": "+line)
	}
	return list
}

func (r *report) write(file string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
