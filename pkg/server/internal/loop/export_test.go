package loop

import "golang.org/x/sys/unix"

// BusyFor is how long after a round its loop counts as busy.
const BusyFor = busyFor

var (
	Processor = processor
	Move      = move
)

// Loops are the loops by index.
func (g *Group) Loops() []*Loop { return g.loops }

// Pretend has others see the loop in a round on a processor, as of a time, or after one.
func (l *Loop) Pretend(cpu int, now int64, awake bool) {
	l.cpu.Store(int32(cpu))
	l.shown.Store(now)
	l.awake.Store(awake)
}

// Unsettle has the loop look at its processor in its next round, for the last time before it moves. It is for tasks.
func (l *Loop) Unsettle() { l.settled, l.met = 0, meetings-1 }

// Clock is what a loop's rounds are counted by.
func (l *Loop) Clock() int64 { return l.clock() }

// Clashes is true where the loop would leave a processor.
func (l *Loop) Clashes(cpu int, now int64) bool { return l.clashes(cpu, now) }

// Free are those processors that it would go to.
func (l *Loop) Free(allowed unix.CPUSet, now int64) unix.CPUSet { return l.free(allowed, now) }

// Slice is the slice that the loops ask for.
const Slice = slice

// Sleeps is true while the loop waits for sockets alone: no clock will end its wait.
func (l *Loop) Sleeps() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asleep && l.until == 0
}

// Asleep is true while the loop waits, for whatever.
func (l *Loop) Asleep() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asleep
}

// Load is how many sockets the loop has that were accepted.
func (l *Loop) Load() int { return int(l.load.Load()) }
