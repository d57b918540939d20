package config

import (
	"time"

	"github.com/scalws/scalws/internal/strict"
)

// RateLimit bounds how fast requests may come.
type RateLimit struct {
	// Requests in each Per, in the long run, for each of what By counts.
	Requests int
	Per      time.Duration
	// Burst is how many may come at once.
	Burst int
	By    LimitBy
	// Header is the name of the header for LimitByHeader, empty otherwise.
	Header string
}

// LimitBy is whose requests are counted together.
type LimitBy string

// One client address, one value of a header, or all of the application.
const (
	LimitByClientIP    LimitBy = "client_ip"
	LimitByHeader      LimitBy = "header"
	LimitByApplication LimitBy = "application"
)

// Quota bounds the requests in windows of time, which begin at multiples of Per since 1970 in UTC.
type Quota struct {
	Requests int
	Per      time.Duration
}

// Bounds of limits. The longest rate with the largest burst must fit into 63 bits of nanoseconds: a Per of an hour
// with a million times one request.
const (
	maxRate     = 1_000_000
	maxRateTime = time.Hour
	maxQuota    = 1_000_000_000_000
	maxQuotaAge = 366 * day
)

// rateLimit reads a rate limit. Without a burst it is as many as there may be in the time.
func rateLimit(to **RateLimit) strict.Kind {
	return strict.Pointer(to, func(r *RateLimit) strict.Kind {
		k := strict.Section(rateLimitFields(r)).Also(rateLimitRules()...)
		read := k.Read
		k.Read = func(d *strict.Decoder, v strict.Value) {
			read(d, v)
			if !d.Given(strict.Join(v.Path, "burst")) {
				r.Burst = r.Requests
			}
		}
		return k
	})
}

func rateLimitFields(r *RateLimit) []strict.Field {
	return []strict.Field{
		{Name: "requests", Need: true, Kind: strict.Scalar(&r.Requests, strict.Whole(1, maxRate)),
			Meaning: "Requests in each per, in the long run."},
		{Name: "per", Need: true, Kind: strict.Scalar(&r.Per, seconds(time.Second, maxRateTime)),
			Meaning: "How long that is."},
		{Name: "burst", Otherwise: "requests", Kind: strict.Scalar(&r.Burst, strict.Whole(1, maxRate)),
			Meaning: "How many may come at once."},
		{Name: "by", Def: string(LimitByClientIP), Kind: strict.Scalar(&r.By, strict.Choice(LimitByClientIP, LimitByHeader, LimitByApplication)),
			Meaning: "What is counted on its own: each client (an IPv6 client by its /64), each value of a header, or all requests together."},
		{Name: "header", Otherwise: "required with by: header", Kind: strict.Scalar(&r.Header, strict.Text()),
			Meaning: "Name of the header."},
	}
}

// quota reads a quota.
func quota(to **Quota) strict.Kind {
	return strict.Pointer(to, func(q *Quota) strict.Kind {
		return strict.Section([]strict.Field{
			{Name: "requests", Need: true, Kind: strict.Scalar(&q.Requests, strict.Whole(1, maxQuota)),
				Meaning: "Requests in each window."},
			{Name: "per", Need: true, Kind: strict.Scalar(&q.Per, seconds(time.Second, maxQuotaAge)),
				Meaning: "Length of a window. Windows begin at multiples of it since 1970 in UTC: those of 1d at midnight."},
		})
	})
}

// limitFields are the keys of limits, in an application and in a route. other is what holds without them.
func limitFields(rate **RateLimit, q **Quota, other string) []strict.Field {
	return []strict.Field{
		{Name: "rate_limit", Otherwise: other, Kind: rateLimit(rate),
			Meaning: "Bounds how fast requests may come, above it 429."},
		{Name: "quota", Otherwise: other, Kind: quota(q),
			Meaning: "Bounds the requests of a window of time, above it 429."},
	}
}

// checkRateLimit holds the keys of the rate limit at a path against each other.
func (d checker) checkRateLimit(at string, r *RateLimit) {
	by, header := strict.Join(at, "by"), strict.Join(at, "header")
	switch {
	case r == nil || !d.Sound(at, by, header):
	case r.By == LimitByHeader:
		d.checkHeaderName(at, header, r.Header)
	case d.Given(header):
		d.ignored(header, "without by: header", "add by: header, or remove it")
		r.Header = ""
	}
}
