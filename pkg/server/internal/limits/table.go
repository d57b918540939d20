package limits

import "sync"

// The bounds of what a Rate remembers. A key takes 16 bytes, so that all of them take 16 MiB.
const (
	// MaxKeys is how many keys a Rate remembers.
	MaxKeys = shards * maxSets * ways

	shards  = 16 // so that few requests wait for each other
	maxSets = 1 << 13
	ways    = 8
	// smallSets are kept when memory is given back: a few keys that come and go cost no allocation.
	smallSets = 8
	// sparse is the part of a table that is in use when it is made smaller: one of so many slots.
	sparse = 16
)

// shard remembers a part of the keys. It is a table of sets, and a key can be in one set only, so that looking for it
// and finding the one to forget are both a walk over a few neighbours. There is no pointer in it for the garbage
// collector to follow.
type shard struct {
	mu     sync.Mutex
	sets   []set // their number is a power of 2
	latest int64 // no key has earned all again before the others have, at this time
	_      [64]byte
}

type set [ways]slot

// slot is a key and the time at which it has earned again all that it took. From then on it is as if the key had never
// come, and the slot is free. The zero value is free.
type slot struct {
	key   uint64
	until int64
}

// take counts a request of a key that costs interval, unless the key would be more than ahead in advance; then it says
// how long to wait.
func (s *shard) take(key uint64, now, interval, ahead int64) (wait int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.slot(key, now)
	until := max(slot.until, now) + interval
	if until-now > ahead {
		return until - now - ahead
	}
	slot.key, slot.until = key, until
	s.latest = max(s.latest, until)
	return 0
}

// slot is where a key is, or can be. While the table may grow nothing is forgotten for another key. At its bound it is
// the key of the set that has least to earn: who sends most is remembered longest.
func (s *shard) slot(key uint64, now int64) *slot {
	if s.sets == nil {
		s.sets = make([]set, 1)
	}
	for {
		best := s.find(key, now)
		if best.key == key || best.until <= now || len(s.sets) == maxSets {
			if best.key != key {
				best.until = 0
			}
			return best
		}
		s.grow(now)
	}
}

// find is the slot of a key, or else the one of its set that has least to earn.
func (s *shard) find(key uint64, now int64) *slot {
	set := &s.sets[key&uint64(len(s.sets)-1)]
	best := &set[0]
	for i := range set {
		if set[i].key == key {
			return &set[i]
		}
		if set[i].until < best.until {
			best = &set[i]
		}
	}
	return best
}

// grow doubles the table and leaves behind what has earned all again. The keys of a set go to two sets, so that there is
// room for each.
func (s *shard) grow(now int64) {
	before := s.sets
	s.sets = make([]set, 2*len(before))
	for i := range before {
		for _, old := range before[i] {
			if old.until > now {
				*s.find(old.key, now) = old
			}
		}
	}
}

// forget makes a table smaller of which little is needed any more: a flood is over, and a few keys go on.
func (s *shard) forget(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.sets
	switch {
	case len(before) <= smallSets && s.latest <= now:
		clear(before)
		return
	case len(before) <= smallSets, s.needs(len(before)*ways/sparse, now):
		return
	}
	s.sets = nil
	for i := range before {
		for _, old := range before[i] {
			if old.until > now {
				*s.slot(old.key, now) = old
			}
		}
	}
}

// needs is true if more than some slots are in use.
func (s *shard) needs(some int, now int64) bool {
	if s.latest <= now {
		return false
	}
	for i := range s.sets {
		for _, slot := range s.sets[i] {
			if slot.until > now {
				some--
			}
		}
		if some < 0 {
			return true
		}
	}
	return false
}

// held is how many keys have come and were not forgotten.
func (s *shard) held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for i := range s.sets {
		for _, slot := range s.sets[i] {
			if slot.until != 0 {
				n++
			}
		}
	}
	return n
}
