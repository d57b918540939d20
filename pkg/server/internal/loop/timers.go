package loop

import "container/heap"

// timers is a heap of sockets by when they are to be looked at. That is no later than the earlier of a socket's
// deadlines, and may be earlier: moving a deadline away, which is what most requests do, leaves it where it is.
type timers []*Socket

// set has s looked at no later than at a time.
func (t *timers) set(s *Socket, at int64) {
	switch {
	case s.rings == 0:
		s.rings = at
		heap.Push(t, s)
	case at < s.rings:
		s.rings = at
		heap.Fix(t, s.place)
	}
}

// remove forgets s.
func (t *timers) remove(s *Socket) {
	if s.rings != 0 {
		heap.Remove(t, s.place)
	}
}

// pop takes what is to be looked at now.
func (t *timers) pop(now int64, into []*Socket) []*Socket {
	for len(*t) > 0 && (*t)[0].rings <= now {
		s, _ := heap.Pop(t).(*Socket)
		into = append(into, s)
	}
	return into
}

// Len, Less, Swap, Push and Pop are container/heap's.
func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].rings < t[j].rings }
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].place, t[j].place = i, j
}

// Push adds a *Socket.
func (t *timers) Push(x any) {
	s, _ := x.(*Socket)
	s.place = len(*t)
	*t = append(*t, s)
}

// Pop takes the last one.
func (t *timers) Pop() any {
	last := len(*t) - 1
	s := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	s.rings = 0
	return s
}
