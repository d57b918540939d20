package sim

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

// arrival is how requests follow each other.
type arrival string

const (
	// constant: at equal intervals, the first at zero.
	constant arrival = "constant"
	// poisson: independently of each other, as from many clients that know nothing of each other.
	poisson arrival = "poisson"
)

// load is what clients send.
type load struct {
	// rate in thousandths of a request a second.
	rate    int64
	arrival arrival
	// nonIdempotent is the share of POST and PATCH, notReplayable of requests with a body that is not kept.
	nonIdempotent, notReplayable float64
	// keys is how many clients there are, each with a key or a cookie of its own.
	keys int
}

// never is later than everything.
const never = time.Duration(math.MaxInt64)

// The sources of chance are independent: another pool, or another failure, meets the same requests at
// the same times.
const (
	chanceOfArrival = 1 + iota
	chanceOfRequest
	chanceOfMember
)

func chance(seed, of uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, of)) }

// arrivals is the clock of the load.
type arrivals struct {
	kind   arrival
	chance *rand.Rand
	end    time.Duration
	rate   int64
	// next is when the next request arrives; never behind the end.
	next time.Duration
	// rest is what the exact time has besides, in parts of a nanosecond of which rate make one.
	rest int64
}

// gapOf is nanoseconds between requests at a rate of one: there are that many thousandths of a nanosecond.
const gapOf = int64(time.Second) * 1000

func newArrivals(s *Scenario) *arrivals {
	a := &arrivals{kind: s.load.arrival, chance: chance(s.seed, chanceOfArrival), end: s.duration, rate: s.load.rate}
	if a.kind == poisson {
		a.advance()
	}
	return a
}

// advance moves on to the next request. Equal intervals are exact: what a nanosecond cannot hold is
// carried on.
func (a *arrivals) advance() {
	if a.kind == poisson {
		a.next += time.Duration(a.chance.ExpFloat64() * float64(gapOf) / float64(a.rate))
	} else {
		a.next += time.Duration(gapOf / a.rate)
		if a.rest += gapOf % a.rate; a.rest >= a.rate {
			a.rest -= a.rate
			a.next++
		}
	}
	if a.next >= a.end {
		a.next = never
	}
}

// change sets another rate. With equal intervals the next request comes when it was due, or after the new
// interval if that is sooner.
func (a *arrivals) change(now time.Duration, rate int64) {
	due := a.next
	a.rate, a.rest, a.next = rate, 0, now
	a.advance()
	if a.kind == constant {
		a.next = min(a.next, due)
	}
}

// clients makes requests.
type clients struct {
	load
	chance *rand.Rand
	// keyed are the keys of a pool that hashes a header or addresses, cookies the affinity cookies of one
	// that hashes those, by client.
	keyed   []lb.Key
	cookies [][]byte
}

func newClients(s *Scenario) *clients {
	c := &clients{load: s.load, chance: chance(s.seed, chanceOfRequest)}
	if s.pool.Balance != lb.Hash {
		return c
	}
	switch s.pool.Hash.By {
	case lb.ByCookie:
		c.cookies = make([][]byte, c.keys)
	case lb.ByHeader:
		for i := range c.keys {
			c.keyed = append(c.keyed, lb.TextKey([]byte("client-"+strconv.Itoa(i))))
		}
	case lb.ByClientIP:
		for i := range c.keys {
			var b [4]byte
			binary.BigEndian.PutUint32(b[:], 10<<24+uint32(i)) // 10.0.0.0 and on
			c.keyed = append(c.keyed, lb.AddrKey(netip.AddrFrom4(b)))
		}
	}
	return c
}

// draw fills in what a new request is. What the scenario leaves no choice about costs no chance.
func (c *clients) draw(f *flight) {
	f.idempotent = c.nonIdempotent == 0 || c.chance.Float64() >= c.nonIdempotent
	f.replayable = c.notReplayable == 0 || c.chance.Float64() >= c.notReplayable
	if c.keyed != nil || c.cookies != nil {
		f.client = int32(c.chance.IntN(c.keys))
	}
}

// key is what the client of a request brings.
func (c *clients) key(p *lb.Pool, now time.Time, client int32) lb.Key {
	switch {
	case c.keyed != nil:
		return c.keyed[client]
	case c.cookies != nil && c.cookies[client] != nil:
		key, _ := p.TokenKey(now, c.cookies[client])
		return key
	default:
		return lb.Key{}
	}
}

// answer leaves the affinity cookie of the member that answered with the client. The one that it sent is
// either the same or no longer right.
func (c *clients) answer(f *flight) {
	if c.cookies == nil {
		return
	}
	if f.member.token == nil {
		f.member.token = []byte(f.lease.Token())
	}
	c.cookies[f.client] = f.member.token
}
