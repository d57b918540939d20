package loop

import (
	"fmt"
	"iter"
	"runtime/debug"
)

// Task is a function that runs on a loop. It may wait for sockets that are bound to it, and end and be run again.
type Task struct {
	run   func()
	loop  *Loop
	fiber *fiber // nil before it begins and after it has ended
	spent int    // reads and writes since it last waited
}

// NewTask makes a task of l that has not begun.
func (l *Loop) NewTask(run func()) *Task { return &Task{run: run, loop: l} }

// Loop is where the task runs.
func (t *Task) Loop() *Loop { return t.loop }

// Begin runs the task. It neither runs nor waits. Begin may be called from anywhere.
func (t *Task) Begin() { t.loop.post(t) }

// Aside runs f on a goroutine of its own, where it may block, while the task waits for its end. Sockets that f uses
// are bound to no task meanwhile.
func (t *Task) Aside(f func()) {
	go func() {
		f()
		t.loop.post(t)
	}()
	t.loop.roused = true
	t.pause()
}

// pause leaves the loop to others until the task is made ready.
func (t *Task) pause() { t.fiber.yield(struct{}{}) }

// mostTurns is how much a task reads and writes at once while others wait: two pieces of a long answer.
const mostTurns = 4

// took counts a read or a write, and lets the other tasks run where it is the turn of one of them.
func (t *Task) took() {
	if t.spent++; t.spent >= mostTurns {
		t.loop.again = append(t.loop.again, t)
		t.pause()
	}
}

// fiber is a coroutine that runs tasks, one after the other: its stack has grown to what they need.
type fiber struct {
	task   *Task
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

const (
	// fewResting is how many fibers rest for ever.
	fewResting = 1
	// restTime is how long the others do, in nanoseconds.
	restTime = 1e9
)

// thin ends fibers that have rested for a while.
func (l *Loop) thin(now int64) {
	if now < l.look {
		return
	}
	for range min(l.unused, len(l.resting)-fewResting) {
		last := len(l.resting) - 1
		l.resting[last].stop()
		l.resting[last] = nil
		l.resting = l.resting[:last]
	}
	l.unused, l.look = len(l.resting), now+restTime
}

// fiber is one that rests, or a new one.
func (l *Loop) fiber() *fiber {
	if last := len(l.resting) - 1; last >= 0 {
		f := l.resting[last]
		l.resting[last] = nil
		l.resting = l.resting[:last]
		l.unused = min(l.unused, last)
		return f
	}
	f := &fiber{}
	f.resume, f.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer keepStack()
		f.yield = yield
		for more := true; more; {
			for t := f.task; t != nil; t = l.nextNew(f) {
				t.run()
				t.fiber, f.task = nil, nil
			}
			more = yield(struct{}{})
		}
	})
	return f
}

// nextNew is the next task, if it has not begun: the fiber that has just ended one begins it without a way through the
// loop.
func (l *Loop) nextNew(f *fiber) *Task {
	if l.turn == len(l.ready) || l.ready[l.turn].fiber != nil {
		return nil
	}
	t := l.ready[l.turn]
	l.turn++
	t.fiber, f.task, t.spent = f, t, 0
	return t
}

// panicked is what a task ended the process with. The loop's own stack, on which it comes out, says nothing about it.
type panicked struct {
	value any
	stack []byte
}

// Error is the value and where it came from.
func (p *panicked) Error() string { return fmt.Sprintf("%v\n\nin a task:\n%s", p.value, p.stack) }

func keepStack() {
	if value := recover(); value != nil {
		panic(&panicked{value, debug.Stack()})
	}
}
