// Package server is the daemon: it builds the data plane and the admin side from a configuration, serves
// until it is told to stop, and drains. It wires and keeps the life cycle; what is decided, is decided in
// the packages below.
package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/accesslog"
	"github.com/scalws/scalws/pkg/server/internal/journal"
	"github.com/scalws/scalws/pkg/server/internal/proxy"
)

// Options are what a daemon is told besides its configuration.
type Options struct {
	// File is the configuration file. It is not read where Text is set.
	File string
	// Text is the configuration itself; File then only names it in messages and in the status.
	Text []byte
	// AdminSocket overrides admin.socket.path; empty does not.
	AdminSocket string
	// Inherited are listening sockets that were opened for us (sd_listen_fds(3)), by their names. A listener of
	// the configuration takes the one of its name, or one with its address; what is left is closed.
	Inherited map[string][]net.Listener
	// Resolver resolves the names of members, at each new connection; nil is the system's.
	Resolver *net.Resolver
	// Log is the process log; nil discards it.
	Log *slog.Logger
	// Version is shown by the status and the metrics.
	Version string
}

// ConfigError is a configuration that cannot be served.
type ConfigError struct {
	// Problems has at least one error, and the warnings.
	Problems strict.Problems
}

func (e *ConfigError) Error() string {
	errs := 0
	first := ""
	for _, p := range e.Problems {
		if p.Severity != strict.Error {
			continue
		}
		if errs == 0 {
			first = p.String()
		}
		errs++
	}
	if errs > 1 {
		return fmt.Sprintf("%s (and %d more)", first, errs-1)
	}
	return first
}

// ErrDrainTimeout is what Run returns when requests were still in flight after server.shutdown_timeout.
var ErrDrainTimeout = errors.New("requests were still in flight at the end of shutdown_timeout")

// ErrKilled is what Run returns when a drain was ended by Kill.
var ErrKilled = errors.New("stopped before the drain was finished")

// Server is a daemon. New makes one that listens; Run serves.
type Server struct {
	options Options
	log     *slog.Logger
	config  *config.Config
	source  string
	boot    string
	started time.Time

	sequence  lb.Sequence
	journal   *journal.Journal
	pools     *pools
	resends   resends
	proxy     *proxy.Server
	accessLog *accesslog.Log

	inherited inherited
	listeners []listener
	admin     *adminSocket
	metrics   net.Listener

	ready    atomic.Bool
	draining atomic.Bool
	killed   chan struct{}
	killOnce sync.Once
	teardown teardown
}

type listener struct {
	name string
	*proxy.Listener
	certificates *watched // nil without TLS
}

// teardown is a last-in-first-out list of what has to be undone.
type teardown []func() error

func (t *teardown) add(f func() error) { *t = append(*t, f) }

func (t *teardown) run() error {
	var errs []error
	for i := len(*t) - 1; i >= 0; i-- {
		errs = append(errs, (*t)[i]())
	}
	*t = nil
	return errors.Join(errs...)
}

// New reads and checks the configuration, builds everything and listens. Nothing is served before Run. A
// configuration with errors is a *ConfigError; a *ListenError says what to do about an address.
func New(o Options) (*Server, error) {
	cfg, problems := load(o)
	if problems.Failed() {
		return nil, &ConfigError{Problems: problems}
	}
	s := &Server{
		options: o,
		log:     o.Log,
		config:  cfg,
		source:  o.File,
		boot:    randomHex(8),
		started: time.Now(),
		killed:  make(chan struct{}),

		inherited: newInherited(o.Inherited),
	}
	s.journal = journal.New(&s.sequence, s.poolEvents)
	s.teardown.add(s.inherited.Close)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, p := range problems {
		s.log.Warn("configuration warning", "problem", p.String())
	}
	if err := s.build(); err != nil {
		return nil, errors.Join(err, s.teardown.run())
	}
	return s, nil
}

func load(o Options) (*config.Config, strict.Problems) {
	if o.Text != nil {
		return config.Parse(o.File, o.Text)
	}
	return config.Load(o.File)
}

// build makes all parts in the order of their needs; listening comes last, so that an address is taken only
// by a daemon that can serve.
func (s *Server) build() error {
	var err error
	if s.accessLog, err = accesslog.Open(s.accessLogOptions()); err != nil {
		return err
	}
	s.teardown.add(s.accessLog.Close)
	if s.pools, err = newPools(s.config, s.options.Resolver, &s.sequence, s.started); err != nil {
		return err
	}
	s.teardown.add(func() error { s.pools.close(); return nil })
	pc, err := s.proxyConfig()
	if err != nil {
		return err
	}
	s.proxy = proxy.New(pc, proxy.Hooks{Log: s.logRequest})
	for i, l := range s.config.Server.Listeners {
		source, err := listenerTLS(l)
		if err != nil {
			return err
		}
		nl := s.inherited.take(l.Name, l.Address)
		if nl == nil {
			if nl, err = listenShared(l.Address, fmt.Sprintf("server.listeners[%d].address", i), l.ReusePort); err != nil {
				return err
			}
		}
		s.teardown.add(closer(nl))
		of := listener{name: l.Name, Listener: proxy.NewListener(nl, terms(l, source))}
		if source != nil {
			of.certificates = &watched{Source: source, log: s.log.With("listener", l.Name)}
		}
		s.listeners = append(s.listeners, of)
	}
	if left := s.inherited.names(); len(left) > 0 {
		s.log.Warn("closing inherited sockets that no listener takes", "names", left)
	}
	if err := s.inherited.Close(); err != nil {
		return fmt.Errorf("closing inherited sockets: %w", err)
	}
	if s.config.Metrics.Address != "" {
		if s.metrics, err = listen(s.config.Metrics.Address, "metrics.address"); err != nil {
			return err
		}
		s.teardown.add(closer(s.metrics))
	}
	sock := s.config.Admin.Socket
	if s.options.AdminSocket != "" {
		sock.Path = s.options.AdminSocket
	}
	if s.admin, err = listenAdmin(sock); err != nil {
		return err
	}
	s.teardown.add(s.admin.Close)
	return nil
}

// closer closes c; that it is closed already is fine.
func closer(c io.Closer) func() error {
	return func() error {
		if err := c.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}
}

// Run serves until ctx ends, then drains: readiness fails, listeners take what waits in their backlog and
// close, requests in flight finish. It returns nil when all have, ErrDrainTimeout when shutdown_timeout
// passed first, ErrKilled after Kill, and an earlier error if a part failed. It is called once.
func (s *Server) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, s.teardown.run()) }()

	failed := make(chan error, len(s.listeners)+2)
	var serving sync.WaitGroup
	serve := func(f func() error) {
		serving.Add(1)
		go func() {
			defer serving.Done()
			if err := f(); err != nil {
				failed <- err
			}
		}()
	}
	for _, l := range s.listeners {
		serve(func() error { return s.proxy.Serve(l.Listener) })
	}
	admin, metrics := s.adminServer(), s.metricsServer()
	serve(func() error { return serveHTTP(admin, limit(s.admin, adminConnections)) })
	if s.metrics != nil {
		serve(func() error { return serveHTTP(metrics, limit(s.metrics, adminConnections)) })
	}
	keep, stopKeeping := context.WithCancel(context.Background())
	serve(func() error { s.keepHouse(keep); return nil })
	serve(func() error { s.journal.Run(keep); return nil })
	serve(func() error { s.logEvents(); return nil })
	s.ready.Store(true)
	s.log.Info("serving", "version", s.options.Version, "configuration", s.source, "admin_socket", s.admin.path)

	select {
	case <-ctx.Done():
	case err = <-failed:
		s.log.Error("stopping after a failure", "error", err)
	}
	err = errors.Join(err, s.drain())
	s.proxy.Close()
	stopKeeping()
	s.stopHTTP(admin, metrics)
	serving.Wait()
	return err
}

// backlogTime is how long a listener still takes connections after a stop: those that the kernel has
// accepted already would be reset otherwise.
const backlogTime = 20 * time.Millisecond

func (s *Server) drain() error {
	s.draining.Store(true)
	s.log.Info("draining", "connections", s.proxy.Connections(), "shutdown_timeout", s.config.Server.ShutdownTimeout)
	ctx, cancel := s.unlessKilled(s.config.Server.ShutdownTimeout)
	defer cancel()
	for _, l := range s.listeners {
		if d, ok := l.Listener.Listener.(interface{ SetDeadline(time.Time) error }); ok {
			d.SetDeadline(time.Now().Add(backlogTime))
		}
	}
	select {
	case <-time.After(backlogTime):
	case <-ctx.Done():
	}
	for _, l := range s.listeners {
		l.Close()
	}
	err := s.proxy.Drain(ctx)
	switch {
	case err == nil:
		s.log.Info("drained")
		return nil
	case errors.Is(err, context.Canceled):
		return ErrKilled
	default:
		s.log.Warn("drain timed out", "connections", s.proxy.Connections())
		return ErrDrainTimeout
	}
}

// unlessKilled is a context that ends after d, or with Kill.
func (s *Server) unlessKilled(d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	go func() {
		select {
		case <-s.killed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// Kill ends a drain at once. It may be called at any time and more than once.
func (s *Server) Kill() { s.killOnce.Do(func() { close(s.killed) }) }

// Reopen opens the log files anew, after they were moved away.
func (s *Server) Reopen() error {
	if err := s.accessLog.Reopen(); err != nil {
		return fmt.Errorf("reopening access log: %w", err)
	}
	return nil
}

// Close undoes New where Run is not called.
func (s *Server) Close() error { return s.teardown.run() }

// Addr is where a listener listens; nil if there is none of that name.
func (s *Server) Addr(name string) net.Addr {
	for _, l := range s.listeners {
		if l.name == name {
			return l.Addr()
		}
	}
	return nil
}

// MetricsAddr is where the metrics listener listens; nil without one.
func (s *Server) MetricsAddr() net.Addr {
	if s.metrics == nil {
		return nil
	}
	return s.metrics.Addr()
}

// AdminSocket is the path of the admin socket.
func (s *Server) AdminSocket() string { return s.admin.path }

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return b
}

func randomHex(n int) string {
	return hex.EncodeToString(randomBytes(n))
}
