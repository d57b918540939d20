package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/scalws/scalws/bench/pair"
	"github.com/scalws/scalws/pkg/client"
)

// daemon is a scalwsd process.
type daemon struct {
	dir     string
	file    string // of the configuration
	address string
	secure  string      // empty: it speaks no TLS
	trust   *tls.Config // of clients that trust its certificate
	pair    pair.Files
	metrics string
	all     []string // the members at first
	cmd     *exec.Cmd
	admin   *client.Client
}

// sections are what a part of the soak adds to a configuration: lines of the section server, sections, and whether
// there is a listener with TLS.
type sections struct {
	server, rest string
	secure       bool
}

// loaded is the configuration under h2load, with a number of idle connections a member: another number has a reload
// build the pool anew.
func loaded(keepalive int) sections {
	return sections{rest: fmt.Sprintf(`upstreams:
  p:
    members_from: api
    keepalive: %d
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, upstream: {pool: p}}}]}]
`, keepalive)}
}

func (d *daemon) text(s sections) string {
	listeners := fmt.Sprintf("{name: http, address: %q, h2c: true}", d.address)
	if d.secure != "" {
		listeners += fmt.Sprintf(", {name: https, address: %q, tls: {cert_file: %q, key_file: %q}}", d.secure, d.pair.Cert, d.pair.Key)
	}
	return fmt.Sprintf("server:\n  max_body: 0\n  listeners: [%s]\n%smetrics: {address: %q}\naccess_log: {output: %q}\nadmin: {audit_log: %q}\n%s",
		listeners, s.server, d.metrics, d.AccessLog(), filepath.Join(d.dir, "audit.log"), s.rest)
}

// Address is where it listens.
func (d *daemon) Address() string { return d.address }

// Secure is where it listens for TLS, and how clients trust it.
func (d *daemon) Secure() (string, *tls.Config) { return d.secure, d.trust }

// AccessLog is the file of the access log.
func (d *daemon) AccessLog() string { return filepath.Join(d.dir, "access.log") }

// startDaemon builds a daemon and starts it. It is up once its admin socket answers.
func startDaemon(ctx context.Context, s sections, race bool) (*daemon, error) {
	dir, err := os.MkdirTemp("", "scalws-soak")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	d := &daemon{dir: dir, file: filepath.Join(dir, "scalws.yaml")}
	program := filepath.Join(dir, "scalwsd")
	build := []string{"build", "-o", program}
	if race {
		build = append(build, "-race")
	}
	if out, err := exec.CommandContext(ctx, "go", append(build, "./cmd/scalwsd")...).CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("building the daemon: %w\n%s", err, out), d.remove())
	}
	if err := d.prepare(s); err != nil {
		return nil, errors.Join(err, d.remove())
	}
	socket := filepath.Join(dir, "admin.sock")
	d.cmd = exec.Command(program, "--config", d.file, "--admin-socket", socket, "--log-level", "error")
	d.cmd.Stderr = os.Stderr
	if err := d.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the daemon: %w", err), d.remove())
	}
	d.admin = &client.Client{Socket: socket}
	if err := d.until(ctx, 10*time.Second, "the daemon answers", func() (string, bool) {
		_, err := d.admin.Status(ctx)
		return fmt.Sprint(err), err == nil
	}); err != nil {
		return nil, errors.Join(err, d.stop())
	}
	return d, nil
}

// prepare chooses addresses and writes the files.
func (d *daemon) prepare(s sections) (err error) {
	if d.address, err = freeAddress(); err != nil {
		return err
	}
	if d.metrics, err = freeAddress(); err != nil {
		return err
	}
	if s.secure {
		if err := d.certify(); err != nil {
			return err
		}
	}
	return d.configure(s)
}

// certify makes a certificate and chooses an address for it.
func (d *daemon) certify() (err error) {
	if d.secure, err = freeAddress(); err != nil {
		return err
	}
	if d.pair, err = pair.Write(d.dir); err != nil {
		return err
	}
	text, err := os.ReadFile(d.pair.Cert)
	if err != nil {
		return fmt.Errorf("reading certificate: %w", err)
	}
	d.trust = &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1"}
	d.trust.RootCAs.AppendCertsFromPEM(text)
	return nil
}

// configure puts a configuration in place, at once and whole.
func (d *daemon) configure(s sections) error {
	next := d.file + ".next"
	if err := os.WriteFile(next, []byte(d.text(s)), 0o600); err != nil {
		return fmt.Errorf("writing configuration: %w", err)
	}
	if err := os.Rename(next, d.file); err != nil {
		return fmt.Errorf("replacing configuration: %w", err)
	}
	return nil
}

// reload puts a configuration in place and tells the daemon.
func (d *daemon) reload(s sections) error {
	if err := d.configure(s); err != nil {
		return err
	}
	return d.cmd.Process.Signal(syscall.SIGHUP)
}

// freeAddress is a loopback address that was free a moment ago.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

func (d *daemon) remove() error { return os.RemoveAll(d.dir) }

// stop drains the daemon, which has to end with code 0 and leave no socket.
func (d *daemon) stop() error {
	defer d.remove()
	d.cmd.Process.Signal(syscall.SIGTERM)
	if err := d.cmd.Wait(); err != nil {
		return fmt.Errorf("stopping the daemon: %w", err) // also where the race detector has found something
	}
	if _, err := os.Lstat(d.admin.Socket); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the admin socket is left behind: %v", err)
	}
	return nil
}

func (d *daemon) set(ctx context.Context, addresses []string) error {
	return d.SetMembers(ctx, "p", addresses)
}

// SetMembers replaces the member list of a pool.
func (d *daemon) SetMembers(ctx context.Context, pool string, addresses []string) error {
	_, err := d.admin.SetMembers(ctx, pool, entries(addresses))
	return err
}

// until asks again and again until ok, and says what it saw last where that does not come.
func (d *daemon) until(ctx context.Context, limit time.Duration, what string, ok func() (string, bool)) error {
	end, tick := time.After(limit), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for {
		saw, done := ok()
		if done {
			return nil
		}
		select {
		case <-tick.C:
		case <-end:
			return fmt.Errorf("waited in vain until %s: %s", what, saw)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// usage is what the daemon holds.
type usage struct {
	goroutines, descriptors int
	resident                int64
}

func (u usage) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %.1f MiB resident", u.goroutines, u.descriptors, float64(u.resident)/(1<<20))
}

// usage reads the daemon's own metrics, over a connection that does not stay.
func (d *daemon) usage(ctx context.Context) (usage, error) {
	t := &http.Transport{DisableKeepAlives: true}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.metrics+"/metrics", nil)
	if err != nil {
		return usage{}, err
	}
	r, err := (&http.Client{Transport: t}).Do(req)
	if err != nil {
		return usage{}, fmt.Errorf("reading metrics: %w", err)
	}
	defer r.Body.Close()
	var u usage
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch name {
		case "go_goroutines":
			u.goroutines = int(v)
		case "process_open_fds":
			u.descriptors = int(v)
		case "process_resident_memory_bytes":
			u.resident = int64(v)
		}
	}
	return u, nil
}

// warm sends a few requests, so that what is made once is there before anything is counted, and then takes
// the members away: at rest there are no idle connections.
func (d *daemon) warm(ctx context.Context) error {
	for range 50 {
		if _, err := d.do(ctx, http.MethodGet, "/", nil); err != nil {
			return err
		}
	}
	if err := d.set(ctx, nil); err != nil {
		return err
	}
	return d.rest(ctx)
}

// rest waits until the daemon's goroutines and descriptors stay as they are.
func (d *daemon) rest(ctx context.Context) error {
	if _, err := d.usage(ctx); err != nil {
		return err
	}
	return d.until(ctx, 10*time.Second, "two looks are the same", func() (string, bool) {
		a, errA := d.usage(ctx)
		b, errB := d.usage(ctx)
		return fmt.Sprint(a, b, errA, errB), a.goroutines == b.goroutines && a.descriptors == b.descriptors
	})
}

// do sends one request on a connection of its own and returns the answer's body.
func (d *daemon) do(ctx context.Context, method, path string, body io.Reader) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+d.address+path, body)
	if err != nil {
		return "", err
	}
	r, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, path, r.Status, text)
	}
	return string(text), err
}
