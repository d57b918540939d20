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
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/admin"
	"github.com/scalws/scalws/pkg/server/internal/journal"
	"github.com/scalws/scalws/pkg/server/internal/logins"
	"github.com/scalws/scalws/pkg/server/internal/loop"
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
	// Loops is how many threads serve connections; 0 is one for each processor that Go uses (GOMAXPROCS).
	Loops int
	// Resolver resolves the names of members, at each new connection; nil is the system's.
	Resolver *net.Resolver
	// Stderr is what admin.audit_log calls stderr; nil is the process's.
	Stderr io.Writer
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
	stderr  io.Writer
	source  string
	boot    string
	started time.Time
	// affinityKey is for all pools without a key file, and outlives every reload.
	affinityKey []byte
	// hashing bounds what the passwords of all files of users cost at once.
	hashing logins.Places

	sequence  lb.Sequence
	journal   *journal.Journal
	loops     *loop.Group
	proxy     *proxy.Server
	inherited inherited

	// changes serialises what changes the daemon: member lists that are set, reloads, the beginning of a drain.
	changes sync.Mutex
	// current is the generation that is served.
	current    atomic.Pointer[generation]
	lastReload atomic.Pointer[api.Reload] // nil before the first one
	logs       retiredLogs
	audit      *admin.AuditLog
	// stateFailed counts writes of the state file that failed.
	stateFailed atomic.Uint64

	// running are the goroutines of Run; fail ends it. Whoever adds to them holds changes, and looks that no drain
	// has begun.
	running sync.WaitGroup
	fail    context.CancelCauseFunc

	ready    atomic.Bool
	draining atomic.Bool
	killed   chan struct{}
	killOnce sync.Once
	teardown teardown
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
		options:     o,
		log:         o.Log,
		stderr:      o.Stderr,
		source:      o.File,
		boot:        randomHex(8),
		started:     time.Now(),
		affinityKey: randomBytes(affinityKeySize),
		hashing:     logins.NewPlaces(),
		killed:      make(chan struct{}),

		inherited: newInherited(o.Inherited),
	}
	s.journal = journal.New(&s.sequence, s.poolEvents)
	s.teardown.add(s.inherited.Close)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.stderr == nil {
		s.stderr = os.Stderr
	}
	s.audit = admin.NewAuditLog(admin.AuditStream(s.stderr), s.log, time.Now)
	s.teardown.add(s.audit.Close)
	s.logWarnings(problems)
	loops, err := loop.Start(o.Loops)
	if err != nil {
		return nil, errors.Join(err, s.teardown.run())
	}
	s.loops = loops
	s.teardown.add(loops.Close) // after all that has sockets
	if err := s.first(cfg); err != nil {
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

func (s *Server) logWarnings(problems strict.Problems) {
	for _, p := range problems {
		s.log.Warn("configuration warning", "problem", p.String())
	}
}

// first builds the first generation, as a reload from nothing.
func (s *Server) first(cfg *config.Config) error {
	before := nothing()
	plan, err := config.Compare(before.config, cfg, nil)
	if err != nil {
		return err
	}
	lists, used := s.restore(cfg)
	built, err := s.build(before, cfg, plan, lists)
	if err != nil {
		return err
	}
	s.current.Store(built)
	s.useAudit(built)
	if used {
		built.keeper.save() // says at once whether it can; what was not used is left for who wants to see it
	}
	s.teardown.add(func() error { return errors.Join(s.logs.close(time.Now()), s.current.Load().close()) })
	s.proxy = proxy.New(built.data, s.loops, proxy.Hooks{Log: s.logRequest})
	if left := s.inherited.names(); len(left) > 0 {
		s.log.Warn("closing inherited sockets that no listener takes", "names", left)
	}
	if err := s.inherited.Close(); err != nil {
		return fmt.Errorf("closing inherited sockets: %w", err)
	}
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

	failed, fail := context.WithCancelCause(context.Background())
	defer fail(nil)
	s.changes.Lock()
	s.fail = fail
	first := s.current.Load()
	for _, l := range first.listeners {
		s.accept(l)
	}
	s.carryOutEndpoints(nothing(), first)
	keep, stopKeeping := context.WithCancel(context.Background())
	s.serve(func() error { s.keepHouse(keep); return nil })
	s.serve(func() error { s.journal.Run(keep); return nil })
	s.serve(func() error { s.logEvents(); return nil })
	s.ready.Store(true)
	s.changes.Unlock()
	s.log.Info("serving", "version", s.options.Version, "configuration", s.source, "admin_socket", s.AdminSocket())

	select {
	case <-ctx.Done():
	case <-failed.Done():
		err = context.Cause(failed)
		s.log.Error("stopping after a failure", "error", err)
	}
	err = errors.Join(err, s.drain())
	s.proxy.Close()
	stopKeeping()
	last := s.current.Load()
	s.stopEndpoints(last.admin, last.remote, last.metrics)
	last.keeper.save()
	s.running.Wait()
	return err
}

// begun says whether Run has begun. Before it nothing is served: Run serves all that is there then. The caller holds
// changes.
func (s *Server) begun() bool { return s.fail != nil }

// accept takes the connections of a listener. The caller holds changes, and has seen that no drain has begun: the
// connections of a drain are counted when it waits for them.
func (s *Server) accept(l listener) {
	if s.begun() {
		s.proxy.Serve(l.Listener)
	}
}

// serve runs a part of the daemon. One that fails ends the whole. The caller holds changes.
func (s *Server) serve(part func() error) {
	if !s.begun() {
		return
	}
	s.running.Go(func() {
		if err := part(); err != nil {
			s.fail(err)
		}
	})
}

func (s *Server) drain() error {
	s.changes.Lock()
	s.draining.Store(true)
	s.changes.Unlock()
	served := s.current.Load() // the last one: no reload begins any more
	timeout := served.config.Server.ShutdownTimeout
	s.log.Info("draining", "connections", s.proxy.Connections(), "shutdown_timeout", timeout)
	ctx, cancel := s.unlessKilled(timeout)
	defer cancel()
	s.proxy.BeginDrain()
	var finishing sync.WaitGroup
	for _, l := range served.listeners {
		finishing.Go(func() { s.finish(ctx, l) })
	}
	finishing.Wait()
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
	var errs []error
	if err := s.current.Load().log.Reopen(); err != nil {
		errs = append(errs, fmt.Errorf("reopening access log: %w", err))
	}
	return errors.Join(append(errs, s.audit.Reopen())...)
}

// useAudit lets the audit log write where a generation wants it.
func (s *Server) useAudit(g *generation) {
	if g.audit == nil {
		return
	}
	if err := s.audit.Use(g.audit); err != nil {
		s.log.Warn("closing the audit log that was written before", "error", err)
	}
}

// Close undoes New where Run is not called.
func (s *Server) Close() error { return s.teardown.run() }

// Addr is where a listener listens; nil if there is none of that name.
func (s *Server) Addr(name string) net.Addr {
	for _, l := range s.current.Load().listeners {
		if l.name == name {
			return l.Addr()
		}
	}
	return nil
}

// MetricsAddr is where the metrics listener listens; nil without one.
func (s *Server) MetricsAddr() net.Addr {
	if m := s.current.Load().metrics; m != nil {
		return m.Addr()
	}
	return nil
}

// AdminSocket is the path of the admin socket.
func (s *Server) AdminSocket() string { return s.adminListener().path }

func (s *Server) adminListener() *adminSocket { return s.current.Load().admin.Listener.(*adminSocket) }

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return b
}

func randomHex(n int) string {
	return hex.EncodeToString(randomBytes(n))
}
