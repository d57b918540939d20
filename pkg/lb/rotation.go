package lb

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
	classes []class
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
	// into is the class of this weight without a shift.
	into int32
	heap
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
	for _, w := range weights {
		k := kind{weight: int64(w)}
		if _, ok := index[k]; !ok {
			index[k] = int32(len(s.layout))
			s.layout = append(s.layout, class{weight: k.weight, into: index[k]})
		}
	}
	s.settled = len(s.layout)
	for i, w := range weights {
		k := kind{weight: int64(w), shift: int64(former[i] - w)}
		at, ok := index[k]
		if !ok {
			at = int32(len(s.layout))
			index[k] = at
			s.layout = append(s.layout, class{weight: k.weight, shift: k.shift, into: index[kind{weight: k.weight}]})
		}
		s.of[i] = at
	}
	return s
}

// newRotation is a rotation without entries.
func newRotation(s *shares) *rotation {
	r := &rotation{shares: s, classes: make([]class, len(s.layout))}
	copy(r.classes, s.layout)
	for k := range r.classes {
		r.classes[k].pos = s.pos
	}
	return r
}

func (r *rotation) put(i int32) {
	k := &r.classes[r.of[i]]
	k.push(ticket{a: k.weight*r.steps + k.shift*r.since - r.value[i], i: i})
	r.total += k.weight
}

func (r *rotation) take(i int32) {
	k := &r.classes[r.of[i]]
	r.value[i] = k.weight*r.steps + k.shift*r.since - k.remove(i).a
	r.total -= k.weight
}

func (r *rotation) next() int32 {
	if r.total == 0 {
		return none
	}
	r.steps++
	var best *class
	var value int64
	index := none
	for n := range r.classes {
		k := &r.classes[n]
		if len(k.tickets) == 0 {
			continue
		}
		head := &k.tickets[0]
		v := k.weight*r.steps + k.shift*r.since - head.a
		if best == nil || v > value || v == value && head.i < index {
			best, value, index = k, v, head.i
		}
	}
	best.tickets[0].a += r.total
	best.down(0)
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
	k := &r.classes[r.of[i]]
	return mark{value: k.shift*r.since - k.tickets[r.pos[i]].a}
}

func (r *rotation) admit(i int32, m mark, in bool) {
	if !in {
		r.value[i] = m.value
		return
	}
	k := &r.classes[r.of[i]]
	k.push(ticket{a: -m.value, i: i})
	r.total += k.weight
}

func (r *rotation) follow(o order) {
	old := o.(*rotation)
	r.steps, r.since = old.steps, old.steps
}

// settleOne moves an entry from a class with a shift to the one without: the same value in other terms.
func (s *shares) settleOne(i int32, in order) {
	k := s.of[i]
	if int(k) < s.settled {
		return
	}
	if in != nil {
		in.take(i)
	}
	s.of[i] = s.layout[k].into
	if in != nil {
		in.put(i)
	}
}
