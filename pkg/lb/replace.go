package lb

import (
	"runtime"
	"time"
)

// draft is a roster in preparation. The present one goes on serving meanwhile: the pool notes whose
// standing has changed since it was carried over, and the draft catches up.
type draft struct {
	roster *roster
	// stale are the members whose standing is to be carried over, all that stay at first.
	stale []*member
	// batch is how many are carried over under one holding of the lock.
	batch int
	// carried is a batch on its way.
	carried []carried
}

type carried struct {
	index    int32
	standing standing
}

// batch bounds how long a pick can wait for a replacement, whatever the length of the list: the work
// under one holding of the lock is that for so many members.
const batch = 32

// prepare makes the roster after the present one for a list. Until the draft is dropped the pool notes
// into it. Called with preparing held.
func (p *Pool) prepare(list []Member) *draft {
	old := p.roster.Load()
	d := &draft{roster: newRoster(p.settings, old, list, p.join), stale: make([]*member, 0, len(old.members)), batch: batch}
	for _, m := range old.members {
		m.stale = d.roster.member(m.address) == m
		if m.stale {
			d.stale = append(d.stale, m)
		}
	}
	p.mu.Lock()
	p.draft = d
	p.mu.Unlock()
	return d
}

// mark notes that the member's standing has changed.
func (p *Pool) mark(m *member) {
	if p.draft == nil || m.stale || p.draft.roster.indexOf(m) == none {
		return
	}
	m.stale = true
	p.draft.stale = append(p.draft.stale, m)
}

// carry brings the draft up to date, a batch at a time, until no more than one is left. The pool's lock
// is held when it returns. Requests keep changing standings meanwhile, so the number of rounds is
// bounded; what is left then is carried over in one go.
func (p *Pool) carry(d *draft) {
	present := p.roster.Load()
	p.mu.Lock()
	for rounds := 4 + 2*len(d.roster.members)/d.batch; rounds > 0 && len(d.stale) > d.batch; rounds-- {
		d.read(present)
		p.yield()
		d.enter()
		p.mu.Lock()
	}
	for len(d.stale) > 0 {
		d.read(present)
		d.enter()
	}
	d.roster.queues.follow(present.queues)
	p.draft = nil
}

// yield lets go of the lock and lets a pick that waits for it go first: taking it again at once would win over
// one that has to be woken.
func (p *Pool) yield() {
	p.mu.Unlock()
	runtime.Gosched()
}

// read takes the standings of a batch from the present roster. The pool's lock is held.
func (d *draft) read(present *roster) {
	d.carried = d.carried[:0]
	for range min(d.batch, len(d.stale)) {
		m := d.pop()
		d.carried = append(d.carried, carried{d.roster.indexOf(m), present.queues.standing(present.indexOf(m))})
	}
}

// enter puts what was read into the draft. It needs no lock: a member that changes meanwhile is stale again.
func (d *draft) enter() {
	for _, c := range d.carried {
		d.roster.queues.restore(c.index, c.standing)
	}
}

// pop takes a member off the list of those to be carried over.
func (d *draft) pop() *member {
	last := len(d.stale) - 1
	m := d.stale[last]
	d.stale = d.stale[:last]
	m.stale = false
	return m
}

// Replace makes members the whole list of the pool. They are canonical and checked. Members that stay
// keep their health, their load, their attachment and their turn; new ones start at zero. Leases of
// members that are gone are given back as ever. actor is who the events name.
//
// Requests are picked while the new list is prepared. They wait only for short steps whose cost does not
// depend on the length of the list.
func (p *Pool) Replace(now time.Time, members []Member, actor string) Change {
	p.preparing.Lock()
	defer p.preparing.Unlock()
	old := p.roster.Load()
	change := Diff(old.list, members)
	change.Revision = old.revision
	if old.sameList(members) {
		return change
	}
	d := p.prepare(members)
	change.Revision = d.roster.revision
	p.report(now, change, actor)
	p.carry(d)
	p.roster.Store(d.roster)
	p.mu.Unlock()
	for more := true; more; {
		p.mu.Lock()
		more = d.roster.queues.settle(d.batch)
		p.yield()
	}
	return change
}

// report adds the events of a change. They come before the change, so that a new member's first ejection
// cannot come before its event.
func (p *Pool) report(now time.Time, c Change, actor string) {
	e := Event{Time: now.Round(0), Pool: p.name, Actor: actor}
	e.Kind = EventRemoved
	for _, m := range c.Removed {
		e.Member = m.Address
		p.events.add(e)
	}
	e.Kind = EventAdded
	for _, m := range c.Added {
		e.Member = m.Address
		p.events.add(e)
	}
	e.Kind = EventReweighted
	for _, w := range c.Reweighted {
		e.Member, e.From, e.To = w.Address, w.From, w.To
		p.events.add(e)
	}
}
