package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/scalws/scalws/bench/pair"
)

// bench is one scenario at work.
type bench struct {
	scenario
	programs map[string]string // where the programs are
	dir      string
	report   *report // how many rounds, seconds and threads
}

// contestant is a proxy that runs.
type contestant struct {
	*program
	setup
}

// sample is what one run of one proxy measured.
type sample struct {
	Proxy     string        `json:"proxy"`
	Round     int           `json:"round"`
	Requests  int           `json:"requests"`
	Took      time.Duration `json:"took_ns"`
	Processor time.Duration `json:"processor_ns"` // user and system time of all processes of the proxy
	P50       time.Duration `json:"p50_ns"`
	P99       time.Duration `json:"p99_ns"`
	Peak      int64         `json:"peak_bytes"` // resident memory of all processes of the proxy
}

// measure starts every proxy for this scenario alone, so that none carries over memory or connections from
// another, warms each, and then gives them turns: what else goes on in the machine meets all of them. Each
// round begins with the next one. With an error it returns the runs that were made before.
func (b bench) measure(ctx context.Context, ms *members) (runs []sample, err error) {
	all, err := b.launch(ctx, ms)
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.stop())
		}
	}()
	if err != nil {
		return nil, err
	}
	script := filepath.Join(b.dir, "script.lua")
	if err := writeScript(script, b.scenario); err != nil {
		return nil, err
	}
	for _, c := range all {
		if _, err := b.turn(ctx, c, script, max(1, b.report.Seconds/4)); err != nil {
			return nil, fmt.Errorf("warming %s: %w", c.name, err)
		}
	}
	for round := range b.report.Rounds {
		for i := range all {
			c := all[(round+i)%len(all)]
			r, err := b.turn(ctx, c, script, b.report.Seconds)
			if err != nil {
				return runs, fmt.Errorf("measuring %s: %w", c.name, err)
			}
			r.Round = round + 1
			runs = append(runs, r)
			fmt.Fprintf(os.Stderr, "%s, round %d of %d: %-8s %6.1f us a request, %6.0f requests/s\n",
				b.name, r.Round, b.report.Rounds, r.Proxy, r.processorPerRequest(), r.perSecond())
		}
	}
	return runs, nil
}

// launch starts the proxies and checks that each does what it is measured at. With an error it returns
// those that run.
func (b bench) launch(ctx context.Context, ms *members) ([]contestant, error) {
	var all []contestant
	var files *pair.Files
	if b.tls {
		if err := os.MkdirAll(b.dir, 0o700); err != nil {
			return nil, err
		}
		made, err := pair.Write(b.dir)
		if err != nil {
			return nil, err
		}
		files = &made
	}
	for _, p := range peers() {
		own, err := freeAddresses(2)
		if err != nil {
			return all, err
		}
		dir := filepath.Join(b.dir, p.name)
		s := setup{
			Dir: dir, Address: own[0], Metrics: own[1], Log: logFile(dir), Threads: b.report.Threads,
			Members: ms.at[:b.members], LeastConn: b.leastConn, Idle: 1024, Root: isRoot(),
			TLS: files,
		}
		running, err := p.launch(b.programs[p.name], s)
		if err != nil {
			return all, err
		}
		c := contestant{running, s}
		all = append(all, c)
		if err := c.until(ctx, "it answers like a member", func() error { return try(ctx, c.Address, b.scenario) }); err != nil {
			return all, err
		}
		if err := c.until(ctx, "it tells metrics", func() error {
			_, err := fetch(ctx, http.MethodGet, "http://"+c.Metrics+"/metrics", nil)
			return err
		}); err != nil {
			return all, err
		}
	}
	return all, nil
}

// turn is one run of one proxy.
func (b bench) turn(ctx context.Context, c contestant, script string, seconds int) (sample, error) {
	before, err := processes(c.pid())
	if err != nil {
		return sample{}, err
	}
	if err := resetPeak(before); err != nil {
		return sample{}, err
	}
	l, err := wrk(ctx, b.programs["wrk"], script, b.scenario, c.Address, seconds)
	if err != nil {
		return sample{}, fmt.Errorf("%w\n%s", err, c.lastWords())
	}
	after, err := processes(c.pid())
	if err != nil {
		return sample{}, err
	}
	used, err := usedSince(before, after)
	if err != nil {
		return sample{}, err
	}
	held, err := peak(after)
	if err != nil {
		return sample{}, err
	}
	if err := c.logged(ctx, l.requests); err != nil {
		return sample{}, err
	}
	return sample{Proxy: c.name, Requests: l.requests, Took: l.took, Processor: used, P50: l.p50, P99: l.p99, Peak: held}, nil
}

// logged checks that the access log has a line for each of 99 % of the requests, and empties it: a run whose
// lines were dropped would be cheaper than what it is compared with. One in a thousand is missing from
// HAProxy's, whose threads rather drop a line than wait for each other.
func (c contestant) logged(ctx context.Context, requests int) error {
	if err := c.until(ctx, "its access log is written", func() error {
		n, err := countLines(c.Log)
		if err == nil && n < requests-requests/100 {
			err = fmt.Errorf("it has %d lines for %d requests", n, requests)
		}
		return err
	}); err != nil {
		return err
	}
	if err := os.Truncate(c.Log, 0); err != nil {
		return fmt.Errorf("emptying the access log: %w", err)
	}
	return nil
}

func countLines(file string) (int, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	piece, lines := make([]byte, 256<<10), 0
	for {
		n, err := f.Read(piece)
		lines += bytes.Count(piece[:n], []byte("\n"))
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// processorPerRequest is in microseconds.
func (r sample) processorPerRequest() float64 {
	return float64(r.Processor.Nanoseconds()) / 1e3 / float64(r.Requests)
}

func (r sample) perSecond() float64 { return float64(r.Requests) / r.Took.Seconds() }
