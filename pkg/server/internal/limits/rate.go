package limits

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"
)

// RateSettings say what a Rate allows.
type RateSettings struct {
	// Requests in each Per are let through in the long run, for each key; both above 0.
	Requests int
	Per      time.Duration
	// Burst is how many may come at once, 1 or more.
	Burst int
}

// interval is the time that one request costs. It is rounded up: what is let through is never more than was said.
func (s RateSettings) interval() int64 {
	n := int64(s.Requests)
	return (int64(s.Per) + n - 1) / n
}

// Rate bounds the requests of each key by the generic cell rate algorithm (ITU-T I.371 annex A), which is a token bucket
// that keeps one number a key: the time at which all that the key has taken is earned again.
type Rate struct {
	settings RateSettings
	// began is when times are counted from, by the monotonic clock.
	began    time.Time
	interval int64 // that one request costs, in nanoseconds
	ahead    int64 // how far the number of a key may lie ahead of now
	seed     maphash.Seed
	shards   [shards]shard
	refused  atomic.Uint64
}

// NewRate makes a limit that no key has used yet.
func NewRate(s RateSettings, now time.Time) *Rate {
	r := &Rate{settings: s, began: now, interval: s.interval(), seed: maphash.MakeSeed()}
	r.ahead = r.interval * int64(s.Burst)
	return r
}

// Settings are those that it was made with.
func (r *Rate) Settings() RateSettings { return r.settings }

// Key is what a Rate counts by. Keys of one Rate mean nothing to another. They are digests under a random seed, so that
// nobody can make two that are the same; of a million keys two are the same by chance once in 30 million tries, and
// share what is allowed then.
type Key uint64

// TextKey is the key of a text; an empty one is a key like any other.
func (r *Rate) TextKey(text []byte) Key { return Key(maphash.Bytes(r.seed, text)) }

// AddrKey is the key of a client: its IPv4 address, or the network of 64 bits that its IPv6 address is in, because that
// is what one subscriber has all of (RFC 6177 section 2). Clients without an address have one key together.
func (r *Rate) AddrKey(a netip.Addr) Key {
	a = a.Unmap()
	switch {
	case !a.IsValid():
		return r.TextKey(nil)
	case a.Is4():
		b := a.As4()
		return r.TextKey(b[:])
	default:
		b := a.As16()
		return r.TextKey(b[:8])
	}
}

// Take decides about one request of a key.
func (r *Rate) Take(now time.Time, k Key) Verdict {
	at := max(int64(now.Sub(r.began)), 0) // the request may have come just before
	wait := r.shards[k%shards].take(uint64(k)/shards, at, r.interval, r.ahead)
	if wait > 0 {
		r.refused.Add(1)
		return Verdict{Wait: time.Duration(wait)}
	}
	return Verdict{OK: true}
}

// RateState is what a Rate shows of itself.
type RateState struct {
	// Keys are those that it remembers, at most MaxKeys.
	Keys int
	// Refused requests since it was made.
	Refused uint64
}

// State counts.
func (r *Rate) State() RateState {
	s := RateState{Refused: r.refused.Load()}
	for i := range r.shards {
		s.Keys += r.shards[i].held()
	}
	return s
}

// Forget gives back the memory that was taken for keys which have earned again what they took, where those are most of
// them. It is for now and then.
func (r *Rate) Forget(now time.Time) {
	at := int64(now.Sub(r.began))
	for i := range r.shards {
		r.shards[i].forget(at)
	}
}
