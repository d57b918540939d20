package server

import (
	"slices"
	"time"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// affinityKeySize is how many random bytes the key has under which member addresses become cookie values.
const affinityKeySize = 32

// pools are all pools of a configuration, and those made of single addresses. The set is built once and not
// changed; the pools in it may be in an earlier set and a later one too.
type pools struct {
	byName map[string]*pool
	sorted []*pool
	// single are the pools of single addresses: no name, no metrics. Runtimes that talk to the same address in
	// the same way share one.
	single map[single]*pool
}

// single is all that the connections to a single address depend on.
type single struct {
	address                   config.Address
	caFile, certFile, keyFile string
	idleTimeout               time.Duration
}

func noPools() *pools {
	return &pools{byName: map[string]*pool{}, single: map[single]*pool{}}
}

func (ps *pools) add(p *pool) {
	ps.byName[p.config.Name] = p
	ps.sorted = append(ps.sorted, p)
}

// addSingle gives the pool of a single address: one member, no retries, no ejection, the same code path. It is
// the one that is in the set already, or in the set before.
func (ps *pools) addSingle(rt config.Runtime, before *pools, from poolParts) (*pool, error) {
	key := single{*rt.Address, rt.TLSCAFile, rt.Client.CertFile, rt.Client.KeyFile, rt.Client.IdleTimeout}
	p := ps.single[key]
	if p == nil {
		p = before.single[key]
	}
	if p == nil {
		from.client, from.seq = rt.Client, nil
		var err error
		p, err = newPool(config.Upstream{
			Members:   []lb.Member{{Address: rt.Address.Member, Weight: lb.DefaultWeight}},
			Settings:  lb.Settings{Balance: lb.RoundRobin, Health: lb.HealthSettings{Cooldown: lb.DefaultCooldown}},
			Keepalive: config.DefaultKeepalive,
			HTTPS:     rt.Address.HTTPS,
			TLS:       config.UpstreamTLS{CAFile: rt.TLSCAFile},
		}, from, nil)
		if err != nil {
			return nil, err
		}
	}
	ps.single[key] = p
	return p, nil
}

// all are the pools with and without names.
func (ps *pools) all() []*pool {
	all := slices.Clone(ps.sorted)
	for _, p := range ps.single {
		all = append(all, p)
	}
	return all
}

// lists are the members that the pools have now.
func (ps *pools) lists() map[string][]lb.Member {
	lists := make(map[string][]lb.Member, len(ps.sorted))
	for _, p := range ps.sorted {
		lists[p.config.Name] = p.engine.Members()
	}
	return lists
}

// expire closes connections that were idle for too long.
func (ps *pools) expire(now time.Time) {
	for _, p := range ps.all() {
		p.each(func(m *upstream.Member) { m.Expire(now) })
	}
}

// retireExcept retires the pools that another set does not have.
func (ps *pools) retireExcept(after *pools) {
	kept := make(map[*pool]bool, len(after.sorted)+len(after.single))
	for _, p := range after.all() {
		kept[p] = true
	}
	for _, p := range ps.all() {
		if !kept[p] {
			p.retire()
		}
	}
}
