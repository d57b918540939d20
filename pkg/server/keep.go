package server

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/statefile"
)

// stateTime is how long the time in the state file may be past while the daemon runs: a start judges by it
// whether the lists can still be true. It is less where state_max_age is short.
const stateTime = time.Hour

// keeper keeps the lists that were set at run time in the state file (docs/admin-api.md#the-state-file).
//
// A write that fails undoes nothing and refuses nothing: traffic follows the new list already, and whoever set
// it would only set it again. It is logged and counted, and tried again until it succeeds.
type keeper struct {
	file *statefile.File
	path string
	// refresh is how old the file may get.
	refresh time.Duration
	log     *slog.Logger
	failed  *atomic.Uint64

	mu sync.Mutex
	// failure is the error that was logged last.
	failure string
}

// openState keeps the state file, or begins another one. Nothing is written yet.
func (b *builder) openState() error {
	old, c := b.before.config.Admin, b.next.config.Admin
	switch {
	case c.StateFile == "":
	case b.before.keeper != nil && old.StateFile == c.StateFile && old.StateMaxAge == c.StateMaxAge:
		b.next.keeper = b.before.keeper
	default:
		b.next.keeper = &keeper{
			file: statefile.Open(c.StateFile, b.server.runtimeLists, time.Now), path: c.StateFile,
			refresh: min(stateTime, c.StateMaxAge/4), log: b.server.log, failed: &b.server.stateFailed,
		}
	}
	return nil
}

// save returns when the lists of now are on the disk, or could not be written. nil keeps nothing.
func (k *keeper) save() {
	if k != nil {
		k.report(k.file.Save())
	}
}

// look writes again where the last write failed or is too long ago.
func (k *keeper) look(now time.Time) {
	if k == nil {
		return
	}
	if wrote, err := k.file.Refresh(now.Add(-k.refresh)); wrote {
		k.report(err)
	}
}

func (k *keeper) report(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		if k.failure != "" {
			k.log.Info("the state file is written again", "path", k.path)
		}
		k.failure = ""
		return
	}
	k.failed.Add(1)
	if text := err.Error(); text != k.failure {
		k.failure = text
		k.log.Warn("member lists would not outlive a restart", "error", err)
	}
}

// runtimeLists are the lists that were set at run time.
func (s *Server) runtimeLists() []statefile.Pool {
	var lists []statefile.Pool
	for _, p := range s.current.Load().pools.sorted {
		if !p.config.FromAPI || !p.origin().set {
			continue
		}
		members, revision := p.list()
		kept := statefile.Pool{Name: p.config.Name, Revision: revision}
		for _, m := range members {
			kept.Members = append(kept.Members, statefile.Member(m))
		}
		lists = append(lists, kept)
	}
	return lists
}

// origin says where the member list of a pool comes from. The zero value is the configuration file.
type origin struct {
	// set is true for a list that was set at run time, in this process or in the one before.
	set bool
	// restored is when the state file was written that the list was read from; zero: it was set here.
	restored time.Time
}

func (p *pool) origin() origin {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.from
}

// set makes members the list, at run time.
func (p *pool) set(members []lb.Member, actor string) {
	p.replace(members, actor)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.from = origin{set: true}
}

// list is the member list and its revision.
func (p *pool) list() ([]lb.Member, uint64) {
	for {
		revision := p.engine.Revision()
		if members := p.engine.Members(); p.engine.Revision() == revision {
			return members, revision
		}
	}
}

// restored is a list from the state file.
type restored struct {
	members  []lb.Member
	revision uint64
	written  time.Time
}

// restore reads the state file of a configuration that the daemon starts with. What cannot be used is a warning:
// the pools start then as without the file. ok is false where the file holds what was not used.
func (s *Server) restore(c *config.Config) (lists map[string]restored, ok bool) {
	if c.Admin.StateFile == "" {
		return nil, true
	}
	kept, err := statefile.Read(c.Admin.StateFile, s.started, c.Admin.StateMaxAge)
	if err != nil {
		s.log.Warn("the members of api pools are those of the configuration file", "error", err)
		return nil, false
	}
	byName := make(map[string]statefile.Pool, len(kept.Pools))
	for _, p := range kept.Pools {
		byName[p.Name] = p
	}
	lists, ok = make(map[string]restored), true
	for _, u := range c.Upstreams {
		p, found := byName[u.Name]
		if !found || !u.FromAPI {
			continue
		}
		list := restored{revision: p.Revision, written: kept.Written}
		for _, m := range p.Members {
			list.members = append(list.members, lb.Member(m))
		}
		checked, problems := lb.CheckMembers(list.members, u.HTTPS)
		if len(problems) > 0 {
			s.log.Warn("the members of a pool in the state file do not fit, those of the configuration file are used",
				"pool", u.Name, "error", problems[0], "problems", len(problems))
			ok = false
			continue
		}
		list.members = checked
		lists[u.Name] = list
		s.log.Info("members restored", "pool", u.Name, "members", len(checked), "revision", p.Revision, "written", kept.Written)
	}
	return lists, ok
}
