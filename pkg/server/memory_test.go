package server

import (
	"runtime/debug"
	"testing"
)

// What a peak has left behind goes back to the system, and what is in use is not collected again and again.
func TestMemoryOfAPeakIsGivenBack(t *testing.T) {
	const piece, pieces = 1 << 20, 128
	peak := make([][]byte, pieces)
	for i := range peak {
		peak[i] = make([]byte, piece)
	}
	debug.FreeOSMemory() // what other tests have left
	m := newMemory()
	most := m.read()
	looks := func(n int) (collections uint64) {
		before := m.cycles
		for range n {
			m.look()
		}
		return m.cycles - before
	}
	if got := looks(peakOver - 1); got != 0 {
		t.Errorf("%d collections at once", got)
	}
	if got := looks(1); got != 2 {
		t.Errorf("%d collections for what may be a peak, want 2", got)
	}
	if got := looks(inVain - 1); got != 0 {
		t.Errorf("%d collections while all is in use", got)
	}
	clear(peak)
	if got := looks(1); got != 2 {
		t.Errorf("%d collections after the peak, want 2", got)
	}
	left := m.read()
	if left > most-pieces*piece*3/4 {
		t.Errorf("%d bytes are left of %d", left, most)
	}
	if got := looks(2 * inVain); left < littleMemory && got != 0 {
		t.Errorf("%d collections of %d bytes", got, left)
	}
}
