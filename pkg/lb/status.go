package lb

import (
	"slices"
	"time"
)

// Status is a pool at a moment. It is the caller's own.
type Status struct {
	Name     string
	Settings Settings
	// Revision grows with every change of the list.
	Revision uint64
	// Fingerprint as [Pool.Fingerprint].
	Fingerprint string
	// Members in the order of the list.
	Members []MemberStatus
}

// MemberStatus is a member at a moment.
type MemberStatus struct {
	Address string
	Weight  int
	State   State
	// InFlight counts the leases that are out.
	InFlight            int
	ConsecutiveFailures int
	// EjectedUntil is the zero time unless State is Ejected.
	EjectedUntil time.Time
	// LastFailure is NoCause if there was none.
	LastFailure Cause
	Attachment  any
}

// Revision grows with every change of the list.
func (p *Pool) Revision() uint64 { return p.roster.Load().revision }

// Members is a copy of the present list.
func (p *Pool) Members() []Member { return slices.Clone(p.roster.Load().list) }

// Status is the pool at a time. Nothing changes by it: an ejection that has ended shows as probation,
// though the event comes with the next pick. A long list is read in batches, so that requests do not wait;
// each batch is of one moment.
func (p *Pool) Status(now time.Time) Status {
	r, at := p.roster.Load(), p.at(now)
	s := Status{
		Name:        p.name,
		Settings:    p.settings.clone(),
		Revision:    r.revision,
		Fingerprint: r.fingerprint,
		Members:     make([]MemberStatus, len(r.members)),
	}
	for from := 0; from < len(r.members); from += batch {
		p.mu.Lock()
		for i := from; i < min(from+batch, len(r.members)); i++ {
			s.Members[i] = r.members[i].status(at)
			s.Members[i].Weight = r.list[i].Weight
		}
		p.mu.Unlock()
	}
	return s
}

func (m *member) status(at int64) MemberStatus {
	s := MemberStatus{
		Address:             m.address,
		State:               m.stateAt(at),
		InFlight:            int(m.inFlight.Load()),
		ConsecutiveFailures: m.failures,
		LastFailure:         m.lastFailure,
		Attachment:          m.attachment,
	}
	if s.State == Ejected {
		s.EjectedUntil = m.ejectedUntil
	}
	return s
}
