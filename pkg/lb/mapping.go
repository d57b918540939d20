package lb

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	index := make([]int32, len(members))
	for i := range index {
		index[i] = int32(i)
	}
	slices.SortFunc(index, func(a, b int32) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), strings.Compare(members[a].address, members[b].address))
	})
	seeds := make([]uint64, len(members))
	for n, i := range index {
		seeds[n] = members[i].seed
	}
	m := &mapping{members: members}
	for from := 0; from < len(index); {
		weight, to := weights[index[from]], from
		for to < len(index) && weights[index[to]] == weight {
			to++
		}
		m.groups = append(m.groups, group{weight: uint64(weight), seeds: seeds[from:to], index: index[from:to]})
		from = to
	}
	return m
}

// seedOf is what a member brings into its hashes.
func seedOf(address string) uint64 { return digest(memberBasis, []byte(address)) }

// owner names the member that has the key while nobody is ejected; none without members.
func (m *mapping) owner(key uint64) int32 {
	return m.winner(func(g *group) (int32, uint64) { return g.largest(key, nil) })
}

// heir names the member that has the key among those that are not ejected at a time and not tried; none
// if there is nobody. It needs no lock.
func (m *mapping) heir(key uint64, at int64, tried *Tried) int32 {
	free := func(i int32) bool { return !m.members[i].ejectedAt(at) && !tried.has(m.members[i]) }
	return m.winner(func(g *group) (int32, uint64) { return g.largest(key, free) })
}

// winner compares the best of each group.
func (m *mapping) winner(best func(*group) (int32, uint64)) int32 {
	winner := none
	var log, weight uint64
	for n := range m.groups {
		g := &m.groups[n]
		i, h := best(g)
		switch {
		case i == none:
		case winner == none:
			winner, log, weight = i, negLog2(h), g.weight
		case less(log, g.weight, atLeast(h), weight):
			// a bound is enough to see that it loses
		default:
			if l := negLog2(h); less(l, weight, log, g.weight) {
				winner, log, weight = i, l, g.weight
			}
		}
	}
	return winner
}

// largest is the largest hash of the group's members that may have the key; nil lets all of them.
func (g *group) largest(key uint64, may func(i int32) bool) (index int32, hash uint64) {
	index = none
	for n, seed := range g.seeds {
		h := draw(key, seed)
		if h < hash || h == hash && index != none {
			continue
		}
		if i := g.index[n]; may == nil || may(i) {
			index, hash = i, h
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
