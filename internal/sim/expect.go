package sim

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// expectation is one line of expect (docs/simulation.md#expectations).
type expectation struct {
	line   int
	text   string
	name   *value
	member string
	kind   expected
	by     time.Duration
	bound
}

// expected is what an expectation is about.
type expected string

const (
	expectEjectedBy        expected = "ejected_by"
	expectRecoveredBy      expected = "recovered_by"
	expectEjections        expected = "ejections"
	expectRequests         expected = "requests"
	expectShare            expected = "share"
	expectClientErrors     expected = "client_errors"
	expectClientErrorShare expected = "client_error_share"
	expectRetries          expected = "retries"
	expectAmplification    expected = "amplification"
	expectBudgetRefusals   expected = "budget_refusals"
)

// bound is what a number is held against, and the part of the run in which it is counted.
type bound struct {
	atLeast, atMost *float64
	// of and within are for shares.
	of, within *float64
	from, to   time.Duration
}

// holds reports whether the number is within the bound.
func (b bound) holds(x float64) bool {
	switch {
	case b.of != nil:
		return x >= *b.of-*b.within && x <= *b.of+*b.within
	case b.atLeast != nil && x < *b.atLeast:
		return false
	default:
		return b.atMost == nil || x <= *b.atMost
	}
}

func (d *decoder) expectations(v value, s *Scenario) {
	d.list(v, maxExpect, func(v value) {
		e := expectation{line: v.node.Line, text: flow(v.node), bound: bound{to: never}}
		var kinds []expected
		is := func(kind expected, read func(value)) field {
			return field{string(kind), false, func(v value) {
				kinds = append(kinds, kind)
				read(v)
			}}
		}
		by := d.duration(&e.by, 0, maxDuration)
		const many = 1e12
		count := func(v value) { d.bound(v, &e.bound, many, false) }
		window := func(v value) { d.bound(v, &e.bound, many, true) }
		part := func(v value) { d.bound(v, &e.bound, 1, false) }
		given := d.section(v,
			field{"member", false, func(v value) { e.name = &v }},
			is(expectEjectedBy, by), is(expectRecoveredBy, by), is(expectEjections, count), is(expectRequests, window),
			is(expectShare, func(v value) { d.shareBound(v, &e.bound) }),
			is(expectClientErrors, window), is(expectClientErrorShare, part),
			is(expectRetries, count), is(expectAmplification, count), is(expectBudgetRefusals, count),
		)
		switch {
		case given == nil:
			return
		case len(kinds) != 1:
			d.failKey(v, "write each on a line of its own", "must have one expectation, found %d", len(kinds))
			return
		}
		e.kind = kinds[0]
		ofMember := e.kind == expectEjectedBy || e.kind == expectRecoveredBy || e.kind == expectEjections || e.kind == expectRequests || e.kind == expectShare
		switch {
		case ofMember && e.name == nil:
			d.add(v.at(), join(v.path, "member"), "this key is required", string(e.kind)+" is about a member")
		case !ofMember && e.name != nil:
			d.failKey(*e.name, "remove it", "%s is about all members", e.kind)
		case ofMember:
			d.name(*e.name, s, &e.member)
		}
		s.expect = append(s.expect, e)
	})
}

// bound reads {at_least, at_most}, with from and to where the count can be one of a part of the run.
func (d *decoder) bound(v value, b *bound, high float64, window bool) {
	fields := []field{
		{"at_least", false, d.bounded(&b.atLeast, high)},
		{"at_most", false, d.bounded(&b.atMost, high)},
	}
	if window {
		fields = append(fields, d.window(b)...)
	}
	before := len(d.problems)
	given := d.section(v, fields...)
	if len(d.problems) > before {
		return
	}
	if b.atLeast == nil && b.atMost == nil {
		d.failKey(v, "", "needs at_least or at_most")
	}
	if b.atLeast != nil && b.atMost != nil && *b.atLeast > *b.atMost {
		d.failKey(v, "", "at_least is more than at_most")
	}
	d.checkWindow(v, given, b)
}

// shareBound reads {of, within}, and from and to.
func (d *decoder) shareBound(v value, b *bound) {
	fields := append([]field{
		{"of", true, d.bounded(&b.of, 1)},
		{"within", true, d.bounded(&b.within, 1)},
	}, d.window(b)...)
	d.checkWindow(v, d.section(v, fields...), b)
}

func (d *decoder) window(b *bound) []field {
	return []field{
		{"from", false, d.duration(&b.from, 0, maxDuration)},
		{"to", false, d.duration(&b.to, 0, maxDuration)},
	}
}

func (d *decoder) checkWindow(v value, given map[string]value, b *bound) {
	if b.from >= b.to {
		d.failKey(at(given, "to", v), "", "must be after from")
	}
}

// flow is a node on one line, as it would be written between braces.
func flow(n *yaml.Node) string {
	text, err := yaml.Marshal(inFlow(n))
	if err != nil {
		return shorten(n.Value)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

func inFlow(n *yaml.Node) *yaml.Node {
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style | yaml.FlowStyle}
	for _, inner := range n.Content {
		c.Content = append(c.Content, inFlow(inner))
	}
	return c
}

// install puts meters where the expectations need a count of their own: [0] of the thing, [1] of all.
func (r *run) install() {
	r.meters = make([][2]meter, len(r.expect))
	for i, e := range r.expect {
		pair := &r.meters[i]
		for k := range pair {
			pair[k] = meter{from: e.from, to: e.to}
		}
		switch e.kind {
		case expectRequests, expectShare:
			m := r.members[e.member]
			m.meters = append(m.meters, &pair[0])
			if e.kind == expectShare {
				r.attemptMeters = append(r.attemptMeters, &pair[1])
			}
		case expectClientErrors:
			r.errorMeters = append(r.errorMeters, &pair[0])
		}
	}
}

// judge holds the expectations against what happened.
func (r *run) judge(out *Report) Expect {
	all := Expect{Checked: len(r.expect), Failed: []Failure{}}
	for i, e := range r.expect {
		if found, ok := r.check(e, r.meters[i], out); !ok {
			all.Failed = append(all.Failed, Failure{Line: e.line, Expect: e.text, Found: found})
		}
	}
	return all
}

// check says what was found, and whether it is as expected.
func (r *run) check(e expectation, meters [2]meter, out *Report) (string, bool) {
	m := r.members[e.member]
	count := func(n uint64, one, many string) (string, bool) {
		word := many
		if n == 1 {
			word = one
		}
		return grouped(n) + " " + word, e.holds(float64(n))
	}
	part := func(x float64) (string, bool) { return fmt.Sprintf("%.6f", x), e.holds(x) }
	switch e.kind {
	case expectEjectedBy:
		if m.ejections == 0 {
			return "it was never ejected", false
		}
		return "ejected at " + formatDuration(m.firstEjected), m.firstEjected <= e.by
	case expectRecoveredBy:
		if m.recoveries == 0 {
			return "it never recovered from an ejection", false
		}
		return "recovered at " + formatDuration(m.firstRecovered), m.firstRecovered <= e.by
	case expectEjections:
		return count(uint64(m.ejections), "ejection", "ejections")
	case expectRequests:
		return count(meters[0].n, "request", "requests")
	case expectShare:
		return part(ratio(meters[0].n, meters[1].n))
	case expectClientErrors:
		return count(meters[0].n, "error", "errors")
	case expectClientErrorShare:
		return part(out.Clients.ErrorShare)
	case expectRetries:
		return count(r.retries, "retry", "retries")
	case expectAmplification:
		return part(out.Amplification)
	default:
		return count(r.budgetRefusals, "refusal", "refusals")
	}
}
