package sim

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/scalws/scalws/internal/strict"
)

// expectation is one line of expect (docs/simulation.md#expectations).
type expectation struct {
	line   int
	text   string
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

// ofMember is true for what is expected of one member.
func (e expected) ofMember() bool {
	switch e {
	case expectEjectedBy, expectRecoveredBy, expectEjections, expectRequests, expectShare:
		return true
	default:
		return false
	}
}

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

// expectFields are the keys of an expectation: the member, and one of what can be expected.
func expectFields(e *expectation) []strict.Field {
	const many = 1e12
	part := func(to **float64) strict.Kind { return strict.Optional(to, strict.Fraction(0, 1)) }
	bounds := func(high float64, more ...strict.Field) strict.Kind {
		return strict.Section(append([]strict.Field{
			{Name: "at_least", Kind: strict.Optional(&e.atLeast, strict.Fraction(0, high))},
			{Name: "at_most", Kind: strict.Optional(&e.atMost, strict.Fraction(0, high))},
		}, more...))
	}
	window := []strict.Field{
		{Name: "from", Kind: strict.Scalar(&e.from, strict.FineDuration(0, maxDuration))},
		{Name: "to", Kind: strict.Scalar(&e.to, strict.FineDuration(0, maxDuration))},
	}
	by, count, counted := strict.Scalar(&e.by, strict.FineDuration(0, maxDuration)), bounds(many), bounds(many, window...)
	share := strict.Section(append([]strict.Field{
		{Name: "of", Need: true, Kind: part(&e.of)},
		{Name: "within", Need: true, Kind: part(&e.within)},
	}, window...))
	return []strict.Field{
		{Name: "member", Kind: strict.Scalar(&e.member, strict.AnyText("a text", "a member"))},
		{Name: string(expectEjectedBy), Kind: by},
		{Name: string(expectRecoveredBy), Kind: by},
		{Name: string(expectEjections), Kind: count},
		{Name: string(expectRequests), Kind: counted},
		{Name: string(expectShare), Kind: share},
		{Name: string(expectClientErrors), Kind: counted},
		{Name: string(expectClientErrorShare), Kind: bounds(1)},
		{Name: string(expectRetries), Kind: count},
		{Name: string(expectAmplification), Kind: count},
		{Name: string(expectBudgetRefusals), Kind: count},
	}
}

func (c *checker) checkExpectation(at string, e *expectation) {
	v := c.Place(at)
	e.line, e.text = v.Node.Line, flow(v.Node)
	var kinds []expected
	sound := c.Sound(at)
	for _, f := range expectFields(e) {
		path := strict.Join(at, f.Name)
		sound = sound && c.Sound(path)
		if f.Name != "member" && c.Given(path) {
			kinds = append(kinds, expected(f.Name))
		}
	}
	if !sound {
		return
	}
	invalid := func(v strict.Value, message, hint string) {
		c.FailKey(v, &strict.Fault{Code: codeInvalidExpectation, Message: message, Hint: hint})
	}
	if len(kinds) != 1 {
		invalid(v, fmt.Sprintf("must have one expectation, found %d", len(kinds)), "write each on a line of its own")
		return
	}
	e.kind = kinds[0]
	member, value := strict.Join(at, "member"), strict.Join(at, string(e.kind))
	switch named := c.Given(member); {
	case e.kind.ofMember() && !named:
		c.Missing(v, "member", string(e.kind)+" is about a member")
	case !e.kind.ofMember() && named:
		c.misplaced(member, string(e.kind)+" is about all members", "remove it")
	default:
		c.resolve(member, &e.member)
	}

	least, most, from, to := strict.Join(value, "at_least"), strict.Join(value, "at_most"), strict.Join(value, "from"), strict.Join(value, "to")
	switch {
	case e.kind == expectEjectedBy || e.kind == expectRecoveredBy || !c.Sound(least, most, from, to):
	case e.kind != expectShare && e.atLeast == nil && e.atMost == nil:
		invalid(c.Place(value), "needs at_least or at_most", "")
	case e.atLeast != nil && e.atMost != nil && *e.atLeast > *e.atMost:
		invalid(c.Place(value), "at_least is more than at_most", "")
	case e.from >= e.to:
		invalid(c.Place(to), "must be after from", "")
	}
}

// flow is a node on one line, as it would be written between braces.
func flow(n *yaml.Node) string {
	text, err := yaml.Marshal(inFlow(n))
	if err != nil {
		return strict.Shorten(n.Value)
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
