package loop

// bellSlot is the number under which a loop's bell is waited for.
const bellSlot = -1

// table gives the sockets that are waited for numbers, which the kernel keeps for us: it cannot keep a pointer. A number
// is used again, with another edition, so that what the kernel has to say of a socket that is gone finds nobody.
type table struct {
	slots []slot
	free  []int32
}

type slot struct {
	s       *Socket
	edition int32
}

// add takes s in.
func (t *table) add(s *Socket) (number, edition int32) {
	if last := len(t.free) - 1; last >= 0 {
		number = t.free[last]
		t.free = t.free[:last]
	} else {
		number = int32(len(t.slots))
		t.slots = append(t.slots, slot{})
	}
	t.slots[number].s = s
	return number, t.slots[number].edition
}

// get is the socket with a number; nil if it is gone.
func (t *table) get(number, edition int32) *Socket {
	if number < 0 || int(number) >= len(t.slots) || t.slots[number].edition != edition {
		return nil
	}
	return t.slots[number].s
}

func (t *table) remove(number int32) {
	t.slots[number].s = nil
	t.slots[number].edition++
	t.free = append(t.free, number)
}
