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

const (
	// fewMembers are asked as quickly as remembered.
	fewMembers = 8
	// slotsPerMember and maxSlots bound the memory: 24 bytes a slot.
	slotsPerMember = 64
	maxSlots       = 1 << 16
)

func newWinners(members int) *winners {
	if members <= fewMembers {
		return &winners{}
	}
	slots := 1
	for slots < members*slotsPerMember && slots < maxSlots {
		slots *= 2
	}
	return &winners{slots: make([]winnerSlot, slots)}
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
