package lb

import "slices"

// roster is one member list: what never changes of it, and the queues of its members, which are guarded
// by the pool's lock. Replacing the list replaces the roster.
type roster struct {
	generation uint64
	revision   uint64
	list       []Member
	members    []*member
	index      map[string]int32
	// tokens is nil unless the pool hashes by cookie; mapping unless it hashes by header or client_ip.
	tokens      map[token]*member
	mapping     *mapping
	fingerprint string

	queues  *queues
	winners *winners
}

// newRoster builds the roster after old, which is nil for the first one. New members are in its queues;
// the standing of those that stay is still to be carried over. join makes a new member.
func newRoster(s Settings, old *roster, list []Member, join func(address string) *member) *roster {
	r := &roster{
		revision: 1,
		list:     make([]Member, 0, len(list)),
		members:  make([]*member, 0, len(list)),
		index:    make(map[string]int32, len(list)),
	}
	if old != nil {
		r.generation, r.revision = old.generation+1, old.revision+1
	}
	weights, former := make([]int32, 0, len(list)), make([]int32, 0, len(list))
	for _, entry := range list {
		if _, twice := r.index[entry.Address]; twice {
			continue
		}
		i, before := int32(len(r.members)), int32(0)
		m := old.member(entry.Address)
		switch {
		case m != nil:
			before = int32(old.list[old.indexOf(m)].Weight)
		case old == nil:
			before = int32(entry.Weight)
			m = join(entry.Address)
		default:
			m = join(entry.Address)
		}
		r.index[entry.Address] = i
		r.list, r.members = append(r.list, entry), append(r.members, m)
		weights, former = append(weights, int32(entry.Weight)), append(former, before)
		place := &m.places[r.generation&1]
		place.generation, place.index = r.generation, i
	}
	r.queues = newQueues(s.Balance, weights, former)
	for i, m := range r.members {
		if old.member(m.address) == nil {
			r.queues.restore(int32(i), standing{where: free})
		}
	}
	if s.Balance == Hash && s.Hash.By == ByCookie {
		r.tokens = make(map[token]*member, len(r.members))
		for _, m := range r.members {
			t, _ := parseToken([]byte(m.token))
			r.tokens[t] = m
		}
	}
	if s.hashesKeys() {
		r.mapping = newMapping(r.members, weights)
		r.winners = newWinners(len(r.members))
		r.fingerprint = fingerprint(s.Hash, r.list)
	}
	return r
}

// hashesKeys reports whether members are chosen by rendezvous.
func (s Settings) hashesKeys() bool {
	return s.Balance == Hash && (s.Hash.By == ByHeader || s.Hash.By == ByClientIP)
}

// member finds an address, nil if it is not in the list. A nil roster has no members.
func (r *roster) member(address string) *member {
	if r == nil {
		return nil
	}
	i, ok := r.index[address]
	if !ok {
		return nil
	}
	return r.members[i]
}

// indexOf is the member's place in the list, none if it is not in it.
func (r *roster) indexOf(m *member) int32 {
	if place := &m.places[r.generation&1]; place.generation == r.generation && r.holds(m, place.index) {
		return place.index
	}
	return none
}

// holds guards against the places of a member that joined no list yet, which are zero.
func (r *roster) holds(m *member, i int32) bool {
	return int(i) < len(r.members) && r.members[i] == m
}

// sameList reports whether a list is this one, in this order.
func (r *roster) sameList(list []Member) bool { return slices.Equal(r.list, list) }
