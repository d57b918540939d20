package loop

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// Two busy loops on one processor wait for each other, and all their connections with them, while another processor may
// do what could as well be done here. The system leaves them there for many milliseconds: to it they are two threads
// like any. So a loop that finds again and again that another one waits for its processor moves to one that no loop uses.
//
// It is moved, not bound: whoever else needs this processor may push it away again. And once is not often: loops that
// wake each other, to hand over new connections, are best off close to each other.

const (
	// lookDelay is how often a busy loop looks at where it is.
	lookDelay = int64(time.Millisecond)
	// meetings is how many looks in a row have to find the same before the loop moves.
	meetings = 3
	// moveDelay is how long a loop stays, at least, where it went: the others have looked by then.
	moveDelay = 5 * lookDelay
	// busyFor is how long after a round has begun its loop still counts as busy.
	busyFor = moveDelay
)

// nowhere is the processor of a loop that has not looked yet, or cannot.
const nowhere = -1

// spread moves the loop if it shares its processor. Where the system does not let it, it does not ask again.
func (l *Loop) spread(now int64) {
	if now < l.settled {
		return
	}
	l.settled = now + lookDelay
	cpu := processor()
	l.cpu.Store(int32(cpu))
	if !l.clashes(cpu, now) {
		l.met = 0
		return
	}
	if l.met++; l.met < meetings {
		return
	}
	l.met, l.settled = 0, now+moveDelay
	if err := l.leave(now); err != nil {
		l.settled = math.MaxInt64
	}
}

// clashes is true where an earlier loop of the group is in a round on this processor, so that it waits for it. Of two loops,
// one moves.
func (l *Loop) clashes(cpu int, now int64) bool {
	for _, p := range l.peers[:l.index] {
		if p.awake.Load() && p.busy(now) && int(p.cpu.Load()) == cpu {
			return true
		}
	}
	return false
}

// leave moves the loop to another processor, if there is one for it.
func (l *Loop) leave(now int64) error {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return err
	}
	free := l.free(allowed, now)
	if free.Count() == 0 {
		return nil
	}
	if err := move(free, allowed); err != nil {
		return err
	}
	l.cpu.Store(int32(processor()))
	return nil
}

// free are those processors that no busy loop uses.
func (l *Loop) free(allowed unix.CPUSet, now int64) unix.CPUSet {
	for _, p := range l.peers {
		if p.busy(now) {
			allowed.Clear(int(p.cpu.Load()))
		}
	}
	return allowed
}

// busy is true where the loop is known to use a processor.
func (l *Loop) busy(now int64) bool { return l.cpu.Load() != nowhere && now-l.shown.Load() < busyFor }

// move moves this thread to one of the processors and lets it go on from there to all that were allowed to it.
func move(there, allowed unix.CPUSet) error {
	if err := unix.SchedSetaffinity(0, &there); err != nil {
		return err
	}
	// What was allowed is what somebody chose for this thread, or else what its control group has, which may come to have
	// more. The latter is what is left of all processors.
	var all, left unix.CPUSet
	all.Fill()
	err := unix.SchedSetaffinity(0, &all)
	if err == nil {
		err = unix.SchedGetaffinity(0, &left)
	}
	if err == nil && left == allowed {
		return nil
	}
	return unix.SchedSetaffinity(0, &allowed)
}
