package journal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/lb"
)

// daemon is some pools and the journal over them.
type daemon struct {
	t     *testing.T
	seq   *lb.Sequence
	pools []*lb.Pool
	*Journal
}

func newDaemon(t *testing.T, names ...string) *daemon { return newDaemonKeeping(t, 1000, names...) }

// newDaemonKeeping has pools that keep so many events.
func newDaemonKeeping(t *testing.T, events int, names ...string) *daemon {
	t.Helper()
	d := &daemon{t: t, seq: new(lb.Sequence)}
	for _, name := range names {
		p, err := lb.NewPool(lb.Options{Name: name, Settings: lb.DefaultSettings(), Seq: d.seq, Events: events, Now: time.Unix(0, 0)})
		if err != nil {
			t.Fatal(err)
		}
		d.pools = append(d.pools, p)
	}
	d.Journal = New(d.seq, func(since uint64) []lb.Event {
		var all []lb.Event
		for _, p := range d.pools {
			all = append(all, p.Events(since)...)
		}
		return all
	})
	return d
}

// set gives a pool n members, which are n events at first.
func (d *daemon) set(pool, n int) {
	list := make([]lb.Member, n)
	for i := range list {
		list[i] = lb.Member{Address: fmt.Sprintf("m%d:80", i), Weight: 1}
	}
	d.pools[pool].Replace(time.Unix(int64(n), 0), list, "test")
}

// texts are events as "seq pool kind".
func texts(events []lb.Event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = strings.Join(strings.Fields(fmt.Sprintf("%d %s %s", e.Seq, e.Pool, e.Kind)), " ")
	}
	return out
}

func (d *daemon) expect(since uint64, want ...string) {
	d.t.Helper()
	events, _ := d.Since(since)
	if diff := cmp.Diff(append([]string{}, want...), texts(events)); diff != "" {
		d.t.Errorf("after %d (-want +got):\n%s", since, diff)
	}
}

func TestOneOrder(t *testing.T) {
	d := newDaemon(t, "a", "b")
	d.expect(0)
	d.set(1, 1)
	d.set(0, 1)
	d.set(1, 2)
	d.expect(0, "1 b member_added", "2 a member_added", "3 b member_added")
	d.expect(2, "3 b member_added")
	d.expect(3)
	d.expect(99)
	d.set(0, 0)
	d.expect(3, "4 a member_removed")
}

// What a pool has dropped before anybody looked is a gap in its place.
func TestGapOfAPool(t *testing.T) {
	d := newDaemonKeeping(t, 8, "a", "b")
	d.set(1, 1)
	d.set(0, 10) // the pool keeps 8
	d.expect(0, append([]string{"1 b member_added", "3 a gap"}, numbered("a member_added", 4, 11)...)...)
	d.expect(3, numbered("a member_added", 4, 11)...)
}

// What the journal has dropped is a gap in front, which is not one of a pool.
func TestGapOfTheJournal(t *testing.T) {
	d := newDaemon(t, "a", "b")
	d.size = 4
	d.set(0, 3)
	d.expect(0, numbered("a member_added", 1, 3)...)
	d.set(1, 3)
	d.expect(0, "2 gap", "3 a member_added", "4 b member_added", "5 b member_added", "6 b member_added")
	d.expect(1, "2 gap", "3 a member_added", "4 b member_added", "5 b member_added", "6 b member_added")
	d.expect(2, "3 a member_added", "4 b member_added", "5 b member_added", "6 b member_added")
	d.expect(5, "6 b member_added")
}

// Events outlive their pool if something is recorded before it goes.
func TestRecord(t *testing.T) {
	d := newDaemon(t, "a")
	d.set(0, 1)
	d.Record(lb.Event{Kind: "pool_removed", Pool: "a"})
	d.pools = nil
	d.Record(lb.Event{Kind: "reload"})
	d.expect(0, "1 a member_added", "2 a pool_removed", "3 reload")
}

func numbered(what string, from, to int) []string {
	var all []string
	for n := from; n <= to; n++ {
		all = append(all, fmt.Sprintf("%d %s", n, what))
	}
	return all
}

// A reader is woken within a period, and told of the end after the last event.
func TestRunWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t, "a")
		ctx, stop := context.WithCancel(t.Context())
		go d.Run(ctx)
		_, more := d.Since(0)
		d.set(0, 1)
		begun := time.Now()
		<-more
		if waited := time.Since(begun); waited > Period {
			t.Errorf("woken after %v", waited)
		}
		d.expect(0, "1 a member_added")
		_, more = d.Since(1)
		d.set(0, 2)
		stop()
		<-d.Done()
		select {
		case <-more:
		default:
			t.Error("what came last did not wake")
		}
		d.expect(1, "2 a member_added")
	})
}

// However many write and read at once, every reader sees every number once and in order.
func TestOrderUnderConcurrency(t *testing.T) {
	d := newDaemon(t, "a", "b", "c")
	const rounds = 200
	ctx, stop := context.WithCancel(t.Context())
	var writers, readers sync.WaitGroup
	readers.Go(func() { d.Run(ctx) })
	for pool := range d.pools {
		writers.Go(func() {
			for n := range rounds {
				d.set(pool, n%2)
			}
		})
	}
	writers.Go(func() {
		for range rounds {
			d.Record(lb.Event{Kind: "reload"})
		}
	})
	for range 3 {
		readers.Go(func() {
			var seen uint64
			for ended := false; ; {
				events, more := d.Since(seen)
				for _, e := range events {
					if e.Seq != seen+1 {
						t.Errorf("%d %s comes after %d", e.Seq, e.Kind, seen)
					}
					seen = e.Seq
				}
				if ended {
					if last := d.seq.Last(); seen != last {
						t.Errorf("the last seen is %d of %d", seen, last)
					}
					return
				}
				select {
				case <-more:
				case <-d.Done():
					ended = true
				}
			}
		})
	}
	writers.Wait()
	stop()
	readers.Wait()
	if events, _ := d.Since(0); !slices.IsSortedFunc(events, func(a, b lb.Event) int { return int(a.Seq) - int(b.Seq) }) {
		t.Error("not sorted")
	}
}
