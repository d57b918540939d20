// Package journal keeps the latest events of the whole process in the order of their numbers, for the log and
// for the admin API.
//
// The engine wakes nobody: its pools keep their events until somebody looks. The journal is who looks, every
// [Period] and whenever it is read, and it is what readers wait on. A reader comes with the number that it has
// seen last, so nothing is queued for anybody, and a slow one misses events (and sees that by a gap) instead
// of holding the others up.
package journal

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

const (
	// Period is how long an event waits at most before it is in the journal.
	Period = 100 * time.Millisecond
	// Size is how many events are kept.
	Size = 4096
)

// Journal is the events of a process. It is safe for use by several goroutines.
type Journal struct {
	seq   *lb.Sequence
	pools func(since uint64) []lb.Event
	size  int
	done  chan struct{}

	mu sync.Mutex
	// seen is the number up to which everything was collected.
	seen uint64
	// own are events that the pools do not have and that were not collected yet.
	own    []lb.Event
	events []lb.Event
	// dropped is the newest event that is no longer kept.
	dropped lb.Event
	// more is closed when there are events after seen.
	more chan struct{}
}

// New makes a journal. pools returns the events of all pools after a number, in any order between pools, with
// the gaps that [lb.Pool.Events] reports. seq is what numbers them.
func New(seq *lb.Sequence, pools func(since uint64) []lb.Event) *Journal {
	return &Journal{seq: seq, pools: pools, size: Size, done: make(chan struct{}), more: make(chan struct{})}
}

// Run collects events until ctx ends, and ends the journal then: what has happened is in it, and nothing more
// comes.
func (j *Journal) Run(ctx context.Context) {
	tick := time.NewTicker(Period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			j.collect()
		case <-ctx.Done():
			j.collect()
			close(j.done)
			return
		}
	}
}

// Done is closed when the journal has ended.
func (j *Journal) Done() <-chan struct{} { return j.done }

// Record adds an event that is no pool's. It is numbered here, and all that happened before it is collected: a
// pool may be let go afterwards.
func (j *Journal) Record(e lb.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Seq = j.seq.Next()
	j.own = append(j.own, e)
	j.merge()
}

// Since returns the events after a number, the oldest first, with a gap in front where some of them are gone.
// more is closed when there are others.
func (j *Journal) Since(seq uint64) (events []lb.Event, more <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.merge()
	if seq < j.dropped.Seq {
		events = append(events, lb.Event{Seq: j.dropped.Seq, Time: j.dropped.Time, Kind: lb.EventGap})
	}
	from, _ := slices.BinarySearchFunc(j.events, seq+1, func(e lb.Event, seq uint64) int { return cmp.Compare(e.Seq, seq) })
	return append(events, j.events[from:]...), j.more
}

func (j *Journal) collect() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.merge()
}

// merge takes what is new in the pools. Pools draw their numbers at the same time, so only what is numbered up
// to the number that was drawn last before the look is sure to be complete (see [lb.Sequence.Last]); the rest
// comes with the next look.
func (j *Journal) merge() {
	last := j.seq.Last()
	if last == j.seen {
		return
	}
	fresh := append(j.pools(j.seen), j.own...)
	early := func(e lb.Event) bool { return e.Seq > last }
	j.own = slices.DeleteFunc(j.own, func(e lb.Event) bool { return !early(e) })
	fresh = slices.DeleteFunc(fresh, early)
	slices.SortStableFunc(fresh, func(a, b lb.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	j.seen = last
	if len(fresh) == 0 {
		return
	}
	j.events = append(j.events, fresh...)
	if excess := len(j.events) - j.size; excess > 0 {
		j.dropped = j.events[excess-1]
		j.events = slices.Delete(j.events, 0, excess)
	}
	close(j.more)
	j.more = make(chan struct{})
}
