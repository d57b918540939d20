package lb

import (
	"math"
	"net/netip"
	"time"
)

// Preview says how many keys another member list would move.
type Preview struct {
	// Keys is how many were looked at, Source "probe" or "given".
	Keys   int
	Source string
	// Moved keys would get another member. From and To count them by the member that they leave and the
	// one that they get.
	Moved    int
	From, To map[string]int
}

// probes is how many keys are looked at if none are given.
const probes = 1 << 16

// Preview compares the members of keys now with those that they would have after a Replace. Without keys
// it takes 65,536 fixed probes. Ejected members count as ejected in both. Keys are values of the header,
// or client addresses; what is not an address is left out, because it hashes to nobody. A pool that
// hashes neither gives the zero Preview.
//
// With many members this takes seconds of a processor, though no lock. stop is asked before each key; once
// it says true, the keys so far are the answer. nil never stops.
func (p *Pool) Preview(now time.Time, members []Member, keys []string, stop func() bool) Preview {
	r, at := p.roster.Load(), p.at(now)
	if r.mapping == nil {
		return Preview{}
	}
	next := p.imagine(r, members)
	before, after := r.mapping.audience(at), next.audience(at)
	v := Preview{Source: "given", From: map[string]int{}, To: map[string]int{}}
	look := func(key uint64) {
		v.Keys++
		from, to := r.mapping.address(key, before), next.address(key, after)
		if from == to {
			return
		}
		v.Moved++
		if from != "" {
			v.From[from]++
		}
		if to != "" {
			v.To[to]++
		}
	}
	if len(keys) == 0 {
		v.Source = "probe"
		for n := range uint64(probes) {
			if stop != nil && stop() {
				return v
			}
			look(mix(keyBasis + n))
		}
	}
	for _, text := range keys {
		if stop != nil && stop() {
			return v
		}
		if k := p.settings.Hash.key(text); k.kind == hashKey {
			look(k.hash)
		}
	}
	return v
}

// key reads a key as a request would bring it.
func (h HashSettings) key(text string) Key {
	if h.By != ByClientIP {
		return TextKey([]byte(text))
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return Key{}
	}
	return AddrKey(a)
}

// imagine is the mapping of another list: members that stay as they are, the others as if they had joined.
func (p *Pool) imagine(r *roster, list []Member) *mapping {
	members, weights := make([]*member, len(list)), make([]int32, len(list))
	for i, entry := range list {
		weights[i] = int32(entry.Weight)
		if members[i] = r.member(entry.Address); members[i] == nil {
			members[i] = &member{address: entry.Address, seed: seedOf(entry.Address)}
			members[i].until.Store(inRotation)
		}
	}
	return newMapping(members, weights)
}

// everybody is a time at which no ejection lasts.
const everybody int64 = math.MaxInt64

// audience is the time to ask the mapping at: if all members are ejected the mapping rests, and what it
// would be without ejections says more than nothing.
func (m *mapping) audience(at int64) int64 {
	for _, member := range m.members {
		if !member.ejectedAt(at) {
			return at
		}
	}
	return everybody
}

func (m *mapping) address(key uint64, at int64) string {
	if i := m.heir(key, at, nil); i != none {
		return m.members[i].address
	}
	return ""
}
