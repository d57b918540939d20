package limits

import (
	"sync"
	"time"
)

// QuotaSettings say what a Quota allows.
type QuotaSettings struct {
	// Requests in each window of Per; both above 0. Per is whole seconds.
	Requests int64
	Per      time.Duration
}

// Quota bounds the requests of a window of time. Windows are those of the calendar, not of the first request: they begin
// at multiples of their length since 1970 in UTC, so that a quota of a day ends at midnight UTC in every process.
type Quota struct {
	settings QuotaSettings

	mu      sync.Mutex
	window  int64 // the number of the window that is counted
	used    int64
	refused uint64
}

// NewQuota makes a quota of which nothing is used.
func NewQuota(s QuotaSettings) *Quota { return &Quota{settings: s} }

// Settings are those that it was made with.
func (q *Quota) Settings() QuotaSettings { return q.settings }

// Take decides about one request.
func (q *Quota) Take(now time.Time) Verdict {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.turn(now)
	if q.used < q.settings.Requests {
		q.used++
		return Verdict{OK: true}
	}
	q.refused++
	return Verdict{Wait: max(q.reset().Sub(now), 1)}
}

// turn begins the window of now. A request that looked at the clock just before another one began the next window
// counts in that; a clock that was set back further than that begins anew, because a window that is far ahead would
// never end.
func (q *Quota) turn(now time.Time) {
	seconds := int64(q.settings.Per / time.Second)
	if w := now.Unix() / seconds; w != q.window && w != q.window-1 {
		q.window, q.used = w, 0
	}
}

// reset is when the window ends.
func (q *Quota) reset() time.Time {
	return time.Unix((q.window+1)*int64(q.settings.Per/time.Second), 0).UTC()
}

// QuotaState is what a Quota shows of itself.
type QuotaState struct {
	// Used is how many requests of the window were let through, Limit how many may be.
	Used, Limit int64
	// Reset is when the next window begins.
	Reset time.Time
	// Refused requests since it was made.
	Refused uint64
}

// State is how far it is used at a time.
func (q *Quota) State(now time.Time) QuotaState {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.turn(now)
	return QuotaState{Used: q.used, Limit: q.settings.Requests, Reset: q.reset(), Refused: q.refused}
}
