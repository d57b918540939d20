package sim

import (
	"math"
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

// scenarioSchema names the format; a later one gets another number.
const scenarioSchema = "scalws.scenario/1"

// scenario reads the document. Sections are read before those that refer to them, whatever their order in
// the text.
func (d *decoder) scenario(v value, s *Scenario) {
	var schema string
	var later struct{ events, expect *value }
	keep := func(to **value) func(value) { return func(v value) { *to = &v } }
	d.section(v,
		field{"schema", true, choice(d, &schema, scenarioSchema)},
		field{"seed", false, d.seed(&s.seed)},
		field{"duration", true, d.duration(&s.duration, time.Millisecond, maxDuration)},
		field{"load", true, func(v value) { d.load(v, &s.load) }},
		field{"pool", true, func(v value) { d.pool(v, s) }},
		field{"timeouts", false, func(v value) { d.timeouts(v, &s.timeouts) }},
		field{"events", false, keep(&later.events)},
		field{"expect", false, keep(&later.expect)},
	)
	if s.duration == 0 {
		s.duration = maxDuration // it has a problem already; times need a bound
	}
	if later.events != nil {
		d.events(*later.events, s)
	}
	s.nameMembers()
	for i := range s.script {
		if e := &s.script[i]; e.name != nil {
			d.name(*e.name, s, &e.member)
		}
	}
	if later.expect != nil {
		d.expectations(*later.expect, s)
	}
}

func (d *decoder) load(v value, l *load) {
	d.section(v,
		field{"rate", true, d.rate(&l.rate)},
		field{"arrival", false, choice(d, &l.arrival, constant, poisson)},
		field{"non_idempotent", false, d.number(&l.nonIdempotent, 0, 1)},
		field{"not_replayable", false, d.number(&l.notReplayable, 0, 1)},
		field{"keys", false, d.whole(&l.keys, 1, maxKeys)},
	)
}

// rate reads requests a second into thousandths of them: times are exact then.
func (d *decoder) rate(to *int64) func(value) {
	return func(v value) {
		x := math.NaN()
		d.number(&x, 0.001, maxRate)(v)
		if math.IsNaN(x) {
			return
		}
		if *to = int64(math.Round(x * 1000)); math.Abs(x*1000-float64(*to)) > 1e-6 {
			d.fail(v, "must not have more than three decimals")
		}
	}
}

func (d *decoder) timeouts(v value, t *timeouts) {
	d.section(v,
		field{"connect", false, d.duration(&t.connect, time.Millisecond, maxTimeout)},
		field{"response", false, d.duration(&t.response, time.Millisecond, maxTimeout)},
	)
}

// pool reads the keys of a pool that matter to the engine, by the names and with the defaults that they
// have in the main configuration.
func (d *decoder) pool(v value, s *Scenario) {
	p := &s.pool
	var hash *value
	given := d.section(v,
		field{"balance", false, choice(d, &p.Balance, lb.RoundRobin, lb.LeastConn, lb.Hash)},
		field{"hash", false, func(v value) {
			hash = &v
			d.section(v,
				field{"by", true, choice(d, &p.Hash.By, lb.ByCookie, lb.ByHeader, lb.ByClientIP)},
				field{"name", false, d.text(&p.Hash.Name)},
			)
		}},
		field{"passive_health", false, func(v value) {
			d.section(v,
				field{"failures", false, d.whole(&p.Health.Failures, 0, lb.MaxFailures)},
				field{"cooldown", false, d.duration(&p.Health.Cooldown, lb.MinCooldown, lb.MaxCooldown)},
				field{"probation_requests", false, d.whole(&p.Health.ProbationRequests, 0, lb.MaxProbationRequests)},
			)
		}},
		field{"retries", false, d.whole(&p.Retries, 0, lb.MaxRetries)},
		field{"retry_budget", false, func(v value) {
			p.Budget = &lb.RetryBudget{}
			d.section(v,
				field{"ratio", true, d.number(&p.Budget.Ratio, 0, 1)},
				field{"min_per_second", true, d.whole(&p.Budget.MinPerSecond, 0, lb.MaxMinPerSecond)},
			)
		}},
		field{"members", true, func(v value) { s.members = d.members(v) }},
	)
	switch {
	case p.Balance == lb.Hash && hash == nil:
		d.failKey(at(given, "balance", v), "add hash: {by: cookie}, or by: header or client_ip", "hash needs hash.by")
	case p.Balance != lb.Hash && hash != nil:
		d.failKey(*hash, "add balance: hash, or remove hash", "has no effect without balance: hash")
	case p.Hash.By == lb.ByHeader && p.Hash.Name == "":
		d.add(hash.at(), join(hash.path, "name"), "this key is required", "by: header needs the name of the header")
	}
}

// at is the value of a key, or the section without it.
func at(given map[string]value, name string, section value) value {
	if v, ok := given[name]; ok {
		return v
	}
	return section
}

// members reads a list and has the engine check it, as the configuration does.
func (d *decoder) members(v value) []server {
	before := len(d.problems)
	var servers []server
	var places []map[string]value
	d.list(v, lb.MaxMembers, func(v value) {
		m := server{Member: lb.Member{Weight: lb.DefaultWeight}, latency: -1}
		given := d.section(v,
			field{"address", true, d.text(&m.Address)},
			field{"weight", false, d.whole(&m.Weight, lb.MinWeight, lb.MaxWeight)},
			field{"latency", false, d.duration(&m.latency, 0, maxTimeout)},
		)
		servers, places = append(servers, m), append(places, given)
	})
	if len(d.problems) > before {
		return servers
	}
	canonical, problems := lb.CheckMembers(listOf(servers), false)
	for _, p := range problems {
		place := v
		if p.Index >= 0 {
			place = at(places[p.Index], p.Field, value{path: v.path, node: v.node.Content[p.Index]})
		}
		d.fail(place, "%s", p.Message)
	}
	if len(problems) == 0 {
		for i := range servers {
			servers[i].Member = canonical[i]
		}
	}
	return servers
}
