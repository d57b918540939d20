package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scalws/scalws/pkg/client"
	"github.com/scalws/scalws/pkg/server"
)

// Setup is the configuration of a daemon under test: a pool named p behind every host, unless Rest says
// otherwise.
type Setup struct {
	// Listener are more keys of its listener, in flow style: "h2c: true".
	Listener string
	// Server are more lines of the server section.
	Server []string
	// Admin are lines of the admin section. [Daemon.Audit] has the audit log unless they send it to a file.
	Admin []string
	// Members of the pool p; none is a pool of members_from: api.
	Members []string
	// Pool are more lines of the pool p.
	Pool []string
	// Metrics are more lines of the metrics section.
	Metrics []string
	// AccessLog is the access_log section in flow style; empty: JSON into the file that Lines reads.
	AccessLog string
	// Runtime in flow style; empty: {type: proxy, upstream: {pool: p}}.
	Runtime string
	// Rest replaces the upstreams and tenants sections.
	Rest string
	// Resolver resolves the names of members; nil: the system's.
	Resolver *net.Resolver
	// OwnSocket leaves the admin socket to Rest.
	OwnSocket bool
}

// Daemon is a daemon that runs in this process until the test ends.
type Daemon struct {
	// Address of its listener, Metrics of the metrics, Socket of the admin API.
	Address, Metrics, Socket string
	// File is its configuration, in a folder of its own.
	File string
	// Remote is the address of its remote admin listener; empty: none.
	Remote string
	// Admin talks to it.
	Admin *client.Client

	t       testing.TB
	server  *server.Server
	logFile string
	log     syncBuffer
	audit   syncBuffer
	cancel  context.CancelFunc
	done    chan struct{}
	err     error
}

// Start runs a daemon.
func Start(t testing.TB, s Setup) *Daemon {
	t.Helper()
	dir := SocketDir(t)
	d := &Daemon{t: t, File: filepath.Join(dir, "scalws.yaml"), logFile: filepath.Join(dir, "access.log"), done: make(chan struct{})}
	log := slog.New(slog.NewTextHandler(&d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	d.Configure(s)
	socket := filepath.Join(dir, "admin.sock")
	if s.OwnSocket {
		socket = ""
	}
	var err error
	d.server, err = server.New(server.Options{
		File: d.File, AdminSocket: socket,
		Resolver: s.Resolver, Stderr: &d.audit, Log: log, Version: "test",
	})
	if err != nil {
		t.Fatalf("starting daemon: %v\n%s", err, s.text(d.logFile))
	}
	d.Address = d.server.Addr("http").String()
	d.Metrics = d.server.MetricsAddr().String()
	d.Socket = d.server.AdminSocket()
	if a := d.server.RemoteAdminAddr(); a != nil {
		d.Remote = a.String()
	}
	d.Admin = &client.Client{Socket: d.Socket}
	var ctx context.Context
	ctx, d.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(d.done)
		d.err = d.server.Run(ctx)
	}()
	t.Cleanup(func() {
		d.server.Kill()
		d.Stop()
		if t.Failed() {
			t.Logf("log of the daemon:\n%s", d.log.String())
		}
	})
	return d
}

func (s Setup) text(logFile string) string {
	var b strings.Builder
	more := ""
	if s.Listener != "" {
		more = ", " + s.Listener
	}
	fmt.Fprintf(&b, "server:\n  listeners: [{name: http, address: \"127.0.0.1:0\"%s}]\n", more)
	for _, l := range s.Server {
		fmt.Fprintf(&b, "  %s\n", l)
	}
	for i, l := range s.Admin {
		if i == 0 {
			b.WriteString("admin:\n")
		}
		fmt.Fprintf(&b, "  %s\n", l)
	}
	accessLog := s.AccessLog
	if accessLog == "" {
		accessLog = fmt.Sprintf("{output: %q}", logFile)
	}
	fmt.Fprintf(&b, "access_log: %s\nmetrics:\n  address: \"127.0.0.1:0\"\n", accessLog)
	for _, l := range s.Metrics {
		fmt.Fprintf(&b, "  %s\n", l)
	}
	if s.Rest != "" {
		b.WriteString(s.Rest)
		return b.String()
	}
	b.WriteString("upstreams:\n  p:\n")
	for _, l := range s.Pool {
		fmt.Fprintf(&b, "    %s\n", l)
	}
	if len(s.Members) == 0 {
		b.WriteString("    members_from: api\n")
	} else {
		b.WriteString("    members:\n")
	}
	for _, m := range s.Members {
		fmt.Fprintf(&b, "      - {address: %q}\n", m)
	}
	rt := s.Runtime
	if rt == "" {
		rt = "{type: proxy, upstream: {pool: p}}"
	}
	fmt.Fprintf(&b, "tenants: [{name: t, applications: [{name: a, domains: [\"*\"], runtime: %s}]}]\n", rt)
	return b.String()
}

// Drain tells the daemon to stop, without waiting for it.
func (d *Daemon) Drain() { d.cancel() }

// Stop drains the daemon and returns what Run returned.
func (d *Daemon) Stop() error {
	d.cancel()
	<-d.done
	return d.err
}

// Get sends one request on a connection of its own and returns the answer.
func (d *Daemon) Get(path string, fields ...string) Response {
	d.t.Helper()
	c := Dial(d.t, d.Address)
	defer c.Close()
	var extra strings.Builder
	for _, f := range fields {
		extra.WriteString(f + "\r\n")
	}
	c.Send("GET ", path, " HTTP/1.1\r\nHost: example.com\r\n", extra.String(), "\r\n")
	return c.Final("GET")
}

// Sequence sends n requests and returns the bodies that came, with a space between.
func (d *Daemon) Sequence(n int) string {
	d.t.Helper()
	var all []string
	for range n {
		all = append(all, strings.TrimSpace(d.Get("/").Body))
	}
	return strings.Join(all, " ")
}

// MetricsText is the answer of the metrics listener.
func (d *Daemon) MetricsText() string {
	d.t.Helper()
	defer http.DefaultClient.CloseIdleConnections() // else one could outlive the test
	r, err := http.Get("http://" + d.Metrics + "/metrics")
	if err != nil {
		d.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// Metric is the value of one series, written as in the exposition; "" if there is none.
func (d *Daemon) Metric(series string) string {
	d.t.Helper()
	for _, l := range strings.Split(d.MetricsText(), "\n") {
		if rest, ok := strings.CutPrefix(l, series+" "); ok {
			return rest
		}
	}
	return ""
}

// AccessLog is the file of its access log.
func (d *Daemon) AccessLog() string { return d.logFile }

// Lines waits for n lines of the access log and returns all that are there.
func (d *Daemon) Lines(n int) []map[string]any {
	d.t.Helper()
	var all []map[string]any
	d.Until(fmt.Sprintf("%d lines in the access log", n), func() bool {
		text, err := os.ReadFile(d.logFile)
		text = text[:bytes.LastIndexByte(text, '\n')+1] // one may be half written
		if err != nil || len(text) == 0 {
			return false
		}
		all = nil
		for _, l := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
			var m map[string]any
			if json.Unmarshal(l, &m) != nil {
				d.t.Fatalf("access log: not a line of JSON: %q", l)
			}
			all = append(all, m)
		}
		return len(all) >= n
	})
	return all
}

// ProcessLog is what the daemon has logged about itself so far.
func (d *Daemon) ProcessLog() string { return d.log.String() }

// Until waits for a condition that has no event of its own, and ends the test where it does not come.
func (d *Daemon) Until(what string, ok func() bool) {
	d.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); !ok(); {
		select {
		case <-tick.C:
		case <-end:
			d.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// syncBuffer is a buffer that a logger and a test may use at once.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
