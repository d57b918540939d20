package lb

import "time"

// Passive health (docs/load-balancing.md#passive-health). A member is up, ejected until a time, or on
// probation. All of this runs under the pool's lock.

// maxEvidence is how many failures a member remembers for the event of its ejection.
const maxEvidence = 8

// endEjections puts members whose cooldown is over on probation.
func (p *Pool) endEjections(now time.Time) {
	r, at := p.roster.Load(), p.at(now)
	for i := r.queues.due(at); i != none; i = r.queues.due(at) {
		m := r.members[i]
		m.state, m.probing = Probation, 0
		m.until.Store(inRotation)
		p.ejections++
		p.queue(r, i, m)
		p.events.add(Event{Time: m.ejectedUntil, Pool: p.name, Kind: EventProbation, Member: m.address, Actor: ActorHealth})
	}
}

// answered takes the verdict of a response head.
func (p *Pool) answered(now time.Time, l *Lease, o Outcome) {
	r := p.roster.Load()
	i := r.indexOf(l.member)
	if i == none {
		return
	}
	p.endEjections(now)
	p.freePlace(r, i, l)
	p.judge(now, r, i, l, o)
}

// done takes the end of an attempt.
func (p *Pool) done(now time.Time, l *Lease, o Outcome) {
	r := p.roster.Load()
	i := r.indexOf(l.member)
	if i == none {
		return // removed: the request finishes, and nobody asks how
	}
	p.endEjections(now)
	r.queues.end(i)
	p.mark(l.member)
	p.freePlace(r, i, l)
	p.judge(now, r, i, l, o)
	if m := l.member; o.verdict == success && l.ejections == m.ejections {
		m.failures, m.evidence = 0, m.evidence[:0]
		m.settle()
	}
}

// judge counts a failure, and lets a success bring the member back. Attempts that began before the
// member's latest ejection say nothing any more.
func (p *Pool) judge(now time.Time, r *roster, i int32, l *Lease, o Outcome) {
	m := l.member
	if l.ejections != m.ejections {
		return
	}
	switch {
	case o.verdict == success && m.state != Up:
		p.recover(now, r, i, m)
	case o.verdict == failure:
		m.fail(now, o)
		limit := p.settings.Health.Failures
		if limit > 0 && (m.failures >= limit || m.state != Up) {
			p.eject(now, r, i, m)
		}
	}
}

// eject takes the member out, or starts its ejection anew.
func (p *Pool) eject(now time.Time, r *roster, i int32, m *member) {
	cooldown := p.settings.Health.Cooldown
	m.state, m.probing = Ejected, 0
	m.ejections++
	m.until.Store(p.at(now) + int64(cooldown))
	m.ejectedUntil = now.Add(cooldown).Round(0)
	p.ejections++
	p.queue(r, i, m)
	p.events.add(Event{
		Time: now.Round(0), Pool: p.name, Kind: EventEjected, Member: m.address, Until: m.ejectedUntil,
		Actor: ActorHealth, Evidence: append([]Evidence(nil), m.evidence...),
	})
	m.evidence = m.evidence[:0]
}

// recover brings the member back from an ejection or from probation. Its count of failures is set back
// when an answer has ended well.
func (p *Pool) recover(now time.Time, r *roster, i int32, m *member) {
	m.state, m.probing = Up, 0
	m.until.Store(inRotation)
	p.ejections++
	p.queue(r, i, m)
	p.events.add(Event{Time: now.Round(0), Pool: p.name, Kind: EventRecovered, Member: m.address, Actor: ActorHealth})
}

// freePlace gives back the place that the lease has of a member on probation.
func (p *Pool) freePlace(r *roster, i int32, l *Lease) {
	if l.state&leaseProbing == 0 {
		return
	}
	l.state &^= leaseProbing
	if m := l.member; m.state == Probation && l.ejections == m.ejections {
		m.probing--
		p.queue(r, i, m)
	}
}

// queue puts the member into the queue that its state asks for.
func (p *Pool) queue(r *roster, i int32, m *member) {
	to, places := free, p.settings.Health.ProbationRequests
	switch {
	case m.state == Ejected:
		to = out
	case m.state == Probation && places > 0 && m.probing >= places:
		to = held
	}
	if to == r.queues.where[i] && to != out {
		return
	}
	r.queues.move(i, to, ticket{a: m.until.Load(), b: p.ejections, i: i})
	p.mark(m)
}

// fail counts a failure and keeps it as evidence.
func (m *member) fail(now time.Time, o Outcome) {
	m.failures++
	m.lastFailure = o.cause
	if len(m.evidence) == maxEvidence {
		copy(m.evidence, m.evidence[1:])
		m.evidence = m.evidence[:maxEvidence-1]
	}
	m.evidence = append(m.evidence, Evidence{Time: now.Round(0), Cause: o.cause, Detail: o.detail})
	m.settle()
}

// settle says whether a success would change anything. A member that is not up has failures to remember.
func (m *member) settle() { m.troubled.Store(m.failures > 0) }
