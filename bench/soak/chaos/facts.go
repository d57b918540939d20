package chaos

import (
	"slices"
	"strings"
	"time"
)

// facts are what the members and lists were like while a request was under way: all that its judge has to know
// besides its story.
type facts struct {
	// spare are members that the request did not reach, and that were there, in the list and not ejected in all of
	// its time.
	spare []string
	// blind is how many attempts may have failed without a member having seen the request.
	blind int
	// cut: one of these may have been written to a connection that was just being closed.
	cut bool
	// emptied: the pool may have had no members.
	emptied bool
	// strangers received the request without having been in the list.
	strangers []string
	// rebuilt: a reload may have rebuilt the pool, which ends retries.
	rebuilt bool
	// stalled: the machine stood still for so long that a timeout of the daemon may be nobody's fault.
	stalled bool
	// owned: the member of the request's cookie had to take it.
	owned bool
}

// facts are gathered once the story has ended.
func (r *Run) facts(s *story) facts {
	p := s.request.pool
	during := s.seen.span
	around := during.wider(closing, closing)
	f := facts{
		emptied: p.emptied(around),
		rebuilt: p.rebuilt && r.reloads.meet(during.wider(time.Second, time.Second)),
		stalled: r.stalls.meet(during.wider(cooldown+closing, 0)),
	}
	for _, m := range p.members {
		reached := slices.ContainsFunc(s.receipts, func(r *receipt) bool { return r.member == m })
		listed := p.always(m.address, around)
		switch {
		case reached:
			if !p.ever(m.address, around) {
				f.strangers = append(f.strangers, m.address)
			}
		case p.ever(m.address, around) && m.blind.meet(around):
			f.blind++
			f.cut = f.cut || m.cuts.meet(around)
		case listed && m.sound(during):
			f.spare = append(f.spare, m.address)
		}
		if m.address == s.request.owner {
			f.owned = listed && m.sound(during)
		}
	}
	return f
}

// around are the notes of the pool and of the run from shortly before a request to its end.
func (r *Run) around(s *story) []note {
	during := s.seen.wider(3*time.Second, closing)
	return slices.Concat(s.request.pool.journal.within(during), r.journal.within(during))
}

func (f facts) String() string {
	var s []string
	if len(f.spare) > 0 {
		s = append(s, "members left to try: "+strings.Join(f.spare, " "))
	}
	for what, is := range map[string]bool{
		"the list may have been empty": f.emptied, "the pool may have been rebuilt": f.rebuilt,
		"the machine stood still": f.stalled, "a connection was just being closed": f.cut,
		"the cookie's member was there": f.owned,
	} {
		if is {
			s = append(s, what)
		}
	}
	return strings.Join(s, ", ")
}
