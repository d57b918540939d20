package lb

import (
	"fmt"
	"time"
)

// Explanation says which member a request would get now, and why no other.
type Explanation struct {
	Pool     string
	Revision uint64
	// Member is its address, "" if the request would get none.
	Member string
	// Reason is "affinity" (the cookie names it), "rendezvous" (it has the key), "round_robin",
	// "least_conn" or "last_resort" (all members are ejected); "" without a member.
	Reason string
	// Others are the other members in the order of the list.
	Others []PassedOver
	// Retries are the members that the retries would go to, as things stand.
	Retries []string
}

// PassedOver is a member that was not chosen.
type PassedOver struct {
	Address string
	// Why is for people.
	Why string
}

// Explain says what Pick would do with a key. It asks the code that picks, on a copy of the pool's queues
// made the way Replace makes them; the pool itself does not change.
func (p *Pool) Explain(now time.Time, key Key) Explanation {
	p.preparing.Lock()
	defer p.preparing.Unlock()
	at, present := p.at(now), p.roster.Load()
	d := p.prepare(present.list)
	p.carry(d)
	p.mu.Unlock()
	status := p.Status(now)

	r := d.roster
	for i := r.queues.due(at); i != none; i = r.queues.due(at) {
		r.queues.move(i, free, ticket{})
	}
	e := Explanation{Pool: p.name, Revision: present.revision}
	stood := append([]place(nil), r.queues.where...)
	var tried Tried
	chosen, why := none, noReason
	for range 1 + p.settings.Retries {
		i, reason := r.ask(at, key, &tried)
		if i == none {
			break
		}
		if tried.Len() == 0 {
			chosen, why = i, reason
		} else {
			e.Retries = append(e.Retries, r.list[i].Address)
		}
		tried.add(r.members[i])
	}
	if chosen != none {
		e.Member, e.Reason = r.list[chosen].Address, p.reasonText(why)
	}
	for i := range r.members {
		if int32(i) != chosen {
			e.Others = append(e.Others, PassedOver{
				Address: r.list[i].Address,
				Why:     passedOver(status.Members[i], stood[i], why, p.settings.Balance),
			})
		}
	}
	return e
}

// ask is what Pick does, without its memory of recent keys.
func (r *roster) ask(at int64, key Key, tried *Tried) (int32, reason) {
	if key.kind == hashKey && r.mapping != nil && r.queues.out.len() < len(r.members) {
		if i := r.mapping.heir(key.hash, at, tried); i != none {
			return i, byRendezvous
		}
	}
	return r.choose(at, key, tried)
}

func (p *Pool) reasonText(why reason) string {
	switch {
	case why == byToken:
		return "affinity"
	case why == byRendezvous:
		return "rendezvous"
	case why == byLastResort:
		return "last_resort"
	case p.settings.Balance == LeastConn:
		return string(LeastConn)
	default:
		return string(RoundRobin)
	}
}

func passedOver(m MemberStatus, where place, why reason, b Balance) string {
	switch {
	case m.State == Ejected:
		return "ejected until " + m.EjectedUntil.UTC().Format(time.RFC3339Nano)
	case why == byToken:
		return "the cookie names another member"
	case why == byRendezvous:
		return "the key belongs to another member"
	case where == held:
		return fmt.Sprintf("on probation, and its places are taken: %d in flight", m.InFlight)
	case b == LeastConn:
		return fmt.Sprintf("has %d in flight at weight %d, and was not picked longer ago", m.InFlight, m.Weight)
	default:
		return "its turn comes later"
	}
}
