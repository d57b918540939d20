package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scalws/scalws/internal/ctl"
	"github.com/scalws/scalws/pkg/server"
)

// configurationFile lies in the folder of the scene, which is the working directory: the page shows its name.
const configurationFile = "scalws.yaml"

// fleetSize is how many members the largest pool has.
const fleetSize = 1000

// member is a sample member that fails on cue.
type member struct {
	listener net.Listener
	server   *http.Server
	// mode is how it answers.
	mode atomic.Int32
}

// The modes of a member.
const (
	well        = iota
	unavailable // 503
	broken      // closes without an answer
)

// start listens at a loopback address.
func start(ip string) (*member, error) {
	l, err := net.Listen("tcp", ip+":0")
	if err != nil {
		return nil, fmt.Errorf("starting a member: %w", err)
	}
	m := &member{listener: l}
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	go m.server.Serve(l)
	return m, nil
}

func (m *member) address() string { return m.listener.Addr().String() }

// ServeHTTP is a little slow, so that there are requests in flight.
func (m *member) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch m.mode.Load() {
	case unavailable:
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	case broken:
		panic(http.ErrAbortHandler)
	}
	work := time.NewTimer(time.Duration(5+time.Now().UnixNano()%30) * time.Millisecond)
	defer work.Stop()
	select {
	case <-work.C:
		io.WriteString(w, "an answer\n")
	case <-r.Context().Done():
	}
}

// scene is a daemon under load, and scalwsctl console in front of it.
type scene struct {
	folder string
	// members by pool.
	members map[string][]*member
	stop    []func()
	// endDaemon ends the daemon that runs.
	endDaemon func()
	// reload has it read its file again.
	reload  func() error
	address string
	// perMember is false for a daemon that counts no attempts by member.
	perMember bool
}

// pools of the scene and how many members they have.
var pools = []struct {
	name, settings string
	size           int
}{
	{"api", "balance: least_conn, retries: 2, passive_health: {failures: 3, cooldown: 20s}", 6},
	{"canary", "members_from: api, passive_health: {failures: 2, cooldown: 1m}", 2},
	{"fleet", "passive_health: {failures: 2, cooldown: 15s}", fleetSize},
	{"search", "balance: hash, hash: {by: client_ip}", 3},
	{"spare", "members_from: api", 0},
	{"web", "balance: hash, hash: {by: cookie, name: SHOP_NODE}, passive_health: {failures: 3, cooldown: 30s}", 4},
}

func newScene(folder string) (*scene, error) {
	// Each daemon gets the same address, as that of an operator would.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("looking for a free port: %w", err)
	}
	l.Close()
	s := &scene{folder: folder, members: make(map[string][]*member), perMember: true, address: l.Addr().String()}
	for i, p := range pools {
		for n := range p.size {
			m, err := start(fmt.Sprintf("127.0.%d.%d", 10*(i+1)+n/250, 1+n%250))
			if err != nil {
				s.close()
				return nil, err
			}
			s.stop = append(s.stop, func() { m.server.Close() })
			s.members[p.name] = append(s.members[p.name], m)
		}
	}
	return s, nil
}

func (s *scene) close() {
	for _, stop := range s.stop {
		stop()
	}
}

func (s *scene) socket() string { return filepath.Join(s.folder, "admin.sock") }

// configuration has all pools, or none.
func (s *scene) configuration(withPools bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "server:\n  listeners: [{name: http, address: %q}]\naccess_log: {output: \"off\"}\n", s.address)
	if !s.perMember {
		b.WriteString("metrics: {address: \"127.0.0.1:0\", per_member: false}\n")
	}
	if !withPools {
		return b.String()
	}
	b.WriteString("upstreams:\n")
	for _, p := range pools {
		fmt.Fprintf(&b, "  %s: {%s, members: [", p.name, p.settings)
		for _, m := range s.members[p.name] {
			fmt.Fprintf(&b, "{address: %q}, ", m.address())
		}
		b.WriteString("]}\n")
	}
	b.WriteString("tenants:\n  - name: t\n    applications:\n")
	for _, p := range pools {
		fmt.Fprintf(&b, "      - {name: %[1]s, domains: [%[1]s.example.com], runtime: {type: proxy, upstream: {pool: %[1]s}}}\n", p.name)
	}
	return b.String()
}

// serve starts a daemon.
func (s *scene) serve(withPools bool) error {
	if err := os.WriteFile(configurationFile, []byte(s.configuration(withPools)), 0o644); err != nil {
		return err
	}
	d, err := server.New(server.Options{File: configurationFile, AdminSocket: s.socket(), Version: "v1.0.0"})
	if err != nil {
		return fmt.Errorf("starting the daemon: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- d.Run(ctx) }()
	s.reload = func() error {
		_, err := d.Reload("operator")
		return err
	}
	s.endDaemon = sync.OnceFunc(func() {
		cancel()
		d.Kill()
		<-stopped
	})
	s.stop = append(s.stop, s.endDaemon)
	return nil
}

// console runs scalwsctl console and returns the URL that it prints.
func (s *scene) console() (string, error) {
	ctx, cancel := context.WithCancel(context.Background())
	in, out := io.Pipe()
	sys := ctl.Process()
	sys.Out = out
	ended := make(chan int, 1)
	go func() {
		code := ctl.Main(ctx, []string{"console", "--socket", s.socket()}, sys)
		out.CloseWithError(fmt.Errorf("scalwsctl console ended with %d", code))
		ended <- code
	}()
	var url string
	if _, err := fmt.Fscanln(in, &url); err != nil {
		cancel()
		return "", err
	}
	s.stop = append(s.stop, func() { cancel(); <-ended })
	return url, nil
}

// load sends requests to a pool, about so many a second, until the scene ends.
func (s *scene) load(pool string, perSecond int) {
	ctx, cancel := context.WithCancel(context.Background())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(time.Second / time.Duration(perSecond))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				running.Go(func() { _ = ask(ctx, client, s.address, pool) }) // members are meant to fail
			}
		}
	})
	s.stop = append(s.stop, func() { cancel(); running.Wait(); client.CloseIdleConnections() })
}

func ask(ctx context.Context, client *http.Client, address, pool string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		return err
	}
	r.Host = pool + ".example.com"
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return errors.Join(err, answer.Body.Close())
}
