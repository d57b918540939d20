package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// ErrStopping is what Reload returns once a drain has begun.
var ErrStopping = errors.New("the daemon is about to stop")

// Reload reads the configuration again and makes it the one that is served. It says what became of everything;
// actor is who the events name.
//
// Everything that can fail is done first: on an error the old configuration is served on, untouched. A
// configuration with errors is a *ConfigError, an address that cannot be listened on a *ListenError, and
// members that were set at run time and cannot stay a *config.MemberError. Requests in flight finish on what
// they began with; none fails because of a reload.
func (s *Server) Reload(actor string) (*api.Plan, error) {
	s.changes.Lock()
	defer s.changes.Unlock()
	if s.draining.Load() {
		return nil, ErrStopping
	}
	done, err := s.reload(actor)
	last := &api.Reload{Time: time.Now().UTC(), Success: err == nil}
	if err != nil {
		last.Error = err.Error()
		last.Problems = problemsOf(err)
		for _, p := range last.Problems {
			s.log.Error("configuration problem", "problem", problemText(p))
		}
		s.log.Error("reload refused, the configuration stays as it was", "actor", actor, "error", err)
	}
	s.lastReload.Store(last)
	return done, err
}

// reload is called with changes held.
func (s *Server) reload(actor string) (*api.Plan, error) {
	next, problems := load(s.options)
	if problems.Failed() {
		return nil, &ConfigError{Problems: problems}
	}
	before := s.current.Load()
	plan, err := config.Compare(before.config, next, before.pools.lists())
	if err != nil {
		return nil, err
	}
	told := s.tell(before, plan, problems)
	built, err := s.build(before, next, plan, nil)
	if err != nil {
		return nil, err
	}
	s.carryOut(before, built, plan, actor)
	built.keeper.save() // without the pools that are gone
	s.logWarnings(problems)
	s.log.Info("reloaded", "actor", actor, "configuration", s.source, "digest", next.Digest, "pools", plan.Summary())
	told.Result = api.PlanDone
	return told, nil
}

// Plan says what a reload would do if the text were the configuration file. It changes nothing; files that
// the text names are read. The errors are those of Reload that come from the configuration itself.
func (s *Server) Plan(text []byte) (*api.Plan, error) {
	next, problems := config.Parse(s.source, text)
	if problems.Failed() {
		return nil, &ConfigError{Problems: problems}
	}
	before := s.current.Load()
	plan, err := config.Compare(before.config, next, before.pools.lists())
	if err != nil {
		return nil, err
	}
	return s.tell(before, plan, problems), nil
}

// tell is a plan for people, with what would be lost at this moment.
func (s *Server) tell(before *generation, plan *config.Plan, problems strict.Problems) *api.Plan {
	told := plan.Wire()
	told.Warnings = config.WireProblems(problems, strict.Warning)
	now := time.Now()
	for i := range plan.Pools {
		p := &plan.Pools[i]
		if pool := before.pools.byName[p.Name]; pool != nil && p.Action != config.Kept {
			told.Pools[i].Loses = pool.loses(p, now)
		}
	}
	return told
}

// carryOut makes a generation that was built the one that is served. Nothing here can fail.
func (s *Server) carryOut(before, next *generation, plan *config.Plan, actor string) {
	s.report(plan, actor) // first: the journal takes the last events of pools that go
	idle := next.config.Server.UpstreamClient.IdleTimeout
	for _, p := range plan.Pools {
		pool := next.pools.byName[p.Name]
		switch p.Action {
		case config.MembersChanged:
			pool.replace(p.Upstream.Members, actor)
			fallthrough
		case config.Kept:
			pool.setIdleTimeout(idle)
		}
	}
	next.refreshLogins()
	s.current.Store(next)
	s.proxy.Update(next.data)
	s.carryOutListeners(before, next)
	s.carryOutEndpoints(before, next)
	if next.remoteTerms != nil {
		next.remoteTerms.certificates.refresh()
	}
	s.useAudit(next)
	before.pools.retireExcept(next.pools)
	if before.log != next.log {
		s.logs.add(before.log, time.Now())
	}
}

// report records the events of a reload.
func (s *Server) report(plan *config.Plan, actor string) {
	e := lb.Event{Time: time.Now().Round(0), Kind: lb.EventReload, Actor: actor}
	s.journal.Record(e)
	kinds := map[config.Action]lb.EventKind{
		config.Added: lb.EventPoolAdded, config.Rebuilt: lb.EventPoolRebuilt, config.Removed: lb.EventPoolRemoved,
	}
	for _, p := range plan.Pools {
		if kind, ok := kinds[p.Action]; ok {
			e.Pool, e.Kind = p.Name, kind
			s.journal.Record(e)
		}
	}
}

// loses is what the pool loses by a plan, nil if nothing.
func (p *pool) loses(plan *config.PoolPlan, now time.Time) *api.Loses {
	l := api.Loses{Affinity: plan.Affinity}
	leaves := func(string) bool { return true }
	if plan.Action == config.MembersChanged {
		gone := make(map[string]bool, len(plan.Change.Removed))
		for _, m := range plan.Change.Removed {
			gone[m.Address] = true
		}
		leaves = func(address string) bool { return gone[address] }
	}
	for _, m := range p.engine.Status(now).Members {
		if !leaves(m.Address) {
			continue
		}
		if m.State == lb.Ejected {
			l.Ejections++
		}
		l.InFlight += m.InFlight
		l.IdleConnections += m.Attachment.(idler).Idle()
	}
	if l == (api.Loses{}) {
		return nil
	}
	return &l
}

// idler is a member's side of the connections.
type idler interface{ Idle() int }

// problemsOf are the places of what is wrong with a configuration; nil for other errors.
func problemsOf(err error) []api.FieldError {
	var bad *ConfigError
	if errors.As(err, &bad) {
		return config.WireProblems(bad.Problems, strict.Error)
	}
	var out []api.FieldError
	for _, e := range memberErrors(err) {
		out = append(out, api.FieldError{Path: strict.Join("upstreams", e.Pool), Detail: fmt.Sprintf("%s %s", e.Member, e.Message)})
	}
	return out
}

// memberErrors are those that an error of config.Compare joins.
func memberErrors(err error) []*config.MemberError {
	if e, ok := err.(*config.MemberError); ok {
		return []*config.MemberError{e}
	}
	var all []*config.MemberError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, memberErrors(e)...)
		}
	}
	return all
}

// problemText is a problem as the file's readers know it: file:line:column: path: what.
func problemText(p api.FieldError) string {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	if where != "" {
		where += ": "
	}
	if p.Path != "" {
		where += p.Path + ": "
	}
	return where + p.Detail
}
