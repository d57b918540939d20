package lb

import (
	"slices"
	"time"
)

// Rehearse says what a Replace would change and what the pool's status would be after it. Members that stay
// are as they are now, new ones as they join. The list is canonical and checked; the pool does not change.
func (p *Pool) Rehearse(now time.Time, members []Member) (Change, Status) {
	s := p.Status(now)
	old := make([]Member, len(s.Members))
	present := make(map[string]MemberStatus, len(s.Members))
	for i, m := range s.Members {
		old[i] = Member{Address: m.Address, Weight: m.Weight}
		present[m.Address] = m
	}
	change := Diff(old, members)
	if !slices.Equal(old, members) {
		s.Revision++
	}
	change.Revision = s.Revision
	s.Members = make([]MemberStatus, len(members))
	for i, entry := range members {
		m, stays := present[entry.Address]
		if !stays {
			m = MemberStatus{Address: entry.Address}
		}
		m.Weight = entry.Weight
		s.Members[i] = m
	}
	if p.settings.hashesKeys() {
		s.Fingerprint = fingerprint(p.settings.Hash, members)
	}
	return change, s
}
