package lb

import (
	"sync"
	"sync/atomic"
	"time"
)

// EventKind is what happened.
type EventKind string

// The kinds of events that a pool reports.
const (
	EventEjected    EventKind = "ejected"
	EventProbation  EventKind = "probation"
	EventRecovered  EventKind = "recovered"
	EventAdded      EventKind = "member_added"
	EventRemoved    EventKind = "member_removed"
	EventReweighted EventKind = "member_reweighted"
	// EventGap stands for events that the pool no longer holds.
	EventGap EventKind = "gap"
)

// The kinds of events that are about whole pools, or about all of them. The engine does not report them: the
// daemon, which makes and replaces pools, does.
const (
	EventReload      EventKind = "reload"
	EventPoolAdded   EventKind = "pool_added"
	EventPoolRebuilt EventKind = "pool_rebuilt"
	EventPoolRemoved EventKind = "pool_removed"
)

// ActorHealth is the actor of ejections and returns.
const ActorHealth = "health"

// Event is one change of a pool or of a member's state.
type Event struct {
	// Seq numbers the events of the process. A gap has the number of the last event that is missing.
	Seq  uint64
	Time time.Time
	Pool string
	Kind EventKind
	// Member is its address; "" for a gap.
	Member string
	// Until is the end of an ejection.
	Until time.Time
	// Actor is who did it: ActorHealth, or what Replace was told.
	Actor string
	// From and To are the weights of a member that was reweighted.
	From, To int
	// Evidence is the failures that led to an ejection, the oldest first; of more than 8 the last 8.
	Evidence []Evidence
}

// Evidence is one failure.
type Evidence struct {
	Time   time.Time
	Cause  Cause
	Detail string
}

// Sequence numbers the events of a process, 1 the first. The zero value is ready.
type Sequence struct{ last atomic.Uint64 }

// Next draws a number.
func (s *Sequence) Next() uint64 { return s.last.Add(1) }

// Last is the number drawn last, 0 if none was. Whoever merges the events of several pools reads it
// first: every event up to it is then to be found in its pool, while a later one may come before an
// earlier one does.
func (s *Sequence) Last() uint64 { return s.last.Load() }

// defaultEvents is the size of a pool's ring.
const defaultEvents = 256

// ring is the last events of a pool.
type ring struct {
	mu     sync.Mutex
	seq    *Sequence
	events []Event
	// count is how many events there ever were; the newest is at (count-1) % len(events).
	count int
	// dropped is the newest event that is no longer held.
	dropped Event
}

func newRing(seq *Sequence, size int) *ring {
	if size <= 0 {
		size = defaultEvents
	}
	return &ring{seq: seq, events: make([]Event, 0, size)}
}

// add numbers the event and keeps it. The number is drawn under the ring's lock, see Sequence.Last.
func (r *ring) add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Seq = r.seq.Next()
	if len(r.events) < cap(r.events) {
		r.events = append(r.events, e)
	} else {
		at := r.count % len(r.events)
		r.dropped = Event{Seq: r.events[at].Seq, Time: r.events[at].Time, Pool: e.Pool, Kind: EventGap}
		r.events[at] = e
	}
	r.count++
}

// since returns the events after a number, the oldest first, with a gap in front if some are missing.
func (r *ring) since(seq uint64) []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Event
	if seq < r.dropped.Seq {
		out = append(out, r.dropped)
	}
	for n := r.count - len(r.events); n < r.count; n++ {
		if e := r.events[n%len(r.events)]; e.Seq > seq {
			out = append(out, e)
		}
	}
	return out
}

// Events returns the pool's events after a number, the oldest first; 0 returns all that it holds. If
// some of them are gone the first is a gap.
func (p *Pool) Events(since uint64) []Event { return p.events.since(since) }
