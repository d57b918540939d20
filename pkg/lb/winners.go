package lb

// winners remembers which members have recent keys. It belongs to a roster, so that a new list starts
// without; it is bounded, and a key that shares its slot with another one is computed anew. Guarded by
// the pool's lock.
type winners struct{ slots []winnerSlot }

type winnerSlot struct {
	key uint64
	// home has the key while nobody is ejected; detour has it while the pool's ejections are those of
	// version. Both are an index plus one, 0 if unknown.
	home, detour int32
	version      uint32
}

// Below fewMembers computing costs no more than remembering. Up to manyMembers the cache has few slots.
const (
	fewMembers  = 32
	manyMembers = 1000
	fewSlots    = 1 << 12
	manySlots   = 1 << 16
)

func newWinners(members int) *winners {
	switch {
	case members <= fewMembers:
		return &winners{}
	case members <= manyMembers:
		return &winners{slots: make([]winnerSlot, fewSlots)}
	default:
		return &winners{slots: make([]winnerSlot, manySlots)}
	}
}

// slot is the key's place, made its own; nil if nothing is remembered.
func (w *winners) slot(key uint64) *winnerSlot {
	if len(w.slots) == 0 {
		return nil
	}
	s := &w.slots[key&uint64(len(w.slots)-1)]
	if s.key != key {
		*s = winnerSlot{key: key}
	}
	return s
}
