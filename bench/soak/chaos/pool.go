package chaos

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// What every pool of the daemon is configured with. The judge reckons with these.
const (
	connectTimeout  = time.Second
	responseTimeout = 2 * time.Second
	bodyTimeout     = 2 * time.Second
	cooldown        = 500 * time.Millisecond
	memberIdle      = 3 * time.Second
)

// pool is one pool of the daemon with its members, and what has happened to its list.
type pool struct {
	name     string
	balance  string // the YAML lines of balance and hash
	from     string // members_from
	failures int
	retries  int
	// rebuilt: its settings differ in the two versions of the configuration.
	rebuilt bool
	cookies bool
	members []*member

	// storm: whoever of the members is well is shaky all the same.
	storm atomic.Bool

	mu      sync.Mutex
	lists   []listing
	journal journal
}

// listing is a member list and the time in which it may have been in effect.
type listing struct {
	span
	members []string
}

// pools has every way of choosing, and every number of retries.
func pools() []*pool {
	hash := func(by string) string { return "balance: hash\n    hash: " + by }
	return []*pool{
		{name: "turns", balance: "balance: round_robin", from: "api", failures: 3, retries: 1, members: make([]*member, 4)},
		{name: "least", balance: "balance: least_conn", from: "api", failures: 2, retries: 2, members: make([]*member, 5)},
		{name: "cookie", balance: hash("{by: cookie, name: " + cookieName + "}"), from: "api", failures: 1, retries: 3, cookies: true, members: make([]*member, 5)},
		{name: "header", balance: hash("{by: header, name: " + fieldKey + "}"), from: "file", failures: 3, retries: 4, members: make([]*member, 6)},
		{name: "client", balance: hash("{by: client_ip}"), from: "api", failures: 0, retries: 5, members: make([]*member, 7)},
		{name: "rebuilt", balance: "balance: round_robin", from: "file", failures: 3, retries: 2, rebuilt: true, members: make([]*member, 4)},
	}
}

func (p *pool) addresses() []string {
	var all []string
	for _, m := range p.members {
		all = append(all, m.address)
	}
	return all
}

// yaml is the pool in a version of the configuration. Version 1 differs where a reload has something to do: a file
// pool has another list, and the rebuilt pool other settings.
func (p *pool) yaml(version int) string {
	var b strings.Builder
	keepalive := 16
	if p.rebuilt && version == 1 {
		keepalive = 4
	}
	fmt.Fprintf(&b, "  %s:\n    members_from: %s\n    %s\n    retries: %d\n    keepalive: %d\n", p.name, p.from, p.balance, p.retries, keepalive)
	fmt.Fprintf(&b, "    passive_health: {failures: %d, cooldown: %s}\n    members:\n", p.failures, cooldown)
	for i, address := range p.addresses() {
		switch {
		case version == 1 && i == 0 && p.from == "file":
		case version == 1:
			fmt.Fprintf(&b, "      - {address: %q, weight: %d}\n", address, i)
		default:
			fmt.Fprintf(&b, "      - {address: %q}\n", address)
		}
	}
	return strings.ReplaceAll(b.String(), "weight: 0", "weight: 1")
}

// begin says that a list is being put into effect; the end of the one before it is not known until done.
func (p *pool) begin(members []string) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.lists) - 1
	p.lists = append(p.lists, listing{span{from: time.Now(), to: forever}, members})
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if before >= 0 {
			p.lists[before].to = time.Now()
		}
	}
}

// forget drops the lists that nobody will ask for again. It must not run while a list is begun.
func (p *pool) forget(before time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lists = slices.DeleteFunc(p.lists, func(l listing) bool { return l.to.Before(before) })
}

// always is true if the member was in every list that may have been in effect in the time.
func (p *pool) always(address string, during span) bool {
	return !slices.ContainsFunc(p.within(during), func(l listing) bool { return !slices.Contains(l.members, address) })
}

// ever is true if it was in one of them.
func (p *pool) ever(address string, during span) bool {
	return slices.ContainsFunc(p.within(during), func(l listing) bool { return slices.Contains(l.members, address) })
}

// emptied is true if the list may have been empty.
func (p *pool) emptied(during span) bool {
	return slices.ContainsFunc(p.within(during), func(l listing) bool { return len(l.members) == 0 })
}

func (p *pool) within(during span) []listing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.lists), func(l listing) bool { return !l.meets(during) })
}

// host is how clients name the pool.
func (p *pool) host() string { return p.name + ".soak.test" }
