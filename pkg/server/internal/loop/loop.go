// Package loop is what waits for sockets: a few loops, each with an epoll instance of its own, and tasks that run on a
// loop until they would have to wait.
//
// A task is written as if it blocked. It runs on a coroutine; where a read or a write has to wait, the coroutine is
// left and the loop goes on with the next task. That costs less than waking a goroutine, and what became ready together
// is served together, so that nothing between two requests asks the scheduler. The price is that a task must not block
// in any other way: what has to goes Aside.
package loop

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Group is a set of loops that share the work.
type Group struct {
	loops []*Loop
	began time.Time // the zero of the loops' clocks
	turn  atomic.Uint32
	done  sync.WaitGroup
	over  sync.Once
}

// Start starts n loops; 0: as many as Go uses processors.
func Start(n int) (*Group, error) {
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	g := &Group{began: time.Now()}
	for range n {
		l, err := open()
		if err != nil {
			g.Close()
			return nil, fmt.Errorf("starting loop: %w", err)
		}
		l.index, l.began = len(g.loops), g.began
		g.loops = append(g.loops, l)
	}
	for _, l := range g.loops {
		l.peers = g.loops
		g.done.Go(l.run)
	}
	return g, nil
}

// Len is the number of loops.
func (g *Group) Len() int { return len(g.loops) }

// Pick is the loop with the fewest accepted sockets.
func (g *Group) Pick() *Loop {
	best := g.Any()
	for _, l := range g.loops {
		if l.load.Load() < best.load.Load() {
			best = l
		}
	}
	return best
}

// Any takes the loops in turn.
func (g *Group) Any() *Loop { return g.loops[int(g.turn.Add(1))%len(g.loops)] }

// Close ends the loops. No task and no socket is used any more. A second one does nothing.
func (g *Group) Close() error {
	g.over.Do(g.end)
	return nil
}

func (g *Group) end() {
	for _, l := range g.loops {
		l.mu.Lock()
		l.closed = true
		l.rouse()
		l.mu.Unlock()
	}
	g.done.Wait()
	for _, l := range g.loops {
		l.mu.Lock()
		unix.Close(l.epoll)
		unix.Close(l.bell)
		l.epoll, l.bell = -1, -1
		l.mu.Unlock()
	}
}

// Loop waits for its sockets and runs its tasks, one at a time.
type Loop struct {
	epoll int
	bell  int // an eventfd that ends the wait
	index int
	began time.Time
	load  atomic.Int32 // sockets that were accepted
	shown atomic.Int64 // now, for everybody
	awake atomic.Bool  // in a round
	cpu   atomic.Int32 // the processor, when it last looked
	peers []*Loop      // all of the group, by index

	// What follows belongs to the loop's goroutine.
	events  [256]unix.EpollEvent
	found   []event
	due     []*Socket
	round   uint64
	now     time.Time // when the round began
	ready   []*Task   // to run in this round
	turn    int       // how many of them have
	again   []*Task   // to run in the next one
	fresh   []*Task   // space for sort
	resting []*fiber
	unused  int   // how many have rested since the last look at them
	look    int64 // when the next one is due
	roused  bool  // goroutines were made ready to run
	settled int64 // when it looks at its processor again
	met     int   // looks in a row that found another loop there

	mu     sync.Mutex
	posted []*Task // made ready by others
	asleep bool    // in a wait that the bell has to end
	until  int64   // when that wait ends anyway; 0: never
	closed bool
	table  table
	timers timers
}

// event is what happened to a socket.
type event struct {
	s    *Socket
	what uint32
}

func open() (*Loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epoll)
		return nil, err
	}
	err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, bell, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: bellSlot})
	if err != nil {
		unix.Close(epoll)
		unix.Close(bell)
		return nil, err
	}
	l := &Loop{epoll: epoll, bell: bell}
	l.shown.Store(1) // the past has passed
	l.cpu.Store(nowhere)
	return l, nil
}

// Now is when this round of the loop began. It is for tasks: nothing that they have found was there later.
func (l *Loop) Now() time.Time { return l.now }

// Index is the loop's place in its group, from 0.
func (l *Loop) Index() int { return l.index }

func (l *Loop) run() {
	// Go takes the processor away from who has had it for 10 ms, and may go on with the loop on another thread: that one
	// has just woken up, and the system lets it wait for milliseconds.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	askForShortSlices()
	for l.collect() {
		l.ready, l.again = append(l.ready, l.again...), l.again[:0]
		l.sort()
		for l.turn = 0; l.turn < len(l.ready); {
			t := l.ready[l.turn]
			l.turn++
			l.step(t)
		}
		clear(l.ready)
		l.ready = l.ready[:0]
	}
	for _, f := range l.resting {
		f.stop()
	}
}

// sort puts tasks that have begun before those that have not, which otherwise take their turns as they became ready. What the
// first are about has waited longer, and when they end they leave their fibers, warm, to the others.
func (l *Loop) sort() {
	begun := l.ready[:0]
	for _, t := range l.ready {
		if t.fiber != nil {
			begun = append(begun, t)
		} else {
			l.fresh = append(l.fresh, t)
		}
	}
	l.ready = append(begun, l.fresh...)
	clear(l.fresh)
	l.fresh = l.fresh[:0]
}

// collect waits until there is something to do and gathers it. It is false at the end.
func (l *Loop) collect() bool {
	if l.roused {
		// They may be queued behind this goroutine, which is about to leave the processor without saying so.
		l.roused = false
		runtime.Gosched()
	}
	n := l.wait()
	l.awake.Store(true)
	l.round++

	l.mu.Lock()
	l.asleep = false
	for i := range l.events[:n] {
		e := &l.events[i]
		if e.Fd == bellSlot {
			l.hush()
		} else if s := l.table.get(e.Fd, e.Pad); s != nil {
			l.found = append(l.found, event{s, e.Events})
		}
	}
	l.ready = append(l.ready, l.posted...)
	clear(l.posted)
	l.posted = l.posted[:0]
	l.now = time.Now()
	now := l.at(l.now)
	l.shown.Store(now)
	l.due = l.timers.pop(now, l.due)
	closed := l.closed
	l.mu.Unlock()
	l.thin(now)
	l.spread(now)

	for i, e := range l.found {
		e.s.happened(l, e.what)
		l.found[i] = event{}
	}
	l.found = l.found[:0]
	for i, s := range l.due {
		s.rang(l, now)
		l.due[i] = nil
	}
	l.due = l.due[:0]
	return !closed
}

// wait waits for events.
func (l *Loop) wait() int {
	l.mu.Lock()
	timeout := -1
	l.until = 0
	switch {
	case len(l.again) > 0 || len(l.posted) > 0 || l.closed:
		timeout = 0
	default:
		if len(l.timers) > 0 {
			l.until = l.timers[0].rings
		}
		if len(l.resting) > fewResting {
			l.until = soonest(l.until, l.look)
		}
		if l.until != 0 {
			timeout = int(max(0, min((l.until-l.clock()+int64(time.Millisecond)-1)/int64(time.Millisecond), 1<<30)))
		}
	}
	l.asleep = timeout != 0
	l.mu.Unlock()
	if timeout != 0 {
		l.awake.Store(false)
	}
	n, err := epollWait(l.epoll, l.events[:], timeout)
	if err != 0 && err != syscall.EINTR {
		panic(fmt.Sprintf("waiting for sockets: %v", err)) // the descriptor is ours: cannot happen
	}
	return max(n, 0)
}

// step runs a task until it waits or is over.
func (l *Loop) step(t *Task) {
	f := t.fiber
	if f == nil {
		f = l.fiber()
		f.task, t.fiber = t, f
	}
	t.spent = 0
	f.resume()
	if f.task == nil {
		l.resting = append(l.resting, f)
	}
}

// post has a task run that somebody else made ready.
func (l *Loop) post(t *Task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.posted = append(l.posted, t)
	l.rouse()
}

// rouse ends the wait. The caller holds mu.
func (l *Loop) rouse() {
	if !l.asleep {
		return
	}
	l.asleep = false
	one := [8]byte{1}
	unix.Write(l.bell, one[:]) // fails only where it has been rung 2^64 times
}

func (l *Loop) hush() {
	var count [8]byte
	unix.Read(l.bell, count[:])
}

// arm has s looked at no later than at a time.
func (l *Loop) arm(s *Socket, at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timers.set(s, at)
	if l.until == 0 || at < l.until {
		l.rouse()
	}
}

// clock is the time since the loops began, in nanoseconds, at least 1.
func (l *Loop) clock() int64 { return l.at(time.Now()) }

// at is a time as the loops count it; what lies before them is 1. The furthest future is as far as the count goes.
func (l *Loop) at(t time.Time) int64 { return min(max(int64(t.Sub(l.began)), 0), math.MaxInt64-1) + 1 }
