package lb

import (
	"math"
	"slices"
)

// rotation is smooth weighted round robin, nginx's sequence without its effective weight. In the words
// of the textbook: in every step each entry gains its weight, the one with the largest value is named
// (the first of the list among equals), and it pays what all together have gained. Weights 5, 1 and 1
// give a a b a c a a.
//
// A step of this rotation does not touch the entries that are not named. Entries of one weight gain
// alike, so their order is that of their debts: an entry's value is weight*steps - debt, where only the
// one that is named gets a larger debt. One heap per distinct weight, keyed by (debt, index), and a
// comparison of their heads is a step: O(distinct weights + log n).
//
// An entry that is taken out keeps its value, and comes back with the same one.
type rotation struct {
	*shares
	// classes and heaps belong together.
	classes []class
	heaps   []heap
	// steps counts the steps, each of which gives every entry its weight.
	steps int64
	// since is the value of steps when this rotation took over from an earlier one; see class.
	since int64
	// total is the weight of all entries that are in.
	total int64
}

// class is the entries of one weight. While a list is being replaced there are also classes of entries
// that gained another weight until the rotation took over: shift is the old weight less the new one, and
// a value is weight*steps + shift*since - debt. New members have the old weight 0. settle ends that.
type class struct {
	weight, shift int64
	// debt and head are those of the first of the heap, here to be near each other; none if it is empty.
	debt int64
	head int32
	// into is the class of this weight without a shift.
	into int32
}

// shares is what the rotations of one list have in common: an entry is in one of them at most.
type shares struct {
	// of is the class of each entry, settled the number of classes without a shift, which come first.
	of      []int32
	layout  []class
	settled int
	// value is the value of an entry while it is out.
	value []int64
	pos   []int32
	// next is where settle goes on.
	next int32
}

// newShares lays out the classes: weights are what the entries gain now and former what they gained
// before the rotation takes over (0 for a new one).
func newShares(weights, former []int32) *shares {
	type kind struct{ weight, shift int64 }
	s := &shares{of: make([]int32, len(weights)), value: make([]int64, len(weights)), pos: make([]int32, len(weights))}
	index := make(map[kind]int32)
	classOf := func(k kind) int32 {
		i, ok := index[k]
		if !ok {
			i = int32(len(s.layout))
			index[k] = i
			s.layout = append(s.layout, class{weight: k.weight, shift: k.shift, head: none, into: index[kind{weight: k.weight}]})
		}
		return i
	}
	for _, w := range weights {
		classOf(kind{weight: int64(w)})
	}
	s.settled = len(s.layout)
	for i, w := range weights {
		s.of[i] = classOf(kind{weight: int64(w), shift: int64(former[i] - w)})
	}
	return s
}

// newRotation is a rotation without entries.
func newRotation(s *shares) *rotation {
	r := &rotation{shares: s, classes: slices.Clone(s.layout), heaps: make([]heap, len(s.layout))}
	for k := range r.heaps {
		r.heaps[k].pos = s.pos
	}
	return r
}

// earned is what the steps have brought to the entries of a class.
func (r *rotation) earned(k *class) int64 { return k.weight*r.steps + k.shift*r.since }

// add puts an entry into its class with a debt.
func (r *rotation) add(i int32, debt int64) {
	n := r.of[i]
	r.heaps[n].push(ticket{a: debt, i: i})
	r.total += r.classes[n].weight
	r.look(n)
}

// look notes the first of a class after its heap has changed.
func (r *rotation) look(n int32) {
	k := &r.classes[n]
	if h := &r.heaps[n]; h.len() > 0 {
		k.debt, k.head = h.tickets[0].a, h.tickets[0].i
	} else {
		k.head = none
	}
}

func (r *rotation) put(i int32) { r.add(i, r.earned(&r.classes[r.of[i]])-r.value[i]) }

func (r *rotation) take(i int32) {
	n := r.of[i]
	k := &r.classes[n]
	r.value[i] = r.earned(k) - r.heaps[n].remove(i).a
	r.total -= k.weight
	r.look(n)
}

func (r *rotation) next() int32 {
	if r.total == 0 {
		return none
	}
	r.steps++
	steps, since := r.steps, r.since
	best, index, value := none, none, int64(math.MinInt64)
	for n := range r.classes {
		k := &r.classes[n]
		if k.head == none {
			continue
		}
		if v := k.weight*steps + k.shift*since - k.debt; v > value || v == value && k.head < index {
			best, index, value = int32(n), k.head, v
		}
	}
	h := &r.heaps[best]
	h.tickets[0].a += r.total
	h.down(0)
	r.look(best)
	return index
}

// begin and end of a request do not matter to the rotation.
func (r *rotation) begin(int32, bool) {}
func (r *rotation) end(int32, bool)   {}

// mark is the value of an entry that is out, and of one that is in its value less what the steps of its
// weight have brought: that difference does not change until the entry is named.
func (r *rotation) mark(i int32, in bool) mark {
	if !in {
		return mark{value: r.value[i]}
	}
	n := r.of[i]
	return mark{value: r.classes[n].shift*r.since - r.heaps[n].tickets[r.pos[i]].a}
}

func (r *rotation) admit(i int32, m mark, in bool) {
	if in {
		r.add(i, -m.value)
	} else {
		r.value[i] = m.value
	}
}

func (r *rotation) follow(o order) {
	old := o.(*rotation)
	r.steps, r.since = old.steps, old.steps
}

// settle drops the classes with a shift, which must be empty.
func (r *rotation) settle() { r.classes, r.heaps = r.classes[:r.settled], r.heaps[:r.settled] }

// settleEntry moves an entry, which is in this order or in none, from a class with a shift to the one without:
// the same value in other terms.
func (s *shares) settleEntry(i int32, in order) {
	if in != nil {
		in.take(i)
		defer in.put(i)
	}
	s.of[i] = s.layout[s.of[i]].into
}
