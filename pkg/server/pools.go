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

// affinityKeySize is how many random bytes the key has under which member addresses become cookie values.
const affinityKeySize = 32

// pool is a pool with all that belongs to it: the engine, the data plane's side and the connections.
type pool struct {
	config      config.Upstream
	incarnation string
	engine      *lb.Pool
	data        *proxy.Pool
	options     upstream.Options

	mu      sync.Mutex // serialises changes of the member list
	members map[string]*upstream.Member
}

// newPool builds a pool whose names r resolves. seq numbers its events among those of the whole process.
func newPool(c config.Upstream, client config.Client, r *net.Resolver, seq *lb.Sequence, key []byte, now time.Time) (*pool, error) {
	p := &pool{
		config:      c,
		incarnation: randomHex(3),
		options:     upstream.Options{Keepalive: c.Keepalive, IdleTimeout: client.IdleTimeout, Resolver: r},
		members:     map[string]*upstream.Member{},
	}
	p.options.Spare = p.spare
	if c.HTTPS {
		t, err := upstream.TLSConfig(c.TLS.CAFile, c.TLS.ServerName, client.CertFile, client.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("building pool %s: %w", c.Name, err)
		}
		p.options.TLS = t
	}
	if c.HashKeyFile != "" {
		var err error
		if key, err = os.ReadFile(c.HashKeyFile); err != nil {
			return nil, fmt.Errorf("building pool %s: reading hash.key_file: %w", c.Name, err)
		}
	}
	engine, err := lb.NewPool(lb.Options{
		Name: c.Name, Settings: c.Settings, Members: c.Members, Key: key, Seq: seq, Attach: p.attach, Now: now,
	})
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
	}
}

// pools are all pools of a configuration, and those made of single addresses.
type pools struct {
	byName map[string]*pool
	sorted []*pool

	resolver *net.Resolver

	single []*pool // one for each runtime with a single address: no name, no metrics
}

func newPools(c *config.Config, r *net.Resolver, seq *lb.Sequence, now time.Time) (*pools, error) {
	ps := &pools{byName: map[string]*pool{}, resolver: r}
	key := randomBytes(affinityKeySize)
	for _, u := range c.Upstreams {
		p, err := newPool(u, c.Server.UpstreamClient, r, seq, key, now)
		if err != nil {
			return nil, err
		}
		ps.byName[u.Name] = p
		ps.sorted = append(ps.sorted, p)
	}
	return ps, nil
}

// addSingle makes the pool of a single address: one member, no retries, no ejection, the same code path.
func (ps *pools) addSingle(rt config.Runtime, now time.Time) (*pool, error) {
	c := config.Upstream{
		Members:   []lb.Member{{Address: rt.Address.Member, Weight: lb.DefaultWeight}},
		Settings:  lb.Settings{Balance: lb.RoundRobin, Health: lb.HealthSettings{Cooldown: lb.DefaultCooldown}},
		Keepalive: config.DefaultKeepalive,
		HTTPS:     rt.Address.HTTPS,
		TLS:       config.UpstreamTLS{CAFile: rt.TLSCAFile},
	}
	p, err := newPool(c, rt.Client, ps.resolver, nil, nil, now)
	if err != nil {
		return nil, err
	}
	ps.single = append(ps.single, p)
	return p, nil
}

// expire closes connections that were idle for too long.
func (ps *pools) expire(now time.Time) {
	for _, p := range slices.Concat(ps.sorted, ps.single) {
		p.each(func(m *upstream.Member) { m.Expire(now) })
	}
}

func (ps *pools) close() {
	for _, p := range slices.Concat(ps.sorted, ps.single) {
		p.each((*upstream.Member).Close)
	}
}

// resends counts requests sent again on a fresh connection, by tenant and application.
type resends struct {
	mu     sync.Mutex
	counts map[resendKey]*proxy.Resends
}

type resendKey struct{ tenant, application string }

func (r *resends) of(tenant, application string) *proxy.Resends {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := resendKey{tenant, application}
	if r.counts == nil {
		r.counts = map[resendKey]*proxy.Resends{}
	}
	if r.counts[k] == nil {
		r.counts[k] = new(proxy.Resends)
	}
	return r.counts[k]
}
