package proxy

import (
	"sync/atomic"
	"time"
)

// bounds are the upper bounds of the duration histogram (docs/logging-metrics.md).
var bounds = [...]time.Duration{
	500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond,
	25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

// Durations is a histogram of plain atomics: observing never waits, reading takes what is there.
// The zero value is empty.
type Durations struct {
	counts [len(bounds) + 1]atomic.Uint64
	sum    atomic.Int64
}

// Observe adds one duration.
func (d *Durations) Observe(v time.Duration) {
	i := 0
	for i < len(bounds) && v > bounds[i] {
		i++
	}
	d.counts[i].Add(1)
	d.sum.Add(int64(v))
}

// Snapshot is the count of each bucket, the one without a bound last, and the sum of all durations.
func (d *Durations) Snapshot() (counts []uint64, sum time.Duration) {
	counts = make([]uint64, len(d.counts))
	for i := range d.counts {
		counts[i] = d.counts[i].Load()
	}
	return counts, time.Duration(d.sum.Load())
}
