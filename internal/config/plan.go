package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// Action is what a reload does with a part of the configuration.
type Action string

// The actions. A pool is kept, members_changed, rebuilt, added or removed; a listener kept, changed, added or
// removed; an application unchanged, changed, added or removed.
const (
	Kept           Action = "kept"
	Unchanged      Action = "unchanged"
	MembersChanged Action = "members_changed"
	Rebuilt        Action = "rebuilt"
	Changed        Action = "changed"
	Added          Action = "added"
	Removed        Action = "removed"
)

// Plan is what becomes of a running daemon when one configuration replaces another. A reload carries out
// exactly this: there is no second place that decides.
type Plan struct {
	// Pools of both configurations, by name.
	Pools []PoolPlan
	// Listeners of the new configuration in its order, then those that go.
	Listeners []ListenerPlan
	// Applications likewise.
	Applications []ApplicationPlan
	// Settings are the paths of everything else that changes, for example "server.max_body".
	Settings []string
}

// PoolPlan is what becomes of a pool.
type PoolPlan struct {
	Name   string
	Action Action
	// Because names the settings that force a rebuild, by their keys in the pool; upstream_client.* are those of
	// server.upstream_client.
	Because []string
	// Upstream is the pool as it will be, with the members that it will have; the zero value if it is removed.
	Upstream Upstream
	// Change is that of the member list.
	Change lb.Change
	// Affinity is true if clients lose the member that a cookie, a header or their address leads them to, beyond
	// what the change of the list moves.
	Affinity bool
}

// ListenerPlan is what becomes of a listening socket. From and To are the places of the listener in the old and
// the new configuration, -1 where it is in one of them only.
type ListenerPlan struct {
	Name, Address string
	Action        Action
	// Because names the keys of the listener that differ.
	Because  []string
	From, To int
}

// ApplicationPlan is what becomes of an application.
type ApplicationPlan struct {
	Tenant, Name string
	Action       Action
	// Because names the keys of the application that differ, defaults included.
	Because []string
}

// MemberError is a member that a pool has at run time and that its new settings do not allow.
type MemberError struct {
	Pool, Member, Message string
}

func (e *MemberError) Error() string {
	return fmt.Sprintf("%s: %s, a member since it was set at run time, %s", strict.Join("upstreams", e.Pool), e.Member, e.Message)
}

// Compare plans the replacement of a configuration by another. live has the member lists that the pools have
// now; where it says nothing the list is the one of the old configuration. The error holds a *MemberError for
// each member that stands in the way.
func Compare(from, to *Config, live map[string][]lb.Member) (*Plan, error) {
	p := &Plan{}
	var errs []error
	before, after := byName(from.Upstreams), byName(to.Upstreams)
	for _, name := range slices.Sorted(maps.Keys(merged(before, after))) {
		old, new := before[name], after[name]
		if old != nil {
			if list, ok := live[name]; ok {
				copied := *old
				copied.Members = list
				old = &copied
			}
		}
		pool, err := comparePool(old, new, changedCertificate(from.Server.UpstreamClient, to.Server.UpstreamClient))
		pool.Name = name
		p.Pools = append(p.Pools, pool)
		errs = append(errs, err)
	}
	p.Listeners = compareListeners(from.Server.Listeners, to.Server.Listeners)
	p.Applications = compareApplications(from, to)
	p.Settings = compareSettings(from, to)
	return p, errors.Join(errs...)
}

func byName(all []Upstream) map[string]*Upstream {
	m := make(map[string]*Upstream, len(all))
	for i := range all {
		m[all[i].Name] = &all[i]
	}
	return m
}

func merged[K comparable, V any](a, b map[K]V) map[K]V {
	m := maps.Clone(a)
	maps.Copy(m, b)
	return m
}

// comparePool holds the rules of docs/load-balancing.md#what-survives-what. A pool that is new or gone has nil
// on the other side; before has the members of now.
func comparePool(before, after *Upstream, certificate []string) (PoolPlan, error) {
	switch {
	case before == nil:
		return PoolPlan{Action: Added, Upstream: *after, Change: lb.Diff(nil, after.Members)}, nil
	case after == nil:
		return PoolPlan{Action: Removed, Change: lb.Diff(before.Members, nil), Affinity: before.Settings.Balance == lb.Hash}, nil
	}
	p := PoolPlan{Action: Kept, Upstream: *after, Because: changedSettings(before, after)}
	if before.HTTPS && after.HTTPS {
		p.Because = append(p.Because, certificate...)
	}
	var err error
	if after.FromAPI {
		p.Upstream.Members = before.Members
		err = checkRunTime(after, before.Members)
	}
	p.Change = lb.Diff(before.Members, p.Upstream.Members)
	switch {
	case len(p.Because) > 0:
		p.Action = Rebuilt
		p.Affinity = before.Settings.Balance == lb.Hash &&
			(after.Settings.Hash.By != before.Settings.Hash.By || after.Settings.Hash.Name != before.Settings.Hash.Name ||
				after.HashKeyFile != before.HashKeyFile)
	case !slices.Equal(before.Members, p.Upstream.Members):
		p.Action = MembersChanged
	}
	return p, err
}

// changedSettings are the keys of a pool that differ, of all but members. They come from the table that pools
// are read by: a setting that is added there is compared here.
func changedSettings(before, after *Upstream) []string {
	a, b := *before, *after
	a.Members, b.Members = nil, nil
	return differences(&a, &b, upstreamFields)
}

// differences are the keys at which two values differ by the table that they are read by. Equal values are shown
// alike, and most values of two configurations are equal: only others are shown.
func differences[T any](a, b *T, fields func(*T) []strict.Field) []string {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return strict.Differences("", strict.Show(fields(a)), strict.Show(fields(b)))
}

// changedCertificate are the keys of the client certificate that differ.
func changedCertificate(before, after Client) []string {
	var because []string
	if before.CertFile != after.CertFile {
		because = append(because, "upstream_client.cert_file")
	}
	if before.KeyFile != after.KeyFile {
		because = append(because, "upstream_client.key_file")
	}
	return because
}

// checkRunTime holds a list that was set at run time against the new settings of its pool.
func checkRunTime(u *Upstream, members []lb.Member) error {
	var errs []error
	_, problems := lb.CheckMembers(members, u.HTTPS)
	for _, p := range problems {
		e := &MemberError{Pool: u.Name, Message: p.Message}
		if p.Index >= 0 {
			e.Member = members[p.Index].Address
		}
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// compareListeners matches listeners: by name and address first, then by address, so that a socket outlives a
// new name. A listener that changes its address is a new socket.
func compareListeners(before, after []Listener) []ListenerPlan {
	plans, taken := make([]ListenerPlan, len(after)), make([]bool, len(before))
	match := func(to int, same func(a, b Listener) bool) bool {
		for from := range before {
			if taken[from] || !same(before[from], after[to]) {
				continue
			}
			taken[from] = true
			p := ListenerPlan{Name: after[to].Name, Address: after[to].Address, Action: Kept, From: from, To: to}
			if p.Because = differences(&before[from], &after[to], listenerFields); len(p.Because) > 0 {
				p.Action = Changed
			}
			plans[to] = p
			return true
		}
		return false
	}
	matched := make([]bool, len(after))
	for i := range after {
		matched[i] = match(i, func(a, b Listener) bool { return a.Address == b.Address && a.Name == b.Name })
	}
	for i, l := range after {
		if !matched[i] && !match(i, func(a, b Listener) bool { return a.Address == b.Address }) {
			plans[i] = ListenerPlan{Name: l.Name, Address: l.Address, Action: Added, From: -1, To: i}
		}
	}
	for i, l := range before {
		if !taken[i] {
			plans = append(plans, ListenerPlan{Name: l.Name, Address: l.Address, Action: Removed, From: i, To: -1})
		}
	}
	return plans
}

func compareApplications(from, to *Config) []ApplicationPlan {
	type key struct{ tenant, name string }
	before := make(map[key]*Application)
	var order []key
	each := func(c *Config, see func(key, *Application)) {
		for _, t := range c.Tenants {
			for i := range t.Applications {
				see(key{t.Name, t.Applications[i].Name}, &t.Applications[i])
			}
		}
	}
	each(from, func(k key, a *Application) {
		before[k] = a
		order = append(order, k)
	})
	var plans []ApplicationPlan
	each(to, func(k key, a *Application) {
		p := ApplicationPlan{Tenant: k.tenant, Name: k.name, Action: Added}
		if old, ok := before[k]; ok {
			p.Action = Unchanged
			// What clients of runtimes start from is filled in: it matters no more.
			fields := func(a *Application) []strict.Field { return applicationFields(a, &Client{}) }
			if p.Because = differences(old, a, fields); len(p.Because) > 0 {
				p.Action = Changed
			}
			delete(before, k)
		}
		plans = append(plans, p)
	})
	for _, k := range order {
		if _, gone := before[k]; gone {
			plans = append(plans, ApplicationPlan{Tenant: k.tenant, Name: k.name, Action: Removed})
		}
	}
	return plans
}

// compareSettings are the paths that differ outside of pools, listeners and applications.
func compareSettings(from, to *Config) []string {
	rest := func(c *Config) strict.Shown {
		copied := *c
		copied.Upstreams, copied.Tenants = nil, nil
		shown := strict.Show(rootFields(&copied)).Without("upstreams", "tenants")
		for i, e := range shown {
			if server, ok := e.Value.(strict.Shown); ok && e.Key == "server" {
				shown[i].Value = server.Without("listeners")
			}
		}
		return shown
	}
	paths := strict.Differences("", rest(from), rest(to))
	if from.Sites != to.Sites {
		paths = append(paths, "sites")
	}
	return paths
}

// Empty is true for a plan that leaves everything as it is.
func (p *Plan) Empty() bool {
	return len(p.Settings) == 0 &&
		!slices.ContainsFunc(p.Pools, func(x PoolPlan) bool { return x.Action != Kept }) &&
		!slices.ContainsFunc(p.Listeners, func(x ListenerPlan) bool { return x.Action != Kept }) &&
		!slices.ContainsFunc(p.Applications, func(x ApplicationPlan) bool { return x.Action != Unchanged })
}

// Pool is the plan for the pool of a name; nil if neither configuration has it.
func (p *Plan) Pool(name string) *PoolPlan {
	i, found := slices.BinarySearchFunc(p.Pools, name, func(x PoolPlan, name string) int { return cmp.Compare(x.Name, name) })
	if !found {
		return nil
	}
	return &p.Pools[i]
}

// Summary counts the pools by what becomes of them, for logs: "1 rebuilt, 3 kept".
func (p *Plan) Summary() string {
	counts := make(map[Action]int)
	for _, pool := range p.Pools {
		counts[pool.Action]++
	}
	var parts []string
	for _, a := range []Action{Added, Removed, Rebuilt, MembersChanged, Kept} {
		if counts[a] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[a], a))
		}
	}
	return strings.Join(parts, ", ")
}
