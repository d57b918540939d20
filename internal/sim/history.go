package sim

import (
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

// history is what happened to a member's place in the rotation, as the engine tells it.
type history struct {
	ejections               int
	firstEjected, lastEject time.Duration
	recoveries              int
	firstRecovered          time.Duration
	// out is how long it was ejected in all, within the duration; since and until are the ejection there is.
	out          time.Duration
	ejected      bool
	since, until time.Duration

	faults []*fault
	// unnoticed is the latest fault, until an ejection answers it or the member is well again.
	unnoticed *fault
}

// fault is an entry of the script that made a member worse.
type fault struct {
	at   time.Duration
	does doing
	// ejected is when the engine took the member out; negative if it did not.
	ejected time.Duration
	// sent are the attempts from the fault until then, or until the member was well again.
	sent uint64
}

// trouble notes what the script did to the member.
func (h *history) trouble(at time.Duration, does doing) {
	h.unnoticed = nil
	if does != recovers {
		h.unnoticed = &fault{at: at, does: does, ejected: -1}
		h.faults = append(h.faults, h.unnoticed)
	}
}

// eject notes an ejection. One that starts anew goes on.
func (h *history) eject(at, until time.Duration) {
	if h.ejections == 0 {
		h.firstEjected = at
	}
	h.ejections++
	h.lastEject = at
	if !h.ejected {
		h.ejected, h.since = true, at
	}
	h.until = until
	if h.unnoticed != nil {
		h.unnoticed.ejected, h.unnoticed = at, nil
	}
}

// leave notes the end of an ejection: its time is over, the member recovered or left the pool.
func (h *history) leave(at, end time.Duration) {
	if h.ejected {
		h.ejected = false
		h.out += max(0, min(at, end)-h.since)
	}
}

func (h *history) recover(at time.Duration) {
	if h.recoveries == 0 {
		h.firstRecovered = at
	}
	h.recoveries++
}

// read takes the events that the engine has added.
func (r *run) read() {
	for _, e := range r.engine.Events(r.seen) {
		at, m := e.Time.Sub(r.epoch), r.members[e.Member]
		switch e.Kind {
		case lb.EventEjected:
			m.eject(at, e.Until.Sub(r.epoch))
		case lb.EventProbation, lb.EventRemoved:
			m.leave(at, r.end)
		case lb.EventRecovered:
			m.leave(at, r.end)
			m.recover(at)
		}
		if len(r.events) < maxEvents {
			r.events = append(r.events, e)
		} else {
			r.moreEvents++
		}
	}
	r.seen = r.sequence.Last()
}
