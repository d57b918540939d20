package lb

import "time"

// budget holds a pool's retries down (RetryBudget). A retry is allowed
//
//   - while this second has had fewer than MinPerSecond of them, or
//   - while the retries of the last ten seconds, this one included, are at most Ratio of the requests
//     that began in them.
//
// Seconds are counted from the pool's start and the window moves by whole seconds, so that counting
// costs a few additions and no memory. Guarded by the pool's lock.
type budget struct {
	ratio        float64
	minPerSecond int
	// slots of the last seconds; second is the number of the newest.
	slots  [budgetSeconds]struct{ requests, retries int }
	second int64
}

const budgetSeconds = 10

func newBudget(b *RetryBudget) *budget {
	if b == nil {
		return nil
	}
	return &budget{ratio: b.Ratio, minPerSecond: b.MinPerSecond}
}

// turn empties the slots of the seconds that began since the last call. A time before that belongs to
// the newest slot.
func (b *budget) turn(at int64) {
	second := at / int64(time.Second)
	if second-b.second >= budgetSeconds {
		b.second = second - budgetSeconds
	}
	for b.second < second {
		b.second++
		b.slots[b.second%budgetSeconds].requests = 0
		b.slots[b.second%budgetSeconds].retries = 0
	}
}

// request counts the first attempt of a request.
func (b *budget) request(at int64) {
	b.turn(at)
	b.slots[b.second%budgetSeconds].requests++
}

// allows reports whether a retry is allowed now.
func (b *budget) allows(at int64) bool {
	b.turn(at)
	requests, retries := 0, 0
	for _, s := range b.slots {
		requests += s.requests
		retries += s.retries
	}
	now := b.slots[b.second%budgetSeconds].retries
	return now < b.minPerSecond || float64(retries+1) <= b.ratio*float64(requests)
}

// retry counts a retry that is made.
func (b *budget) retry(at int64) {
	b.turn(at)
	b.slots[b.second%budgetSeconds].retries++
}
