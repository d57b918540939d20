package lb

import "time"

// Tried is the members that a request has been sent to. The zero value is empty; it holds a first attempt
// and the most retries there can be.
type Tried struct {
	members [1 + MaxRetries]*member
	n       int
}

// Len is the number of members tried.
func (t *Tried) Len() int {
	if t == nil {
		return 0
	}
	return t.n
}

func (t *Tried) add(m *member) {
	t.members[t.n] = m
	t.n++
}

// has reports whether a member was tried. An address that left the list and came back is the same
// address still.
func (t *Tried) has(m *member) bool {
	for n := range t.Len() {
		if t.members[n].address == m.address {
			return true
		}
	}
	return false
}

// reason is what decided a choice.
type reason uint8

const (
	noReason reason = iota
	// byToken and byRendezvous: the key decided.
	byToken
	byRendezvous
	// byOrder: round robin or least_conn.
	byOrder
	// byLastResort: all members are ejected.
	byLastResort
)

// Pick chooses a member for a request, or for the next attempt of one, and adds it to tried, which may be
// nil. It is false if there are no members, none that was not tried, or if those not tried are ejected
// while others are not. The lease must be given back with [Lease.Done].
func (p *Pool) Pick(now time.Time, key Key, tried *Tried) (Lease, bool) {
	return p.pick(now, key, tried, false)
}

// Retry is the Pick of another attempt, where [Pool.MayRetry] allows one: it is false also if the retry
// budget has none left, and takes one from it only where a member is named.
func (p *Pool) Retry(now time.Time, key Key, tried *Tried) (Lease, bool) {
	return p.pick(now, key, tried, true)
}

func (p *Pool) pick(now time.Time, key Key, tried *Tried, retry bool) (Lease, bool) {
	at, attempt := p.at(now), tried.Len()
	if attempt > MaxRetries {
		return Lease{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.budget == nil:
	case retry && !p.budget.allows(at):
		return Lease{}, false
	case attempt == 0:
		p.budget.request(at)
	}
	p.endEjections(now)
	i, why := none, noReason
	if key.kind == hashKey && p.settings.hashesKeys() {
		if i = p.keyed(at, key.hash, tried); i != none {
			why = byRendezvous
		}
	}
	r := p.roster.Load() // not before: keyed lets go of the lock
	if i == none {
		i, why = r.choose(at, key, tried)
	}
	if i == none {
		return Lease{}, false
	}
	for n := range attempt {
		if j := r.find(tried.members[n]); j != none {
			p.mark(r.members[j])
		}
	}
	if retry && p.budget != nil {
		p.budget.retry(at)
	}
	return p.lease(r, i, why, tried), true
}

// lease hands out a chosen member.
func (p *Pool) lease(r *roster, i int32, why reason, tried *Tried) Lease {
	m := r.members[i]
	if why != byOrder {
		r.queues.begin(i)
	}
	m.inFlight.Add(1)
	l := Lease{pool: p, member: m, ejections: m.ejections}
	if why == byToken || why == byRendezvous {
		l.state |= leaseByKey
	}
	if m.state == Probation {
		m.probing++
		l.state |= leaseProbing
		p.queue(r, i, m)
	}
	if tried != nil {
		tried.add(m)
	}
	p.mark(m)
	return l
}

// choose names a member without the mapping: by token, by the pool's order, or as the last resort. An
// order is charged, nothing else changes.
func (r *roster) choose(at int64, key Key, tried *Tried) (int32, reason) {
	if key.kind == tokenKey {
		if i := r.indexOf(key.named); i != none && !key.named.ejectedAt(at) && !tried.has(key.named) {
			return i, byToken
		}
	}
	if i := r.byOrder(tried); i != none {
		return i, byOrder
	}
	if i := r.lastResort(tried); i != none {
		return i, byLastResort
	}
	return none, noReason
}

// byOrder is one step of round robin or least_conn over the members that can be picked: those free, and
// those held on probation only if there is no other. Members that were tried sit the step out.
func (r *roster) byOrder(tried *Tried) int32 {
	var aside [1 + MaxRetries]int32
	n := 0
	for k := range tried.Len() {
		i := r.find(tried.members[k])
		if i == none {
			continue
		}
		if in := r.queues.in(i); in != nil {
			in.take(i)
			aside[n] = i
			n++
		}
	}
	i := r.queues.free.next()
	if i == none {
		i = r.queues.held.next()
	}
	for _, j := range aside[:n] {
		r.queues.in(j).put(j)
	}
	return i
}

// find is the place of a member, or of the one that has its address now.
func (r *roster) find(m *member) int32 {
	if i := r.indexOf(m); i != none {
		return i
	}
	if m := r.member(m.address); m != nil {
		return r.indexOf(m)
	}
	return none
}

// lastResort is, if all members are ejected, the one ejected longest ago that was not tried.
func (r *roster) lastResort(tried *Tried) int32 {
	h := &r.queues.out
	if h.len() < len(r.members) {
		return none
	}
	var aside [1 + MaxRetries]ticket
	n, found := 0, none
	for found == none && h.len() > 0 {
		first := h.tickets[0]
		if !tried.has(r.members[first.i]) {
			found = first.i
			break
		}
		aside[n] = h.remove(first.i)
		n++
	}
	for _, t := range aside[:n] {
		h.push(t)
	}
	return found
}

// keyed is the member in rotation and not tried that has the key, none if there is none. It lets go of
// the lock for as long as it has to compute.
func (p *Pool) keyed(at int64, key uint64, tried *Tried) int32 {
	for {
		r := p.roster.Load()
		if r.queues.out.len() == len(r.members) {
			return none
		}
		slot := r.winners.slot(key)
		if slot == nil {
			return r.mapping.heir(key, at, tried)
		}
		if slot.home == 0 {
			home := p.unlocked(func() int32 { return r.mapping.owner(key) })
			if p.roster.Load() != r {
				continue
			}
			slot = r.winners.slot(key)
			slot.home = home + 1
		}
		home := r.members[slot.home-1]
		if !home.ejectedAt(at) && !tried.has(home) {
			return slot.home - 1
		}
		version := p.ejections
		if tried.Len() == 0 && slot.detour != 0 && slot.version == uint32(version) {
			return slot.detour - 1
		}
		i := p.unlocked(func() int32 { return r.mapping.heir(key, at, tried) })
		if p.roster.Load() != r || p.ejections != version {
			continue
		}
		if i != none && tried.Len() == 0 {
			slot = r.winners.slot(key)
			slot.detour, slot.version = i+1, uint32(version)
		}
		return i
	}
}

// unlocked computes something without the pool's lock.
func (p *Pool) unlocked(compute func() int32) int32 {
	p.mu.Unlock()
	defer p.mu.Lock()
	return compute()
}
