// Package sim runs the engine that serves traffic, [lb.Pool], under a clock of its own: a day of requests
// takes seconds, and the same scenario always gives the same report (docs/simulation.md).
//
// There is one loop and one state. Three things move the clock: the script, attempts that end, and requests
// that arrive. What happens at the same time happens in this order.
package sim

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

// Run plays the scenario. It fails if ctx ends before the scenario does.
func (s *Scenario) Run(ctx context.Context) (*Report, error) {
	r, err := newRun(s)
	if err != nil {
		return nil, fmt.Errorf("simulating %s: %w", s.name, err)
	}
	if err := r.play(ctx); err != nil {
		return nil, fmt.Errorf("simulating %s: %w", s.name, err)
	}
	return r.report(), nil
}

// run is a scenario being played.
type run struct {
	*Scenario
	engine   *lb.Pool
	sequence lb.Sequence
	// epoch is the time of the engine at zero.
	epoch time.Time
	now   time.Duration
	next  int // of the script

	arrivals *arrivals
	clients  *clients
	chance   *rand.Rand // of members
	flights  flights
	// members are those of all lists, order has them in the order of appearance.
	members map[string]*member
	order   []*member
	meters  [][2]meter // of the expectations
	tally
}

func newRun(s *Scenario) (*run, error) {
	r := &run{
		Scenario: s,
		epoch:    time.Unix(0, 0).UTC(),
		arrivals: newArrivals(s),
		clients:  newClients(s),
		chance:   chance(s.seed, chanceOfMember),
		members:  make(map[string]*member),
	}
	r.tally.start(s)
	r.introduce(s.members)
	most := len(s.members)
	for _, e := range s.script {
		most = max(most, len(e.members))
		for i := range e.members {
			if r.members[e.members[i].Address] == nil {
				r.introduce(e.members[i : i+1])
			}
		}
	}
	r.install()
	var err error
	r.engine, err = lb.NewPool(lb.Options{
		Name:     s.name,
		Settings: s.pool,
		Members:  listOf(s.members),
		Key:      binary.BigEndian.AppendUint64([]byte("affinity"), s.seed),
		Seq:      &r.sequence,
		Events:   2*most + 64, // all that one call can bring: they are read after each
		Attach:   func(address string) any { return r.members[address] },
		Now:      r.epoch,
	})
	return r, err
}

// introduce makes members that are new to the run, and gives the others the latency that the list has for
// them.
func (r *run) introduce(servers []server) {
	for _, s := range servers {
		m := r.members[s.Address]
		if m == nil {
			m = &member{address: s.Address, latency: defaultLatency, does: behaviour{does: recovers}}
			r.members[s.Address] = m
			r.order = append(r.order, m)
		}
		if s.latency >= 0 {
			m.latency = s.latency
		}
		m.obey(m.does, r.timeouts)
	}
}

// present is the present on the engine's clock.
func (r *run) present() time.Time { return r.epoch.Add(r.now) }

// play moves the clock until every request has its answer.
func (r *run) play(ctx context.Context) error {
	const look = 1 << 16 // steps between two looks at ctx
	for n := 0; ; n++ {
		if n%look == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		scripted, landing, arrival := r.scripted(), r.flights.next(), r.arrivals.next
		switch {
		case scripted <= landing && scripted <= arrival:
			if scripted == never {
				return nil
			}
			r.move(scripted)
			r.act(r.script[r.next])
			r.next++
		case landing <= arrival:
			r.move(landing)
			r.land(r.flights.pop())
		default:
			r.move(arrival)
			r.arrivals.advance()
			r.arrive()
		}
		if r.sequence.Last() != r.seen {
			r.read()
		}
	}
}

func (r *run) move(to time.Duration) {
	r.now = to
	if to >= r.bucketEnd {
		r.turn(to)
	}
}

// scripted is when the next entry of the script is due.
func (r *run) scripted() time.Duration {
	if r.next == len(r.script) {
		return never
	}
	return r.script[r.next].at
}

// act carries out an entry of the script.
func (r *run) act(e step) {
	switch {
	case e.replace:
		r.introduce(e.members)
		r.engine.Replace(r.present(), listOf(e.members), "scenario")
	case e.rate > 0:
		r.arrivals.change(r.now, e.rate)
	default:
		m := r.members[e.member]
		m.obey(e.behaviour, r.timeouts)
		m.trouble(e.at, e.behaviour.does)
	}
}

// arrive sends a new request on its way.
func (r *run) arrive() {
	r.request()
	i := r.flights.place()
	f := &r.flights.all[i]
	f.began = r.now
	r.clients.draw(f)
	now := r.present()
	f.key = r.clients.key(r.engine, now, f.client)
	var ok bool
	if f.lease, ok = r.engine.Pick(now, f.key, &f.tried); !ok {
		r.flights.leave(i)
		r.refuse()
		return
	}
	r.send(i, f)
}

// send is an attempt: the lease has been taken.
func (r *run) send(i int32, f *flight) {
	m := f.lease.Attachment().(*member)
	f.member, f.fate = m, m.meet(r.chance)
	r.attempt(r.now, m)
	r.flights.land(i, r.now+f.fate.after)
}

// land ends an attempt. The order of the calls is that of the data plane: what the answer says of the
// member, whether and where to try again, and only then the end of the lease.
func (r *run) land(i int32) {
	f := &r.flights.all[i]
	now, o := r.present(), f.fate.outcome
	if !o.Failed() {
		f.lease.Done(now, o)
		r.clients.answer(f)
		r.answered(r.now - f.began)
		r.flights.leave(i)
		return
	}
	f.member.failures[o.Cause()]++
	f.lease.Answered(now, o)
	if lease, ok := r.again(now, f); ok {
		f.lease.Done(now, o)
		f.lease = lease
		r.retries++
		r.send(i, f)
		return
	}
	f.lease.Done(now, o)
	r.failed(r.now, r.now-f.began, o.Cause())
	r.flights.leave(i)
}

// again takes a lease for another attempt, where the engine allows one.
func (r *run) again(now time.Time, f *flight) (lb.Lease, bool) {
	if !r.engine.MayRetry(lb.Attempt{
		Idempotent: f.idempotent,
		Replayable: f.replayable,
		Progress:   f.fate.progress,
		Outcome:    f.fate.outcome,
	}, &f.tried) {
		return lb.Lease{}, false
	}
	if !r.engine.RetryAllowed(now) {
		r.budgetRefusals++
		return lb.Lease{}, false
	}
	return r.engine.Retry(now, f.key, &f.tried)
}
