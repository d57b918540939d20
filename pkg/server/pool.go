package server

import (
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/admin"
	"github.com/scalws/scalws/pkg/server/internal/proxy"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// pool is a pool with all that belongs to it: the engine, the data plane's side and the connections. It outlives
// the configuration that it came from as long as its settings do.
type pool struct {
	config      config.Upstream
	incarnation string
	engine      *lb.Pool
	data        *proxy.Pool

	mu      sync.Mutex // serialises changes of the member list and of options
	options upstream.Options
	members map[string]*upstream.Member
	from    origin // of the member list
}

// poolParts are what pools are built from besides their configuration.
type poolParts struct {
	// client is how members are talked to.
	client config.Client
	// resolver resolves the names of members; nil is the system's.
	resolver *net.Resolver
	// seq numbers events among those of the whole process; nil: one of its own.
	seq *lb.Sequence
	// key is the secret of affinity cookies where the pool has none of its own.
	key []byte
	now time.Time
	// restored are the lists from the run before, by pool.
	restored map[string]restored
}

// newPool builds a pool. before is the one that it takes the place of, nil if there is none: its revisions go
// on, so that whoever has seen the old one sees that it changed.
func newPool(c config.Upstream, from poolParts, before *pool) (*pool, error) {
	p := &pool{
		config:      c,
		incarnation: randomHex(3),
		options:     upstream.Options{Keepalive: c.Keepalive, IdleTimeout: from.client.IdleTimeout, Resolver: from.resolver},
		members:     map[string]*upstream.Member{},
	}
	p.options.Spare = p.spare
	o := lb.Options{Name: c.Name, Settings: c.Settings, Members: c.Members, Key: from.key, Seq: from.seq, Attach: p.attach, Now: from.now}
	if before != nil {
		p.incarnation, o.Revision = before.incarnation, before.engine.Revision()+1
		if before.config.FromAPI && c.FromAPI {
			p.from = before.origin()
		}
	} else if list, ok := from.restored[c.Name]; ok {
		o.Members, o.Revision = list.members, list.revision
		p.from = origin{set: true, restored: list.written}
	}
	if c.HTTPS {
		t, err := upstream.TLSConfig(c.TLS.CAFile, c.TLS.ServerName, from.client.CertFile, from.client.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("building pool %s: %w", c.Name, err)
		}
		p.options.TLS = t
	}
	if c.HashKeyFile != "" {
		var err error
		if o.Key, err = os.ReadFile(c.HashKeyFile); err != nil {
			return nil, fmt.Errorf("building pool %s: reading hash.key_file: %w", c.Name, err)
		}
	}
	engine, err := lb.NewPool(o)
	if err != nil {
		return nil, fmt.Errorf("building pool %s: %w", c.Name, err)
	}
	p.engine, p.data = engine, proxy.NewPool(c.Name, engine)
	return p, nil
}

// attach makes the connections' side of an address that joins. It runs inside newPool and replace.
func (p *pool) attach(address string) any {
	m := upstream.NewMember(address, p.options)
	p.members[address] = m
	return m
}

// replace makes members the list. Connections to members that leave are closed once they are idle.
func (p *pool) replace(members []lb.Member, actor string) lb.Change {
	p.mu.Lock()
	defer p.mu.Unlock()
	change := p.engine.Replace(time.Now(), members, actor)
	for _, gone := range change.Removed {
		p.members[gone.Address].Close()
		delete(p.members, gone.Address)
	}
	return change
}

// setIdleTimeout changes how long idle connections are kept.
func (p *pool) setIdleTimeout(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options.IdleTimeout = d
	for _, m := range p.members {
		m.SetIdleTimeout(d)
	}
}

// retire ends a pool that is not served any more. Requests in flight finish and give their connections back to
// be closed.
func (p *pool) retire() {
	p.data.Retire()
	p.each((*upstream.Member).Close)
}

// each calls f for every member's connections.
func (p *pool) each(f func(*upstream.Member)) {
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.members))
	p.mu.Unlock()
	for _, m := range all {
		f(m)
	}
}

// spare closes the idle connections of one member that has any, and is false if none has.
func (p *pool) spare() bool {
	closed := 0
	p.each(func(m *upstream.Member) {
		if closed == 0 {
			closed = m.CloseIdle()
		}
	})
	return closed > 0
}

func (p *pool) view() admin.PoolView {
	return admin.PoolView{
		Status:      p.engine.Status(time.Now()),
		FromAPI:     p.config.FromAPI,
		HTTPS:       p.config.HTTPS,
		CAFile:      p.config.TLS.CAFile,
		ServerName:  p.config.TLS.ServerName,
		Keepalive:   p.config.Keepalive,
		Incarnation: p.incarnation,
		Engine:      p.engine,

		RestoredFrom: p.origin().restored,
	}
}
