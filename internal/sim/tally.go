package sim

import (
	"slices"
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

// buckets is how many parts the duration is counted in.
const buckets = 60

// maxEvents is how many of the engine's events a report holds: the first ones.
const maxEvents = 1000

// tally is what is counted of the whole run.
type tally struct {
	end time.Duration
	// sent, retries and the rest count up to the last answer, also behind the end.
	sent, retries, budgetRefusals uint64
	answers                       uint64
	errors                        [lb.Status504 + 1]uint64 // NoCause: there was no member
	firstError, lastError         time.Duration
	waits                         waits

	// bucket is the current one, bucketEnd its end; the last one ends never.
	bucket      int
	bucketWidth time.Duration
	bucketEnd   time.Duration
	requestsIn  [buckets]uint64
	errorsIn    [buckets]uint64

	// meters of all attempts and of all errors.
	attemptMeters, errorMeters []*meter

	events     []lb.Event
	moreEvents int
	seen       uint64
}

// meter counts what happens in a part of the run.
type meter struct {
	from, to time.Duration
	n        uint64
}

func (m *meter) count(now time.Duration) {
	if m.from <= now && now < m.to {
		m.n++
	}
}

func (t *tally) start(s *Scenario) {
	t.end = s.duration
	t.firstError, t.lastError = -1, -1
	t.bucketWidth = (s.duration + buckets - 1) / buckets
	t.bucketEnd = t.bucketWidth
	t.waits.of = make(map[time.Duration]*uint64)
}

// turn goes on to the bucket of a time.
func (t *tally) turn(now time.Duration) {
	for now >= t.bucketEnd && t.bucket < buckets-1 {
		t.bucket++
		t.bucketEnd += t.bucketWidth
	}
	if t.bucket == buckets-1 {
		t.bucketEnd = never
	}
}

// request counts one that arrived.
func (t *tally) request() {
	t.sent++
	t.requestsIn[t.bucket]++
}

// attempt counts one that is sent to a member.
func (t *tally) attempt(now time.Duration, m *member) {
	m.requests++
	m.buckets[t.bucket]++
	if m.unnoticed != nil {
		m.unnoticed.sent++
	}
	for _, meter := range m.meters {
		meter.count(now)
	}
	for _, meter := range t.attemptMeters {
		meter.count(now)
	}
}

// answered counts a client that got an answer after a wait.
func (t *tally) answered(wait time.Duration) {
	t.answers++
	t.waits.add(wait)
}

// failed counts a client that got an error.
func (t *tally) failed(now, wait time.Duration, c lb.Cause) {
	t.errors[c]++
	t.errorsIn[t.bucket]++
	t.waits.add(wait)
	if t.firstError < 0 {
		t.firstError = now
	}
	t.lastError = now
	for _, meter := range t.errorMeters {
		meter.count(now)
	}
}

// allErrors is how many clients got one.
func (t *tally) allErrors() (n uint64) {
	for _, of := range t.errors {
		n += of
	}
	return n
}

// refuse counts a request for which there is no member.
func (r *run) refuse() { r.failed(r.now, 0, lb.NoCause) }

// waits counts how long clients waited. There are few different waits, because members have one latency at
// a time; so every percentile is exact.
type waits struct {
	of map[time.Duration]*uint64
	// last is the one that was counted last: mostly the next one too.
	last  time.Duration
	count *uint64
}

func (w *waits) add(wait time.Duration) {
	if w.count == nil || wait != w.last {
		w.last, w.count = wait, w.of[wait]
		if w.count == nil {
			w.count = new(uint64)
			w.of[wait] = w.count
		}
	}
	*w.count++
}

// quantiles are the waits that the given shares of all clients did not exceed. The shares ascend.
func (w *waits) quantiles(shares ...float64) []time.Duration {
	var total uint64
	sorted := make([]time.Duration, 0, len(w.of))
	for wait, n := range w.of {
		total += *n
		sorted = append(sorted, wait)
	}
	slices.Sort(sorted)
	found := make([]time.Duration, len(shares))
	var sum uint64
	at := 0
	for _, wait := range sorted {
		sum += *w.of[wait]
		for at < len(shares) && float64(sum) >= shares[at]*float64(total) {
			found[at] = wait
			at++
		}
	}
	return found
}
