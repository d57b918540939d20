package lb

// leastConn names the member with the fewest requests in flight divided by its weight; among equals the
// one picked least recently, then the first of the list.
type leastConn struct {
	*loads
	heap
}

// loads is what the two orders of one list have in common.
type loads struct {
	weight   []int32
	inFlight []int32
	// last is the number of the member's last pick, 0 if there was none.
	last  []int64
	picks int64
}

// loadBits makes loads comparable as integers. Two different fractions of in flight by weight, the
// weights at most 1000, differ by at least 1/1000000, which is more than 2^-20: shifted left by 20 bits
// and rounded down they still differ, in the same direction, and equal fractions stay equal. So this
// order is exactly that of the cross products.
const loadBits = 20

func newLoads(weights []int32) *loads {
	return &loads{weight: weights, inFlight: make([]int32, len(weights)), last: make([]int64, len(weights))}
}

func (l *leastConn) ticket(i int32) ticket {
	return ticket{a: int64(l.inFlight[i]) << loadBits / int64(l.weight[i]), b: l.last[i], i: i}
}

func (l *leastConn) put(i int32)  { l.push(l.ticket(i)) }
func (l *leastConn) take(i int32) { l.remove(i) }

func (l *leastConn) next() int32 {
	if l.len() == 0 {
		return none
	}
	i := l.tickets[0].i
	l.begin(i, true)
	return i
}

func (l *leastConn) begin(i int32, in bool) {
	l.picks++
	l.last[i] = l.picks
	l.inFlight[i]++
	if in {
		l.update(l.ticket(i))
	}
}

func (l *leastConn) end(i int32, in bool) {
	l.inFlight[i]--
	if in {
		l.update(l.ticket(i))
	}
}

func (l *leastConn) mark(i int32, _ bool) mark {
	return mark{inFlight: l.inFlight[i], last: l.last[i]}
}

func (l *leastConn) admit(i int32, m mark, in bool) {
	l.inFlight[i], l.last[i] = m.inFlight, m.last
	if in {
		l.put(i)
	}
}

func (l *leastConn) follow(o order) { l.picks = o.(*leastConn).picks }
