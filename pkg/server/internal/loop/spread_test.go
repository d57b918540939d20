package loop_test

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scalws/scalws/pkg/server/internal/loop"
)

// Of two busy loops on one processor the later one leaves, for one that no busy loop uses.
func TestClashes(t *testing.T) {
	loops := start(t, 3).Loops()
	for _, l := range loops {
		until(t, "the loops to have nothing to do", l.Sleeps)
	}
	const now = int64(1 << 40)
	const idle = now - loop.BusyFor
	for _, c := range []struct {
		what    string
		cpus    [3]int
		shown   [3]int64
		clashes [3]bool
		free    []int // of 0 to 3
	}{
		{"each has its own", [3]int{0, 1, 2}, [3]int64{now, now, now}, [3]bool{}, []int{3}},
		{"two share", [3]int{1, 0, 1}, [3]int64{now, now, now}, [3]bool{2: true}, []int{2, 3}},
		{"all share", [3]int{2, 2, 2}, [3]int64{now, now, now}, [3]bool{1: true, 2: true}, []int{0, 1, 3}},
		{"a little ago", [3]int{1, 1, 0}, [3]int64{idle + 1, now, now}, [3]bool{1: true}, []int{2, 3}},
		{"the other is idle", [3]int{1, 1, 0}, [3]int64{idle, now, now}, [3]bool{}, []int{2, 3}},
		{"an idle one's is free", [3]int{1, 2, 1}, [3]int64{now, idle, now}, [3]bool{2: true}, []int{0, 2, 3}},
		{"one has not looked yet", [3]int{-1, 3, 3}, [3]int64{now, now, now}, [3]bool{2: true}, []int{0, 1, 2}},
	} {
		for i, l := range loops {
			l.Pretend(c.cpus[i], c.shown[i], true)
		}
		for i, l := range loops {
			if got := l.Clashes(c.cpus[i], now); got != c.clashes[i] {
				t.Errorf("%s: loop %d: %v, want %v", c.what, i, got, c.clashes[i])
			}
		}
		if got, want := loops[2].Free(set(0, 1, 2, 3), now), set(c.free...); got != want {
			t.Errorf("%s: free are %v, want %v", c.what, got, want)
		}
	}
	loops[0].Pretend(0, now, false)
	if loops[1].Clashes(0, now) {
		t.Error("leaves for a loop that waits for sockets")
	}
}

// The thread is elsewhere then, and may go wherever it was allowed to before.
func TestMoveToProcessor(t *testing.T) {
	runtime.LockOSThread() // it ends with this goroutine
	allowed, cpus := processors(t)
	arrived := 0
	for range rounds {
		there := cpus[0]
		if there == loop.Processor() {
			there = cpus[1]
		}
		if err := loop.Move(set(there), allowed); err != nil {
			t.Fatal(err)
		}
		if loop.Processor() == there {
			arrived++
		}
	}
	if arrived < most {
		t.Errorf("arrived %d times of %d", arrived, rounds)
	}
	if now, _ := processors(t); now != allowed {
		t.Errorf("allowed are %v, want %v", now, allowed)
	}

	one := set(cpus[1])
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	if err := loop.Move(one, one); err != nil {
		t.Fatal(err)
	}
	var now unix.CPUSet
	if err := unix.SchedGetaffinity(0, &now); err != nil || now != one {
		t.Errorf("allowed are %v, %v; want what was chosen, %v", now, err, one)
	}
	if err := loop.Move(set(), one); err == nil {
		t.Error("moved to nowhere")
	}
}

// A loop that has found another one on its processor often enough is elsewhere before it goes on.
func TestSpread(t *testing.T) {
	processors(t)
	loops := start(t, 2).Loops()
	until(t, "the first loop to have nothing to do", loops[0].Sleeps)
	l, moved := loops[1], 0
	for range rounds {
		var was, is int
		done := make(chan struct{})
		l.NewTask(func() {
			was = loop.Processor()
			loops[0].Pretend(was, l.Clock(), true)
			l.Unsettle()
			l.NewTask(func() { is = loop.Processor(); close(done) }).Begin() // in the next round, which is at once
		}).Begin()
		<-done
		if is != was {
			moved++
		}
	}
	if moved < most {
		t.Errorf("moved %d times of %d", moved, rounds)
	}
}

// The system may have its own mind at any time, but not always the opposite one.
const rounds, most = 40, 30

// processors are those that this thread may use, if there are several.
func processors(t *testing.T) (unix.CPUSet, []int) {
	t.Helper()
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Skip(err)
	}
	var cpus []int
	for cpu := 0; len(cpus) < allowed.Count(); cpu++ {
		if allowed.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	if len(cpus) < 2 {
		t.Skip("one processor")
	}
	return allowed, cpus
}

func set(cpus ...int) unix.CPUSet {
	var s unix.CPUSet
	for _, cpu := range cpus {
		s.Set(cpu)
	}
	return s
}
