package sim

import (
	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// eventFields are the keys of an entry of the script. Each entry is one of: what a member does from now
// on, another list, another rate.
func eventFields(e *step) []strict.Field {
	b := &e.behaviour
	return []strict.Field{
		{Name: "at", Need: true, Kind: strict.Scalar(&e.at, strict.FineDuration(0, maxDuration))},
		{Name: "member", Kind: strict.Scalar(&e.member, strict.AnyText("a text", "a member"))},
		{Name: "does", Kind: strict.Scalar(&b.does, strict.Choice(refuse, discard, hang, reset, fail, slow, recovers))},
		{Name: "latency", Kind: strict.Scalar(&b.latency, strict.FineDuration(0, maxTimeout))},
		{Name: "status", Kind: strict.Scalar(&b.status, status())},
		{Name: "share", Kind: strict.Scalar(&b.share, strict.Fraction(0, 1))},
		{Name: "members", Kind: members(&e.members)},
		{Name: "rate", Kind: strict.Scalar(&e.rate, rate())},
	}
}

// status takes an answer that counts as a failure.
func status() strict.Form[lb.Cause] {
	f := strict.Whole(502, 504)
	return strict.Form[lb.Cause]{Wants: f.Wants, Bound: f.Bound, Takes: f.Takes, Parse: func(text string) (lb.Cause, *strict.Fault) {
		n, fault := f.Parse(text)
		return lb.Status502 + lb.Cause(n-502), fault
	}}
}

func (c *checker) checkEvent(at string, e *step) {
	path := func(key string) string { return strict.Join(at, key) }
	has := func(key string) bool { return c.Given(path(key)) }
	invalid := func(message, hint string) {
		c.FailKey(c.Place(at), &strict.Fault{Code: codeInvalidEvent, Message: message, Hint: hint})
	}
	if e.replace = has("members"); e.replace {
		c.checkMembers(path("members"), e.members)
	}
	if e.at >= c.duration && c.Sound("duration", path("at")) {
		c.FailValue(c.Place(path("at")), &strict.Fault{Code: strict.CodeOutOfRange,
			Message: "must be before the end, at " + formatDuration(c.duration)})
	}
	if !c.Sound(at, path("does"), path("member"), path("members"), path("rate")) {
		c.unsure = c.unsure || !c.Sound(at, path("members"))
		return
	}
	kinds := 0
	for _, key := range []string{"does", "members", "rate"} {
		if has(key) {
			kinds++
		}
	}
	does := e.behaviour.does
	switch {
	case kinds != 1:
		invalid("must have one of does, members and rate", "write {at, member, does}, {at, members} or {at, rate}")
		return
	case has("does") != has("member"):
		invalid("must have member and does together", "")
		return
	case does == slow && !has("latency") && c.Sound(path("latency")):
		c.Missing(c.Place(at), "latency", "say how slow")
	}
	for _, key := range []struct {
		name string
		ok   bool
	}{
		{"latency", does == slow || does == refuse || does == reset || does == fail},
		{"status", does == fail},
		{"share", does != "" && does != recovers},
	} {
		if has(key.name) && !key.ok {
			c.misplaced(path(key.name), "has no effect here", "remove it")
		}
	}
}
