package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/pkg/server/internal/accesslog"
	"github.com/scalws/scalws/pkg/server/internal/admin"
	"github.com/scalws/scalws/pkg/server/internal/proxy"
)

// generation is all that one configuration has brought into being, or taken over from the generation before.
// It is built whole and never changed: whoever reads one sees a daemon that fits together.
type generation struct {
	config *config.Config
	loaded time.Time

	pools   *pools
	resends resends
	limits  *limitSet
	// runtimes are what answers, by where it stands.
	runtimes map[runtimeKey]*proxy.Runtime
	// logins are the users of basic_auth, by their file.
	logins map[string]*watchedLogins
	// data is what the data plane serves by.
	data *proxy.Config

	log       *accesslog.Log
	listeners []listener
	metrics   *endpoint // nil: none
	admin     *endpoint
	remote    *endpoint // nil: none
	// remoteTerms are there if remote is.
	remoteTerms *remoteTerms
	// audit is where the audit log writes from this generation on; nil: where it wrote before.
	audit *admin.AuditOutput
	// keeper keeps member lists over restarts; nil: nobody does.
	keeper *keeper
}

// nothing is the generation before the first one.
func nothing() *generation {
	return &generation{config: &config.Config{}, pools: noPools(), limits: noLimits()}
}

// builder makes the generation after another one by a plan. All that can fail happens here, and nothing of it is
// seen from outside; undo takes it back.
type builder struct {
	server *Server
	plan   *config.Plan
	before *generation
	next   *generation
	undo   teardown
	// restored are lists that pools start with in the place of those in the configuration, by pool.
	restored map[string]restored
}

// build makes the next generation. A daemon that starts has lists from the run before. The parts come in the order of their needs; addresses are taken last, so
// that they are taken only by a daemon that can serve. On an error everything is as before.
func (s *Server) build(before *generation, c *config.Config, plan *config.Plan, lists map[string]restored) (*generation, error) {
	b := &builder{server: s, plan: plan, before: before, restored: lists, next: &generation{
		config: c, loaded: time.Now(), pools: noPools(), resends: resends{}, limits: noLimits(), runtimes: map[runtimeKey]*proxy.Runtime{},
		logins: map[string]*watchedLogins{},
	}}
	for _, part := range []func() error{b.buildPools, b.buildLimits, b.buildData, b.openListeners, b.openMetrics, b.openLog, b.openAudit, b.openState, b.openRemote, b.openAdmin} {
		if err := part(); err != nil {
			return nil, errors.Join(err, b.undo.run())
		}
	}
	return b.next, nil
}

// buildPools makes the pools that the plan adds and rebuilds, and takes over the others as they are.
func (b *builder) buildPools() error {
	from := b.poolParts()
	from.restored = b.restored
	for _, p := range b.plan.Pools {
		switch before := b.before.pools.byName[p.Name]; p.Action {
		case config.Kept, config.MembersChanged:
			b.next.pools.add(before)
		case config.Added, config.Rebuilt:
			fresh, err := newPool(p.Upstream, from, before)
			if err != nil {
				return err
			}
			b.next.pools.add(fresh)
		case config.Removed:
		default:
			return fmt.Errorf("building pool %s: %s is no action", p.Name, p.Action)
		}
	}
	return nil
}

func (b *builder) poolParts() poolParts {
	return poolParts{client: b.next.config.Server.UpstreamClient, resolver: b.server.options.Resolver,
		seq: &b.server.sequence, key: b.server.affinityKey, now: b.next.loaded}
}

// openLog keeps the access log, or opens another one. Two that write to one file append to it in turns.
func (b *builder) openLog() error {
	c := b.next.config.AccessLog
	if b.before.log != nil && b.before.config.AccessLog == c {
		b.next.log = b.before.log
		return nil
	}
	log, err := accesslog.Open(accesslog.Options{Output: c.Output, Format: c.Format, Log: b.server.log})
	if err != nil {
		return err
	}
	b.next.log = log
	b.undo.add(log.Close)
	return nil
}

// openAudit opens the audit log where it changes.
func (b *builder) openAudit() error {
	output := b.next.config.Admin.AuditLog
	if output == b.before.config.Admin.AuditLog {
		return nil
	}
	if output == "stderr" {
		b.next.audit = admin.AuditStream(b.server.stderr)
		return nil
	}
	out, err := admin.OpenAuditOutput(output)
	if err != nil {
		return err
	}
	b.next.audit = out
	b.undo.add(out.Close)
	return nil
}

// openMetrics keeps the metrics listener, or opens another one.
func (b *builder) openMetrics() error {
	address := b.next.config.Metrics.Address
	switch {
	case address == "":
		return nil
	case b.before.metrics != nil && b.before.config.Metrics.Address == address:
		b.next.metrics = b.before.metrics
		return nil
	}
	l, err := listen(address, "metrics.address")
	if err != nil {
		return err
	}
	b.undo.add(closer(l))
	b.next.metrics = newEndpoint(l, b.server.metricsServer())
	return nil
}

// openAdmin keeps the admin socket, or puts another one into its place. It is the last part: once the new
// socket stands there, the configuration is the one that is served.
func (b *builder) openAdmin() error {
	before, next := b.server.adminConfig(b.before.config), b.server.adminConfig(b.next.config)
	var old *adminSocket
	if b.before.admin != nil {
		if before == next {
			b.next.admin = b.before.admin
			return nil
		}
		old = b.before.admin.Listener.(*adminSocket)
	}
	l, err := listenAdmin(next, old)
	if err != nil {
		return err
	}
	b.undo.add(l.Close)
	b.next.admin = newEndpoint(l, b.server.adminServer())
	return nil
}

// adminConfig is the admin socket of a configuration, or of the command line.
func (s *Server) adminConfig(c *config.Config) config.AdminSocket {
	socket := c.Admin.Socket
	if s.options.AdminSocket != "" {
		socket.Path = s.options.AdminSocket
	}
	return socket
}

// close ends what a generation holds, where it was never served or is served no more.
func (g *generation) close() error {
	var errs []error
	for _, l := range g.listeners {
		errs = append(errs, closer(l)())
	}
	for _, e := range []*endpoint{g.metrics, g.admin, g.remote} {
		if e != nil {
			errs = append(errs, closer(e)())
		}
	}
	for _, p := range g.pools.all() {
		p.retire()
	}
	if g.log != nil {
		errs = append(errs, g.log.Close())
	}
	return errors.Join(errs...)
}
