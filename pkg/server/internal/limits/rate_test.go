package limits

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"
)

// epoch is when the tests begin; it has a monotonic clock as in a daemon.
func epoch() time.Time { return time.Now() }

// story takes a request of one key at each of the times, in milliseconds, and says what came of it: a dot, or how long
// to wait.
func story(s RateSettings, times ...int) string {
	began := epoch()
	r := NewRate(s, began)
	var all []string
	for _, ms := range times {
		v := r.Take(began.Add(time.Duration(ms)*time.Millisecond), 1)
		if v.OK {
			all = append(all, ".")
		} else {
			all = append(all, v.Wait.String())
		}
	}
	return strings.Join(all, " ")
}

func TestRate(t *testing.T) {
	tests := []struct {
		name  string
		s     RateSettings
		times []int
		want  string
	}{
		{"a burst, then one at a time", RateSettings{10, time.Second, 3}, []int{0, 0, 0, 0, 99, 100, 150, 200}, ". . . 100ms 1ms . 50ms ."},
		{"what is refused costs nothing", RateSettings{1, time.Second, 1}, []int{0, 500, 999, 1000}, ". 500ms 1ms ."},
		{"a pause earns the burst and no more", RateSettings{10, time.Second, 2}, []int{0, 0, 9000, 9000, 9000}, ". . . . 100ms"},
		{"a third of a second is rounded up", RateSettings{3, time.Second, 1}, []int{0, 333, 334, 668}, ". 333.334µs . ."},
		{"a larger burst than the rate", RateSettings{1, time.Hour, 3}, []int{0, 0, 0, 0}, ". . . 1h0m0s"},
		{"before it was made", RateSettings{1, time.Second, 1}, []int{-5, 0, 1000}, ". 1s ."},
		{"the largest of all", RateSettings{1, time.Hour, 1_000_000}, []int{0, 0, 1}, ". . ."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := story(tt.s, tt.times...); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// bucket is the textbook's token bucket, in parts of a token.
type bucket struct {
	tokens, most, interval int64
	last                   time.Time
}

func (b *bucket) take(now time.Time) bool {
	b.tokens = min(b.tokens+int64(now.Sub(b.last)), b.most)
	b.last = now
	if b.tokens < b.interval {
		return false
	}
	b.tokens -= b.interval
	return true
}

// A token bucket that is filled by the clock decides the same, whatever comes, and a client that waits as long as it
// was told is let through, and not earlier.
func TestRateIsATokenBucket(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := RateSettings{Requests: 1 + random.IntN(50), Per: time.Duration(1+random.IntN(9)) * time.Second, Burst: 1 + random.IntN(20)}
		now := epoch()
		r := NewRate(s, now)
		b := bucket{tokens: s.interval() * int64(s.Burst), most: s.interval() * int64(s.Burst), interval: s.interval(), last: now}
		for range 500 {
			v := r.Take(now, 7)
			if want := b.take(now); v.OK != want {
				t.Fatalf("%+v: got %+v, the bucket says %v", s, v, want)
			}
			step := time.Duration(random.Int64N(2 * s.interval()))
			if !v.OK && random.IntN(2) == 0 {
				if r.Take(now.Add(v.Wait-1), 7).OK {
					t.Fatalf("%+v: let through before %v", s, v.Wait)
				}
				step = v.Wait
				if early := now.Add(step); !b.peek(early) {
					t.Fatalf("%+v: told to wait %v, which is too short", s, v.Wait)
				}
			}
			now = now.Add(step)
		}
	}
}

func (b bucket) peek(now time.Time) bool { return b.take(now) }

func TestKeysCountAlone(t *testing.T) {
	now := epoch()
	r := NewRate(RateSettings{1, time.Minute, 1}, now)
	taken := func(k Key) bool { return r.Take(now, k).OK }
	addr := func(s string) Key { return r.AddrKey(netip.MustParseAddr(s)) }
	for _, tt := range []struct {
		name string
		key  Key
		want bool
	}{
		{"a client", addr("192.0.2.1"), true},
		{"the same, mapped", addr("::ffff:192.0.2.1"), false},
		{"its neighbour", addr("192.0.2.2"), true},
		{"an IPv6 network", addr("2001:db8:0:1::1"), true},
		{"another host of it", addr("2001:db8:0:1:ffff::9"), false},
		{"the next network", addr("2001:db8:0:2::1"), true},
		{"no address", r.AddrKey(netip.Addr{}), true},
		{"no text is the same", r.TextKey(nil), false},
		{"a text", r.TextKey([]byte("a")), true},
		{"another text", r.TextKey([]byte("b")), true},
		{"the text again", r.TextKey([]byte("a")), false},
		{"the key 0", 0, true},
		{"the key 0 again", 0, false},
	} {
		if got := taken(tt.key); got != tt.want {
			t.Errorf("%s: let through %v, want %v", tt.name, got, tt.want)
		}
	}
	if s := r.State(); s.Refused != 5 {
		t.Errorf("%d refused, want 5", s.Refused)
	}
}

// A flood of a million clients takes no more than 16 MiB, pushes out none that sends much, and the memory comes back
// when it is over.
func TestFlood(t *testing.T) {
	now := epoch()
	r := NewRate(RateSettings{10, time.Minute, 10}, now)
	before := heap()
	busy := r.TextKey([]byte("busy"))
	for range 10 {
		r.Take(now, busy)
	}
	for i := range 3_000_000 {
		r.Take(now, r.TextKey(binary.LittleEndian.AppendUint32(nil, uint32(i))))
		if i%100_000 == 0 && r.Take(now, busy).OK {
			t.Fatalf("after %d others, who had taken all was forgotten", i)
		}
	}
	if grown := int64(heap()) - int64(before); grown > 17<<20 {
		t.Errorf("%d bytes for what the flood left", grown)
	}
	if s := r.State(); s.Keys > MaxKeys || s.Keys < MaxKeys*9/10 {
		t.Errorf("%d keys are remembered, at most %d", s.Keys, MaxKeys)
	}
	r.Forget(now.Add(30 * time.Second))
	if r.Take(now.Add(3*time.Second), busy).OK {
		t.Error("forgotten while there was something to remember")
	}
	r.Forget(now.Add(2 * time.Minute))
	if s := r.State(); s.Keys != 0 {
		t.Errorf("%d keys after all have earned again what they took", s.Keys)
	}
	if grown := int64(heap()) - int64(before); grown > 1<<20 {
		t.Errorf("%d bytes are held for nothing", grown)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Below the bound nobody is forgotten for another.
// A flood that is over leaves no memory behind, though somebody goes on who is short of requests, and stays so.
func TestForgetAfterAFlood(t *testing.T) {
	now := epoch()
	r := NewRate(RateSettings{1, time.Minute, 1}, now)
	for i := range 300_000 {
		r.Take(now, r.TextKey(binary.LittleEndian.AppendUint32(nil, uint32(i))))
	}
	before := heap()
	later := now.Add(59 * time.Second)
	var busy [2 * shards]Key
	for i := range busy {
		busy[i] = r.TextKey([]byte{byte(i)})
		r.Take(later, busy[i])
	}
	r.Forget(later.Add(10 * time.Second))
	if given := int64(before) - int64(heap()); given < 300_000*16 {
		t.Errorf("%d bytes were given back", given)
	}
	for _, k := range busy {
		if r.Take(later.Add(11*time.Second), k).OK {
			t.Error("somebody who is short was forgotten")
		}
	}
}

func TestNobodyIsForgottenBelowTheBound(t *testing.T) {
	now := epoch()
	r := NewRate(RateSettings{1, time.Minute, 1}, now)
	const n = 100_000
	key := func(i int) Key { return r.TextKey(fmt.Append(nil, i)) }
	for i := range n {
		if !r.Take(now, key(i)).OK {
			t.Fatalf("%d is refused although it is new", i)
		}
	}
	for i := range n {
		if r.Take(now, key(i)).OK {
			t.Fatalf("%d was forgotten", i)
		}
	}
}

func TestTakeAllocatesNothing(t *testing.T) {
	now := epoch()
	r := NewRate(RateSettings{100, time.Second, 10}, now)
	a := netip.MustParseAddr("2001:db8::1")
	for i := range 10_000 {
		r.Take(now, Key(i))
	}
	n := testing.AllocsPerRun(1000, func() {
		now = now.Add(time.Millisecond)
		r.Take(now, r.AddrKey(a))
	})
	if n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}

func BenchmarkTake(b *testing.B) {
	for _, keys := range []int{1, 1000, 1_000_000} {
		b.Run(fmt.Sprint(keys), func(b *testing.B) {
			now := epoch()
			r := NewRate(RateSettings{100, time.Second, 100}, now)
			list := make([]netip.Addr, keys)
			for i := range list {
				list[i] = netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, uint32(i))))
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				now = now.Add(time.Microsecond)
				r.Take(now, r.AddrKey(list[i]))
				if i++; i == keys {
					i = 0
				}
			}
		})
	}
}
