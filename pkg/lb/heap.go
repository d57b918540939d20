package lb

// ticket is one entry of a heap: the member at index i of the list, ordered by a, then b, then i.
// Every order of the engine fits it: debts (a), loads with the time of the last pick (a, b), ends of
// ejections with their number (a, b).
type ticket struct {
	a, b int64
	i    int32
}

func (t ticket) before(u ticket) bool {
	if t.a != u.a {
		return t.a < u.a
	}
	if t.b != u.b {
		return t.b < u.b
	}
	return t.i < u.i
}

// heap is a binary heap of tickets, the first at index 0. It knows the place of every member, so that
// any of them can be moved or taken out at O(log n). pos is indexed like the member list and shared by
// all heaps of a roster: a member is in one of them at most.
type heap struct {
	tickets []ticket
	pos     []int32
}

func (h *heap) len() int { return len(h.tickets) }

func (h *heap) push(t ticket) {
	h.tickets = append(h.tickets, t)
	h.up(len(h.tickets) - 1)
}

// remove takes out the ticket of member i, which must be in this heap.
func (h *heap) remove(i int32) ticket {
	at := int(h.pos[i])
	t := h.tickets[at]
	last := len(h.tickets) - 1
	moved := h.tickets[last]
	h.tickets = h.tickets[:last]
	if at < last {
		h.tickets[at] = moved
		h.pos[moved.i] = int32(at)
		h.restore(at)
	}
	return t
}

// update replaces the ticket of member t.i, which must be in this heap.
func (h *heap) update(t ticket) {
	at := int(h.pos[t.i])
	h.tickets[at] = t
	h.restore(at)
}

// restore puts the ticket at a place whose key changed where it belongs.
func (h *heap) restore(at int) {
	if !h.up(at) {
		h.down(at)
	}
}

// up moves the ticket towards the first as far as it must, and reports whether it moved.
func (h *heap) up(at int) bool {
	t, start := h.tickets[at], at
	for at > 0 {
		parent := (at - 1) / 2
		if !t.before(h.tickets[parent]) {
			break
		}
		h.set(at, h.tickets[parent])
		at = parent
	}
	h.set(at, t)
	return at != start
}

// down moves the ticket away from the first as far as it must.
func (h *heap) down(at int) {
	t, n := h.tickets[at], len(h.tickets)
	for {
		child := 2*at + 1
		if child >= n {
			break
		}
		if right := child + 1; right < n && h.tickets[right].before(h.tickets[child]) {
			child = right
		}
		if !h.tickets[child].before(t) {
			break
		}
		h.set(at, h.tickets[child])
		at = child
	}
	h.set(at, t)
}

func (h *heap) set(at int, t ticket) {
	h.tickets[at] = t
	h.pos[t.i] = int32(at)
}
