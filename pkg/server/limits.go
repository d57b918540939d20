package server

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/server/internal/limits"
	"github.com/scalws/scalws/pkg/server/internal/metrics"
	"github.com/scalws/scalws/pkg/server/internal/proxy"
)

// limitSet are the limits of a configuration, by where they are defined. One whose definition is the same as before is
// taken over with what it has counted (docs/load-balancing.md#what-survives-what).
type limitSet struct {
	rates  map[runtimeKey]rateLimit
	quotas map[runtimeKey]*limits.Quota
	// refused count the requests that were refused, by application and kind, whatever becomes of the definition.
	refused map[refusedKey]*atomic.Uint64
}

// rateLimit is a rate with what it was made from.
type rateLimit struct {
	config.RateLimit
	*limits.Rate
}

type refusedKey struct{ tenant, application, kind string }

// The kinds of limits, as labels.
const (
	kindRate  = "rate_limit"
	kindQuota = "quota"
)

func noLimits() *limitSet {
	return &limitSet{rates: map[runtimeKey]rateLimit{}, quotas: map[runtimeKey]*limits.Quota{}, refused: map[refusedKey]*atomic.Uint64{}}
}

// buildLimits makes the limits that are new or changed, and takes over the others.
func (b *builder) buildLimits() error {
	for _, t := range b.next.config.Tenants {
		for _, a := range t.Applications {
			b.addLimits(runtimeKey{t.Name, a.Name, ""}, a.RateLimit, a.Quota)
			for _, r := range a.Routes {
				b.addLimits(runtimeKey{t.Name, a.Name, r.Key()}, r.RateLimit, r.Quota)
			}
		}
	}
	return nil
}

func (b *builder) addLimits(at runtimeKey, rate *config.RateLimit, quota *config.Quota) {
	before, next := b.before.limits, b.next.limits
	if rate != nil {
		l := before.rates[at]
		if l.Rate == nil || l.RateLimit != *rate {
			settings := limits.RateSettings{Requests: rate.Requests, Per: rate.Per, Burst: rate.Burst}
			l = rateLimit{*rate, limits.NewRate(settings, b.next.loaded)}
		}
		next.rates[at] = l
		next.count(at, kindRate, before)
	}
	if quota != nil {
		settings := limits.QuotaSettings{Requests: int64(quota.Requests), Per: quota.Per}
		q := before.quotas[at]
		if q == nil || q.Settings() != settings {
			q = limits.NewQuota(settings)
		}
		next.quotas[at] = q
		next.count(at, kindQuota, before)
	}
}

// count makes the counter of a kind, or takes over that of the set before.
func (s *limitSet) count(at runtimeKey, kind string, before *limitSet) {
	k := refusedKey{at.tenant, at.application, kind}
	if s.refused[k] == nil {
		if s.refused[k] = before.refused[k]; s.refused[k] == nil {
			s.refused[k] = new(atomic.Uint64)
		}
	}
}

// of are the limits that hold at a place: its own, or the application's in their place. Nil if there are none.
func (s *limitSet) of(at runtimeKey) *proxy.Limits {
	application := runtimeKey{at.tenant, at.application, ""}
	rate, ok := s.rates[at]
	if !ok {
		rate = s.rates[application]
	}
	quota := s.quotas[at]
	if quota == nil {
		quota = s.quotas[application]
	}
	if rate.Rate == nil && quota == nil {
		return nil
	}
	return proxy.NewLimits(proxy.Limits{
		Rate: rate.Rate, By: limitBy(rate.By), Header: strings.ToLower(rate.Header), Quota: quota,
		RateRefused:  s.refused[refusedKey{at.tenant, at.application, kindRate}],
		QuotaRefused: s.refused[refusedKey{at.tenant, at.application, kindQuota}],
	})
}

func limitBy(by config.LimitBy) proxy.LimitBy {
	switch by {
	case config.LimitByHeader:
		return proxy.LimitByHeader
	case config.LimitByApplication:
		return proxy.LimitByApplication
	default:
		return proxy.LimitByClientIP
	}
}

// forget gives back memory that rates do not need any more.
func (s *limitSet) forget(now time.Time) {
	for _, l := range s.rates {
		l.Forget(now)
	}
}

// metrics are the counters for a scrape.
func (s *limitSet) metrics() []metrics.Limit {
	var all []metrics.Limit
	for k, n := range s.refused {
		all = append(all, metrics.Limit{Tenant: k.tenant, Application: k.application, Kind: k.kind, Refused: n.Load()})
	}
	return all
}

// status are the limits as they are now, in the order of their places.
func (s *limitSet) status(now time.Time) (rates []api.RateLimit, quotas []api.Quota) {
	for k, l := range s.rates {
		state := l.State()
		r := api.RateLimit{Tenant: k.tenant, Application: k.application, Path: k.route, Requests: l.Requests, Per: strict.FormatDuration(l.Per),
			Burst: l.Burst, By: string(l.By), Header: l.Header, Keys: state.Keys, Refused: state.Refused}
		rates = append(rates, r)
	}
	for k, q := range s.quotas {
		state := q.State(now)
		quotas = append(quotas, api.Quota{Tenant: k.tenant, Application: k.application, Path: k.route,
			Used: uint64(state.Used), Limit: uint64(state.Limit), Reset: state.Reset, Refused: state.Refused})
	}
	slices.SortFunc(rates, func(a, b api.RateLimit) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Application, b.Application), cmp.Compare(a.Path, b.Path))
	})
	slices.SortFunc(quotas, func(a, b api.Quota) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Application, b.Application), cmp.Compare(a.Path, b.Path))
	})
	return rates, quotas
}
