package proxy

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/limits"
)

// LimitBy is whose requests are counted together.
type LimitBy uint8

// By client address, by a header, and all of them.
const (
	LimitByClientIP LimitBy = iota
	LimitByHeader
	LimitByApplication
)

// Limits bound the requests of a runtime. Several runtimes may share a Rate and a Quota, and the counters.
type Limits struct {
	// Rate is nil for none. What it counts by is By; Header is the name in lower case for LimitByHeader.
	Rate   *limits.Rate
	By     LimitBy
	Header string
	// Quota is nil for none.
	Quota *limits.Quota
	// RateRefused and QuotaRefused count the requests that were answered 429. They are there where the limits are.
	RateRefused, QuotaRefused *atomic.Uint64

	policy              string
	rateText, quotaText *refusalText
}

// The names of the policies in the RateLimit fields.
const (
	ratePolicy  = "rate"
	quotaPolicy = "quota"
)

// NewLimits makes l ready to be asked.
func NewLimits(l Limits) *Limits {
	var policies []string
	if l.Rate != nil {
		s := l.Rate.Settings()
		policies = append(policies, policyText(ratePolicy, int64(s.Requests), s.Per))
	}
	if l.Quota != nil {
		s := l.Quota.Settings()
		policies = append(policies, policyText(quotaPolicy, s.Requests, s.Per))
	}
	l.policy = strings.Join(policies, ", ")
	l.rateText, l.quotaText = new(refusalText), new(refusalText)
	return &l
}

// policyText is an item of RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10 section 3): how many requests,
// and the window in seconds.
func policyText(name string, requests int64, per time.Duration) string {
	return `"` + name + `";q=` + strconv.FormatInt(requests, 10) + ";w=" + strconv.FormatInt(int64(per/time.Second), 10)
}

// refusalText holds what a client is told for the last number of seconds that one was told: most are told the same, and
// a flood of refused requests allocates nothing.
type refusalText struct{ p atomic.Pointer[toldSeconds] }

type toldSeconds struct {
	seconds int64
	// after is Retry-After, limit is RateLimit: both say the same moment, and nothing remains until then
	// (draft-ietf-httpapi-ratelimit-headers-10 section 4).
	after, limit string
}

func (t *refusalText) at(name string, wait time.Duration) *toldSeconds {
	seconds := int64((wait + time.Second - 1) / time.Second) // not before it is of use
	if told := t.p.Load(); told != nil && told.seconds == seconds {
		return told
	}
	after := strconv.FormatInt(seconds, 10)
	told := &toldSeconds{seconds: seconds, after: after, limit: `"` + name + `";r=0;t=` + after}
	t.p.Store(told)
	return told
}

// limited answers 429 where the runtime has had enough requests, and is true then. It comes before anything is read or
// asked for of the request's body. A request that the rate refuses does not count in the quota.
func (x *exchange) limited(l *Limits) bool {
	if l == nil {
		return false
	}
	if l.Rate != nil {
		if v := l.Rate.Take(x.now, x.limitKey(l)); !v.OK {
			l.RateRefused.Add(1)
			x.tooMany(l, l.rateText.at(ratePolicy, v.Wait), "requests come faster than allowed")
			return true
		}
	}
	if l.Quota != nil {
		if v := l.Quota.Take(x.now); !v.OK {
			l.QuotaRefused.Add(1)
			x.tooMany(l, l.quotaText.at(quotaPolicy, v.Wait), "the quota of requests is used up")
			return true
		}
	}
	return false
}

func (x *exchange) tooMany(l *Limits, told *toldSeconds, reason string) {
	x.reject(429, reason, "Retry-After", told.after, "RateLimit", told.limit, "RateLimit-Policy", l.policy)
}

// limitKey is what the rate counts this request by. Requests without the header, as members get it, count together.
func (x *exchange) limitKey(l *Limits) limits.Key {
	switch l.By {
	case LimitByHeader:
		value, _ := x.Field(l.Header)
		return l.Rate.TextKey(value)
	case LimitByApplication:
		return l.Rate.TextKey(nil)
	default:
		return l.Rate.AddrKey(x.client)
	}
}
