package server

import (
	"runtime/debug"
	"runtime/metrics"
)

// memory gives back to the system what a peak has left behind. The garbage collector goes by what is allocated, and in
// steady state the data plane allocates nothing: left to itself it comes by every two minutes, and what lies in pools it
// takes when it comes for the second time.
type memory struct {
	samples []metrics.Sample
	cycles  uint64 // of the garbage collector, at the last look
	quiet   int    // looks in a row that have found no new one
	pause   int    // how many of them it takes
}

const (
	// peakOver is how many looks without a garbage collection there are before one is ordered: where there is one
	// anyway, now and then, it does the same.
	peakOver = 5
	// inVain is their number after one that gave back little: what there is is in use.
	inVain = 60
	// littleMemory is not worth it, in bytes.
	littleMemory = 64 << 20
)

func newMemory() *memory {
	return &memory{pause: peakOver, samples: []metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}}
}

// look is to be called once a second.
func (m *memory) look() {
	before := m.read()
	if m.quiet < m.pause || before < littleMemory {
		return
	}
	debug.FreeOSMemory() // collects
	debug.FreeOSMemory() // and once more, what lay in pools
	m.pause = peakOver
	if after := m.read(); after > before-before/4 {
		m.pause = inVain
	}
}

// read is what the daemon has of the system's memory, in bytes.
func (m *memory) read() uint64 {
	metrics.Read(m.samples)
	m.quiet++
	if cycles := m.samples[0].Value.Uint64(); cycles != m.cycles {
		m.cycles, m.quiet = cycles, 0
	}
	return m.samples[1].Value.Uint64() - m.samples[2].Value.Uint64()
}
