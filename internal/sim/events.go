package sim

import (
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

// events reads the script. Each entry is one of: what a member does from now on, another list, another
// rate.
func (d *decoder) events(v value, s *Scenario) {
	d.list(v, maxScript, func(v value) {
		e := step{behaviour: behaviour{latency: -1, share: 1}}
		b := &e.behaviour
		status := 503
		given := d.section(v,
			field{"at", true, d.duration(&e.at, 0, s.duration-time.Nanosecond)},
			field{"member", false, func(v value) { e.name = &v }},
			field{"does", false, choice(d, &b.does, refuse, discard, hang, reset, fail, slow, recovers)},
			field{"latency", false, d.duration(&b.latency, 0, maxTimeout)},
			field{"status", false, d.whole(&status, 502, 504)},
			field{"share", false, d.number(&b.share, 0, 1)},
			field{"members", false, func(v value) { e.replace, e.members = true, d.members(v) }},
			field{"rate", false, d.rate(&e.rate)},
		)
		has := func(name string) bool { _, ok := given[name]; return ok }
		kinds := 0
		for _, kind := range []string{"does", "members", "rate"} {
			if has(kind) {
				kinds++
			}
		}
		switch {
		case given == nil:
			return
		case kinds != 1:
			d.failKey(v, "write {at, member, does}, {at, members} or {at, rate}", "must have one of does, members and rate")
			return
		case has("does") != has("member"):
			d.failKey(v, "", "must have member and does together")
			return
		case b.does == slow && !has("latency"):
			d.add(v.at(), join(v.path, "latency"), "this key is required", "say how slow")
		}
		b.status = lb.Status502 + lb.Cause(status-502)
		for _, key := range []struct {
			name string
			ok   bool
		}{
			{"latency", b.does == slow || b.does == refuse || b.does == reset || b.does == fail},
			{"status", b.does == fail},
			{"share", b.does != "" && b.does != recovers},
		} {
			if has(key.name) && !key.ok {
				d.failKey(given[key.name], "remove it", "has no effect here")
			}
		}
		s.script = append(s.script, e)
	})
}

// name reads the name of a member: its address, or the host of it where no other address of the scenario
// has that host.
func (d *decoder) name(v value, s *Scenario, to *string) {
	var name string
	d.text(&name)(v)
	if name == "" {
		return
	}
	address, known := s.names[name]
	if canonical, err := lb.ParseAddress(name); err == nil && !known {
		address, known = s.names[canonical]
	}
	switch {
	case !known:
		d.fail(v, "no list of members has %q", shorten(name))
	case address == "":
		d.fail(v, "several members have the host %q: write the port too", shorten(name))
	default:
		*to = address
	}
}
