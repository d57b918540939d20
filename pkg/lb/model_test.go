package lb

import (
	"slices"
	"time"
)

// model is the engine as the guide and the contract have it, in linear loops and without a thought for
// cost. It is the oracle of the property tests.
type model struct {
	settings Settings
	list     []*modelMember
	picks    int
	ejected  int
}

type modelMember struct {
	address string
	weight  int
	// value is the smooth weighted round robin's.
	value    int
	last     int
	inFlight int
	state    State
	until    time.Time
	// number orders ejections of one moment; ejections counts them.
	number, ejections int
	probing, failures int
}

type modelLease struct {
	m         *modelMember
	ejections int
	probing   bool
	answered  bool
}

func newModel(s Settings, list []Member) *model {
	m := &model{settings: s}
	m.replace(list)
	return m
}

func (m *model) replace(list []Member) {
	var next []*modelMember
	for _, entry := range list {
		member := &modelMember{address: entry.Address}
		for _, old := range m.list {
			if old.address == entry.Address {
				member = old
			}
		}
		member.weight = entry.Weight
		next = append(next, member)
	}
	m.list = next
}

func (m *model) turn(now time.Time) {
	for _, x := range m.list {
		if x.state == Ejected && !x.until.After(now) {
			x.state, x.probing = Probation, 0
		}
	}
}

// pick chooses among the members not tried.
func (m *model) pick(now time.Time, key Key, tried []string) (*modelLease, bool) {
	m.turn(now)
	untried := func(x *modelMember) bool { return !slices.Contains(tried, x.address) }
	full := func(x *modelMember) bool {
		n := m.settings.Health.ProbationRequests
		return x.state == Probation && n > 0 && x.probing >= n
	}
	var x *modelMember
	if key.kind == hashKey {
		x = m.rendezvous(key, m.filter(func(x *modelMember) bool { return untried(x) && x.state != Ejected }))
	}
	if x == nil {
		x = m.order(m.filter(func(x *modelMember) bool { return untried(x) && x.state != Ejected && !full(x) }))
	}
	if x == nil {
		x = m.order(m.filter(func(x *modelMember) bool { return untried(x) && x.state == Probation }))
	}
	if x == nil && len(m.filter(func(x *modelMember) bool { return x.state != Ejected })) == 0 {
		for _, y := range m.filter(untried) {
			if x == nil || y.until.Before(x.until) || y.until.Equal(x.until) && y.number < x.number {
				x = y
			}
		}
	}
	if x == nil {
		return nil, false
	}
	m.picks++
	x.last = m.picks
	x.inFlight++
	l := &modelLease{m: x, ejections: x.ejections, probing: x.state == Probation}
	if l.probing {
		x.probing++
	}
	return l, true
}

func (m *model) filter(keep func(*modelMember) bool) []*modelMember {
	var out []*modelMember
	for _, x := range m.list {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

func (m *model) order(in []*modelMember) *modelMember {
	if m.settings.Balance == LeastConn {
		return leastLoaded(in)
	}
	return smooth(in)
}

// smooth is one step of the textbook's smooth weighted round robin.
func smooth(in []*modelMember) *modelMember {
	var best *modelMember
	total := 0
	for _, x := range in {
		x.value += x.weight
		total += x.weight
		if best == nil || x.value > best.value {
			best = x
		}
	}
	if best != nil {
		best.value -= total
	}
	return best
}

func leastLoaded(in []*modelMember) *modelMember {
	var best *modelMember
	for _, x := range in {
		if best == nil {
			best = x
			continue
		}
		a, b := x.inFlight*best.weight, best.inFlight*x.weight
		if a < b || a == b && x.last < best.last {
			best = x
		}
	}
	return best
}

func (m *model) rendezvous(key Key, in []*modelMember) *modelMember {
	var best *modelMember
	var bestLog uint64
	for _, x := range in {
		log := negLog2(draw(key.hash, seedOf(x.address)))
		if best == nil || less(log, uint64(best.weight), bestLog, uint64(x.weight)) {
			best, bestLog = x, log
		}
	}
	return best
}

func (m *model) gone(x *modelMember) bool { return !slices.Contains(m.list, x) }

func (m *model) answered(now time.Time, l *modelLease, o Outcome) {
	if m.gone(l.m) {
		return
	}
	m.turn(now)
	m.judge(now, l, o)
	l.answered = l.answered || o.Failed()
}

func (m *model) done(now time.Time, l *modelLease, o Outcome) {
	l.m.inFlight--
	if m.gone(l.m) {
		return
	}
	m.turn(now)
	if l.answered {
		o = Neutral()
	}
	if l.probing && l.ejections == l.m.ejections && l.m.state == Probation {
		l.m.probing--
	}
	l.probing = false
	m.judge(now, l, o)
	if o == Success() && l.ejections == l.m.ejections {
		l.m.failures = 0
	}
}

func (m *model) judge(now time.Time, l *modelLease, o Outcome) {
	x := l.m
	if l.ejections != x.ejections {
		return
	}
	switch {
	case o == Success() && x.state != Up:
		x.state, x.probing = Up, 0
	case o.Failed():
		x.failures++
		limit := m.settings.Health.Failures
		if limit > 0 && (x.failures >= limit || x.state != Up) {
			m.ejected++
			x.state, x.probing, x.number = Ejected, 0, m.ejected
			x.ejections++
			x.until = now.Add(m.settings.Health.Cooldown)
		}
	}
}

// status is what the engine's Status must be for these members.
func (m *model) status(now time.Time) []MemberStatus {
	out := []MemberStatus{}
	for _, x := range m.list {
		s := MemberStatus{
			Address: x.address, Weight: x.weight, State: x.state, InFlight: x.inFlight, ConsecutiveFailures: x.failures,
		}
		switch {
		case x.state == Ejected && !x.until.After(now):
			s.State = Probation
		case x.state == Ejected:
			s.EjectedUntil = x.until
		}
		out = append(out, s)
	}
	return out
}
