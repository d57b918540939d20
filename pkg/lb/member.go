package lb

import (
	"math"
	"sync/atomic"
	"time"
)

// inRotation is the end of the ejection of a member that is not ejected.
const inRotation = math.MinInt64

// member is an address and what is known of it. It stays the same while the address stays in the list.
// Everything below the line is guarded by the pool's lock, atomics may be read without it.
type member struct {
	address    string
	token      string
	seed       uint64
	attachment any

	// places are the member's index in the roster of an even and of an odd generation. The next roster is
	// prepared while the present one serves, so each needs its own.
	places [2]struct {
		generation uint64
		index      int32
	}
	// stale is true while the roster in preparation does not know the member's latest standing.
	stale bool

	state State
	// until is the end of the ejection, inRotation unless the member is ejected; ejectedUntil is the same
	// for people.
	until        atomic.Int64
	ejectedUntil time.Time
	// ejections tells results of attempts that began before an ejection from those that began after it.
	ejections uint32
	// probing counts the requests in flight that began on probation.
	probing     int
	failures    int
	lastFailure Cause
	// evidence is the latest failures since the last success or ejection.
	evidence []Evidence
	inFlight atomic.Int32
	// troubled is true while failures are remembered. Otherwise the member is up and a success changes nothing.
	troubled atomic.Bool
}

// ejectedAt reports whether the member is ejected at a time of the pool's clock.
func (m *member) ejectedAt(at int64) bool { return m.until.Load() > at }

// stateAt is the state at a time: an ejection ends by itself.
func (m *member) stateAt(at int64) State {
	if m.state == Ejected && !m.ejectedAt(at) {
		return Probation
	}
	return m.state
}
