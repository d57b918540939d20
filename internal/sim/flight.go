package sim

import (
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

// flight is a request on its way: its attempt, and what it needs for another one.
type flight struct {
	lease  lb.Lease
	tried  lb.Tried
	key    lb.Key
	member *member
	fate   *fate
	// began is when the client sent the request.
	began      time.Duration
	client     int32
	idempotent bool
	replayable bool
}

// flights are the requests on their way, the first to end on top of a heap. Their places are used again,
// so that a long run allocates no more than a short one.
type flights struct {
	all  []flight
	free []int32
	due  []due
	// count numbers what is added: of two that end at the same time the first added is the first to end.
	count uint64
}

type due struct {
	at    time.Duration
	order uint64
	i     int32
}

func (d due) before(e due) bool { return d.at < e.at || d.at == e.at && d.order < e.order }

// next is when the first one ends.
func (f *flights) next() time.Duration {
	if len(f.due) == 0 {
		return never
	}
	return f.due[0].at
}

// place is for a new request. Pointers to other flights are void after it.
func (f *flights) place() int32 {
	if n := len(f.free); n > 0 {
		i := f.free[n-1]
		f.free = f.free[:n-1]
		return i
	}
	f.all = append(f.all, flight{})
	return int32(len(f.all) - 1)
}

// leave gives a place back.
func (f *flights) leave(i int32) {
	f.all[i].tried = lb.Tried{}
	f.free = append(f.free, i)
}

// land makes the attempt of flight i end at a time.
func (f *flights) land(i int32, at time.Duration) {
	f.count++
	d, n := due{at, f.count, i}, len(f.due)
	f.due = append(f.due, d)
	for n > 0 {
		parent := (n - 1) / 2
		if f.due[parent].before(d) {
			break
		}
		f.due[n] = f.due[parent]
		n = parent
	}
	f.due[n] = d
}

// pop takes out the first one that ends.
func (f *flights) pop() int32 {
	first, last := f.due[0].i, len(f.due)-1
	d := f.due[last]
	f.due = f.due[:last]
	n := 0
	for child := 1; child < last; child = 2*n + 1 {
		if child+1 < last && f.due[child+1].before(f.due[child]) {
			child++
		}
		if !f.due[child].before(d) {
			break
		}
		f.due[n] = f.due[child]
		n = child
	}
	if last > 0 {
		f.due[n] = d
	}
	return first
}
