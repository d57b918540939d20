package lb

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// mapping is weighted rendezvous hashing. Every member draws a number u in (0, 1] for every key, from a
// hash of both, and the member with the smallest -log(u)/weight has the key. The share of a member is
// its weight's, and another member's coming or going moves no key between two that stay.
//
// It depends on the addresses, the weights and the key, and on nothing else: not on the order of the
// list, nor on the process or the architecture.
type mapping struct {
	members []*member
	// groups begin with the heaviest, which has the best chance.
	groups []group
}

// group is the members of one weight: among them the largest hash wins, and only it can need a logarithm.
type group struct {
	weight uint64
	// seeds and index belong together; by address, so that the order of the list does not matter even if
	// two seeds are equal.
	seeds []uint64
	index []int32
}

func newMapping(members []*member, weights []int32) *mapping {
	order := make([]int32, len(members))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), strings.Compare(members[a].address, members[b].address))
	})
	m := &mapping{members: members}
	for n, i := range order {
		if n == 0 || weights[i] != weights[order[n-1]] {
			m.groups = append(m.groups, group{weight: uint64(weights[i])})
		}
		g := &m.groups[len(m.groups)-1]
		g.seeds, g.index = append(g.seeds, members[i].seed), append(g.index, i)
	}
	return m
}

// seedOf is what a member brings into its hashes.
func seedOf(address string) uint64 { return digest(memberBasis, []byte(address)) }

// everybody is a time at which no ejection lasts.
const everybody int64 = math.MaxInt64

// winner names the member that has the key among those that are not ejected at a time and not tried;
// none if there is nobody. It needs no lock.
func (m *mapping) winner(key uint64, at int64, tried *Tried) int32 {
	winner := none
	var log, weight uint64
	for n := range m.groups {
		g := &m.groups[n]
		i, h := m.largest(g, key, at, tried)
		if i == none {
			continue
		}
		if winner == none {
			winner, log, weight = i, negLog2(h), g.weight
			continue
		}
		if less(log, g.weight, atLeast(h), weight) {
			continue // a bound is enough to see that it loses
		}
		if l := negLog2(h); less(l, weight, log, g.weight) {
			winner, log, weight = i, l, g.weight
		}
	}
	return winner
}

// largest is the largest hash of a group.
func (m *mapping) largest(g *group, key uint64, at int64, tried *Tried) (index int32, hash uint64) {
	index = none
	for n, seed := range g.seeds {
		h := draw(key, seed)
		if h < hash || h == hash && index != none {
			continue
		}
		if member := m.members[g.index[n]]; !member.ejectedAt(at) && !tried.has(member) {
			index, hash = g.index[n], h
		}
	}
	return index, hash
}

// draw is the hash of a key and a member: like mix without its last step, which the high bits, that
// decide, do not need, and its first, which the seeds and keys have had.
func draw(key, seed uint64) uint64 {
	x := (key ^ seed) * golden
	x ^= x >> 32
	return x * silver
}

// less reports whether a*b < c*d.
func less(a, b, c, d uint64) bool {
	h1, l1 := bits.Mul64(a, b)
	h2, l2 := bits.Mul64(c, d)
	return h1 < h2 || h1 == h2 && l1 < l2
}

// mappingVersion changes whenever the same list would map keys differently.
const mappingVersion = 1

// fingerprint digests all that the mapping depends on.
func fingerprint(h HashSettings, list []Member) string {
	sorted := slices.SortedFunc(slices.Values(list), func(a, b Member) int { return strings.Compare(a.Address, b.Address) })
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %s %s\n", mappingVersion, h.By, strings.ToLower(h.Name))
	for _, m := range sorted {
		fmt.Fprintf(sum, "%s %d\n", m.Address, m.Weight)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
