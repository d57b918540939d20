package lb

// none is the index of no member.
const none int32 = -1

// order is a way to choose among the members that are in it. Members are indices of the list.
type order interface {
	// put takes a member in, with the value that it left with; take lets it go.
	put(i int32)
	take(i int32)
	// next names a member and charges it for the request; none when nobody is in.
	next() int32
	// begin and end tell of a request that next did not give, and of one that is over. in says whether the
	// member is in this order.
	begin(i int32, in bool)
	end(i int32, in bool)
	// mark and admit carry a member's value over to the order of another list, follow the order's own.
	mark(i int32, in bool) mark
	admit(i int32, m mark, in bool)
	follow(old order)
}

// mark is all that an order knows of a member, whichever order it is.
type mark struct {
	value    int64
	last     int64
	inFlight int32
}

// place is the queue a member stands in.
type place uint8

const (
	_ place = iota // not admitted yet
	// free: up, or on probation with a place for one more request.
	free
	// held: on probation, all places taken. Picked by nobody who has another choice.
	held
	// out: ejected.
	out
)

// queues says who can be chosen. Every member of a list is in exactly one of them.
type queues struct {
	free, held order
	// out is ordered by the end of the ejection, then its number: the first was ejected longest ago.
	out   heap
	where []place
	// shares is nil for least_conn.
	shares *shares
}

// newQueues makes empty queues for members of these weights; former as in newShares.
func newQueues(b Balance, weights, former []int32) *queues {
	q := &queues{where: make([]place, len(weights))}
	if b == LeastConn {
		loads, pos := newLoads(weights), make([]int32, len(weights))
		q.free = &leastConn{loads, heap{pos: pos}}
		q.held = &leastConn{loads, heap{pos: pos}}
		q.out.pos = pos
		return q
	}
	q.shares = newShares(weights, former)
	q.free, q.held, q.out.pos = newRotation(q.shares), newRotation(q.shares), q.shares.pos
	return q
}

// in is the order that member i stands in, nil if it is ejected.
func (q *queues) in(i int32) order {
	switch q.where[i] {
	case free:
		return q.free
	case held:
		return q.held
	default:
		return nil
	}
}

// move puts member i into another queue. ejection is used for out only.
func (q *queues) move(i int32, to place, ejection ticket) {
	if in := q.in(i); in != nil {
		in.take(i)
	} else if q.where[i] == out {
		q.out.remove(i)
	}
	q.where[i] = to
	if in := q.in(i); in != nil {
		in.put(i)
	} else {
		q.out.push(ejection)
	}
}

// due names an ejected member whose ejection has ended, none if there is none.
func (q *queues) due(at int64) int32 {
	if q.out.len() == 0 || q.out.tickets[0].a > at {
		return none
	}
	return q.out.tickets[0].i
}

func (q *queues) begin(i int32) { q.any(i).begin(i, q.in(i) != nil) }
func (q *queues) end(i int32)   { q.any(i).end(i, q.in(i) != nil) }

// any is the order that knows of member i, also if it is ejected.
func (q *queues) any(i int32) order {
	if q.where[i] == held {
		return q.held
	}
	return q.free
}

// standing is everything about a member that has to follow it into the queues of another list.
type standing struct {
	where    place
	mark     mark
	ejection ticket
}

func (q *queues) standing(i int32) standing {
	s := standing{where: q.where[i], mark: q.any(i).mark(i, q.in(i) != nil)}
	if s.where == out {
		s.ejection = q.out.tickets[q.out.pos[i]]
	}
	return s
}

// restore puts member i where a standing says, whether it is here already or not.
func (q *queues) restore(i int32, s standing) {
	if in := q.in(i); in != nil {
		in.take(i)
	} else if q.where[i] == out {
		q.out.remove(i)
	}
	q.where[i] = s.where
	q.any(i).admit(i, s.mark, q.in(i) != nil)
	if s.where == out {
		s.ejection.i = i
		q.out.push(s.ejection)
	}
}

// follow makes these queues go on where the old ones are. Until then they must not be asked for a member.
func (q *queues) follow(old *queues) {
	q.free.follow(old.free)
	q.held.follow(old.held)
}

// settle moves up to n members out of the classes that exist only because the list was replaced, and
// reports whether there may be more. It changes no choice, only what a choice costs.
func (q *queues) settle(n int) bool {
	s := q.shares
	if s == nil || s.settled == len(s.layout) {
		return false
	}
	for ; n > 0 && int(s.next) < len(q.where); n-- {
		if int(s.of[s.next]) >= s.settled {
			s.settleEntry(s.next, q.in(s.next))
		}
		s.next++
	}
	if int(s.next) < len(q.where) {
		return true
	}
	s.layout = s.layout[:s.settled]
	q.free.(*rotation).settle()
	q.held.(*rotation).settle()
	return false
}
