package sim

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// scenarioSchema names the format; a later one gets another number.
const scenarioSchema = "scalws.scenario/1"

// scenarioFields are the keys of the document.
func scenarioFields(s *Scenario) []strict.Field {
	var schema string
	return []strict.Field{
		{Name: "schema", Need: true, Kind: strict.Scalar(&schema, strict.Choice(scenarioSchema))},
		{Name: "seed", Kind: strict.Scalar(&s.seed, seed())},
		{Name: "duration", Need: true, Kind: strict.Scalar(&s.duration, strict.FineDuration(time.Millisecond, maxDuration))},
		{Name: "load", Need: true, Kind: strict.Section(loadFields(&s.load))},
		{Name: "pool", Need: true, Kind: strict.Section(poolFields(s))},
		{Name: "timeouts", Kind: strict.Section([]strict.Field{
			{Name: "connect", Kind: strict.Scalar(&s.timeouts.connect, strict.FineDuration(time.Millisecond, maxTimeout))},
			{Name: "response", Kind: strict.Scalar(&s.timeouts.response, strict.FineDuration(time.Millisecond, maxTimeout))},
		})},
		{Name: "events", Kind: strict.List(&s.script, 0, maxScript, func(e *step) strict.Kind {
			*e = step{behaviour: behaviour{latency: -1, status: lb.Status503, share: 1}}
			return strict.Section(eventFields(e))
		})},
		{Name: "expect", Kind: strict.List(&s.expect, 0, maxExpect, func(e *expectation) strict.Kind {
			*e = expectation{bound: bound{to: never}}
			return strict.Section(expectFields(e))
		})},
	}
}

func loadFields(l *load) []strict.Field {
	return []strict.Field{
		{Name: "rate", Need: true, Kind: strict.Scalar(&l.rate, rate())},
		{Name: "arrival", Kind: strict.Scalar(&l.arrival, strict.Choice(constant, poisson))},
		{Name: "non_idempotent", Kind: strict.Scalar(&l.nonIdempotent, strict.Fraction(0, 1))},
		{Name: "not_replayable", Kind: strict.Scalar(&l.notReplayable, strict.Fraction(0, 1))},
		{Name: "keys", Kind: strict.Scalar(&l.keys, strict.Whole(1, maxKeys))},
	}
}

// seed takes any whole number of 64 bits.
func seed() strict.Form[uint64] {
	f := strict.Whole(0, math.MaxInt)
	return strict.Form[uint64]{Wants: f.Wants, Bound: "64 bits", Takes: f.Takes, Parse: func(text string) (uint64, *strict.Fault) {
		small, fault := f.Parse(text)
		if fault == nil || fault.Code != strict.CodeOutOfRange {
			return uint64(small), fault
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, strict.OutOfRange("0", strconv.FormatUint(math.MaxUint64, 10))
		}
		return n, nil
	}}
}

// rate takes requests a second as thousandths of them: times are exact then.
func rate() strict.Form[int64] {
	f := strict.Fraction(0.001, maxRate)
	return strict.Form[int64]{Wants: f.Wants, Bound: f.Bound, Takes: f.Takes, Parse: func(text string) (int64, *strict.Fault) {
		x, fault := f.Parse(text)
		if _, part, _ := strings.Cut(text, "."); fault == nil && len(strings.TrimRight(part, "0")) > 3 {
			fault = &strict.Fault{Code: strict.CodeOutOfRange, Message: "must not have more than three decimals"}
		}
		return int64(math.Round(x * 1000)), fault
	}}
}

// poolFields are the keys of a pool that matter to the engine, by the names and with the defaults that they
// have in the main configuration.
func poolFields(s *Scenario) []strict.Field {
	p := &s.pool
	return []strict.Field{
		{Name: "balance", Kind: strict.Scalar(&p.Balance, strict.Choice(lb.RoundRobin, lb.LeastConn, lb.Hash))},
		{Name: "hash", Kind: strict.Section([]strict.Field{
			{Name: "by", Need: true, Kind: strict.Scalar(&p.Hash.By, strict.Choice(lb.ByCookie, lb.ByHeader, lb.ByClientIP))},
			{Name: "name", Kind: strict.Scalar(&p.Hash.Name, strict.Text())},
		})},
		{Name: "passive_health", Kind: strict.Section([]strict.Field{
			{Name: "failures", Kind: strict.Scalar(&p.Health.Failures, strict.Whole(0, lb.MaxFailures))},
			{Name: "cooldown", Kind: strict.Scalar(&p.Health.Cooldown, strict.FineDuration(lb.MinCooldown, lb.MaxCooldown))},
			{Name: "probation_requests", Kind: strict.Scalar(&p.Health.ProbationRequests, strict.Whole(0, lb.MaxProbationRequests))},
		})},
		{Name: "retries", Kind: strict.Scalar(&p.Retries, strict.Whole(0, lb.MaxRetries))},
		{Name: "retry_budget", Kind: strict.Pointer(&p.Budget, func(b *lb.RetryBudget) strict.Kind {
			return strict.Section([]strict.Field{
				{Name: "ratio", Need: true, Kind: strict.Scalar(&b.Ratio, strict.Fraction(0, 1))},
				{Name: "min_per_second", Need: true, Kind: strict.Scalar(&b.MinPerSecond, strict.Whole(0, lb.MaxMinPerSecond))},
			})
		})},
		{Name: "members", Need: true, Kind: members(&s.members)},
	}
}

// members reads a list; the engine checks it (checkMembers).
func members(to *[]server) strict.Kind {
	return strict.List(to, 0, lb.MaxMembers, func(m *server) strict.Kind {
		*m = server{Member: lb.Member{Weight: lb.DefaultWeight}, latency: -1}
		return strict.Section([]strict.Field{
			{Name: "address", Need: true, Kind: strict.Scalar(&m.Address, strict.AnyText("an address", "unique in the list"))},
			{Name: "weight", Kind: strict.Scalar(&m.Weight, strict.Whole(lb.MinWeight, lb.MaxWeight))},
			{Name: "latency", Kind: strict.Scalar(&m.latency, strict.FineDuration(0, maxTimeout))},
		})
	})
}
