package loop

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// What a heap gives out is what a list of all times would, through any order of calls.
func TestTimers(t *testing.T) {
	for seed := range uint64(20) {
		chance := rand.New(rand.NewPCG(seed, 0))
		var heap timers
		sockets := make([]Socket, 50)
		due := map[*Socket]int64{}
		now := int64(0)
		for range 2000 {
			s := &sockets[chance.IntN(len(sockets))]
			switch chance.IntN(4) {
			case 0:
				now += chance.Int64N(20)
				got := heap.pop(now, nil)
				for _, s := range got {
					if at, ok := due[s]; !ok || at > now {
						t.Fatalf("seed %d: at %d it gave out what is due at %d (set: %v)", seed, now, at, ok)
					}
					delete(due, s)
				}
				for _, at := range due {
					if at <= now {
						t.Fatalf("seed %d: at %d it kept what was due at %d", seed, now, at)
					}
				}
			case 1:
				heap.remove(s)
				delete(due, s)
			default:
				at := now + 1 + chance.Int64N(100)
				heap.set(s, at)
				if stands, ok := due[s]; !ok || at < stands { // never later
					due[s] = at
				}
			}
			for i, s := range heap {
				if s.place != i || s.rings != due[s] {
					t.Fatalf("seed %d: %d stands at %d and rings at %d, want %d", seed, i, s.place, s.rings, due[s])
				}
			}
			if len(heap) != len(due) {
				t.Fatalf("seed %d: %d in the heap, want %d", seed, len(heap), len(due))
			}
		}
	}
}

// A number finds its socket while it has it, and nobody afterwards, also when another socket has the number.
func TestTable(t *testing.T) {
	var all table
	a, b, c := &Socket{}, &Socket{}, &Socket{}
	na, ea := all.add(a)
	nb, eb := all.add(b)
	all.remove(na)
	nc, ec := all.add(c)
	if nc != na || ec == ea {
		t.Errorf("number %d edition %d, want %d again in another edition than %d", nc, ec, na, ea)
	}
	got := []*Socket{all.get(na, ea), all.get(nb, eb), all.get(nc, ec), all.get(bellSlot, 0), all.get(nb+1, 0)}
	if want := []*Socket{nil, b, c, nil, nil}; !slices.Equal(got, want) {
		t.Errorf("got %p, want %p", got, want)
	}
	all.remove(nc)
	all.slots[nc].edition = 1<<31 - 1
	last, edition := all.add(a)
	all.remove(last)
	if _, next := all.add(b); next == edition || all.get(last, edition) != nil || all.get(last, next) != b {
		t.Error("the editions do not go round")
	}
}
