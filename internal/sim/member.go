package sim

import (
	"math/rand/v2"
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

// doing is what a member does with requests (docs/simulation.md#events).
type doing string

const (
	// refuse: the process is gone and the kernel refuses the connection.
	refuse doing = "refuse"
	// discard: nobody answers the attempt to connect, as when the machine is gone.
	discard doing = "discard"
	// hang: the connection is made, the request written, and no answer comes.
	hang doing = "hang"
	// reset: the connection breaks after the request was written.
	reset doing = "reset"
	// fail: answers 502, 503 or 504.
	fail doing = "fail"
	// slow: answers, after another latency.
	slow doing = "slow"
	// recovers: as at the start.
	recovers doing = "recover"
)

// behaviour is what a member does from some moment on.
type behaviour struct {
	does doing
	// latency until it has done it; negative: the one that goes without saying.
	latency time.Duration
	status  lb.Cause
	// share of the requests that it does it to; the others are answered as ever.
	share float64
}

// fate is what becomes of an attempt, decided when it is sent.
type fate struct {
	after    time.Duration
	outcome  lb.Outcome
	progress lb.Progress
}

// answered is an answer after the latency, or the timeout that comes first.
func answered(latency time.Duration, o lb.Outcome, t timeouts) fate {
	if latency > t.response {
		return fate{t.response, lb.Failure(lb.ResponseTimeout), lb.Sent}
	}
	return fate{latency, o, lb.HeadReceived}
}

// fate of an attempt that meets the behaviour of a member whose own latency is given.
func (b behaviour) fate(own time.Duration, t timeouts) fate {
	latency := b.latency
	if latency < 0 {
		latency = own
		if b.does == refuse {
			latency = defaultRefusal
		}
	}
	switch b.does {
	case refuse:
		if latency > t.connect {
			return fate{t.connect, lb.Failure(lb.ConnectTimeout), lb.NothingSent}
		}
		return fate{latency, lb.Failure(lb.ConnectRefused), lb.NothingSent}
	case discard:
		return fate{t.connect, lb.Failure(lb.ConnectTimeout), lb.NothingSent}
	case hang:
		return fate{t.response, lb.Failure(lb.ResponseTimeout), lb.Sent}
	case reset:
		if latency > t.response {
			return fate{t.response, lb.Failure(lb.ResponseTimeout), lb.Sent}
		}
		return fate{latency, lb.Failure(lb.Reset), lb.Sent}
	case fail:
		return answered(latency, lb.Failure(b.status), t)
	default:
		return answered(latency, lb.Success(), t)
	}
}

// longest is how long an attempt may take because of the behaviour.
func (b behaviour) longest(t timeouts) time.Duration {
	if b.does == "" {
		return 0
	}
	return b.fate(0, t).after
}

// member is a server behind an address: what it does, and what was counted of it. It stays when the
// address leaves the pool, and is the same one when the address comes back.
type member struct {
	address string
	latency time.Duration
	does    behaviour
	// good and bad are the fates there are now, share how many are bad.
	good, bad *fate
	share     float64

	requests uint64
	failures [lb.Status504 + 1]uint64
	buckets  [buckets]uint64
	meters   []*meter
	history
	// token is the value of the affinity cookie that leads to it.
	token []byte
}

// obey makes a behaviour the member's own.
func (m *member) obey(b behaviour, t timeouts) {
	m.does = b
	good, bad := behaviour{latency: -1}.fate(m.latency, t), b.fate(m.latency, t)
	m.good, m.bad, m.share = &good, &bad, b.share
}

// meet decides the fate of an attempt.
func (m *member) meet(chance *rand.Rand) *fate {
	if m.share >= 1 || m.share > 0 && chance.Float64() < m.share {
		return m.bad
	}
	return m.good
}
