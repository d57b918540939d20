package lb

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// listOf is a list of n members with so many distinct weights, at most 1000.
func listOf(n, weights int) []Member {
	list := make([]Member, n)
	for i := range list {
		list[i] = Member{Address: fmt.Sprintf("10.%d.%d.%d:80", i>>16, i>>8&255, i&255), Weight: 1 + i%weights}
	}
	return list
}

func benchPool(tb testing.TB, b Balance, by HashBy, list []Member) *Pool {
	return newPool(tb, "", func(o *Options) {
		o.Settings.Balance, o.Settings.Hash.By, o.Members = b, by, list
	})
}

func numberKey(n int) Key {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	return TextKey(b[:])
}

// BenchmarkPick is one Pick and its Done.
func BenchmarkPick(b *testing.B) {
	for _, balance := range []Balance{RoundRobin, LeastConn} {
		for _, n := range []int{10, 100, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s/members=%d", balance, n), func(b *testing.B) {
				benchmarkPick(b, benchPool(b, balance, "", listOf(n, 5)), func(int) Key { return Key{} })
			})
		}
	}
	for _, n := range []int{10, 100, 1000, 10_000} {
		pool := benchPool(b, Hash, ByHeader, listOf(n, 5))
		b.Run(fmt.Sprintf("hash/members=%d", n), func(b *testing.B) {
			benchmarkPick(b, pool, func(i int) Key { return numberKey(i % 512) })
		})
		b.Run(fmt.Sprintf("hash_cold/members=%d", n), func(b *testing.B) {
			start := int(cold.Add(1) << 32)
			benchmarkPick(b, pool, func(i int) Key { return numberKey(start + i) })
		})
	}
	b.Run("cookie/members=10000", func(b *testing.B) {
		pool := benchPool(b, Hash, ByCookie, listOf(10_000, 5))
		token := []byte(pool.roster.Load().members[77].token)
		benchmarkPick(b, pool, func(int) Key {
			k, _ := pool.TokenKey(epoch, token)
			return k
		})
	})
	b.Run("round_robin/weights=1000", func(b *testing.B) {
		benchmarkPick(b, benchPool(b, RoundRobin, "", listOf(10_000, 1000)), func(int) Key { return Key{} })
	})
	b.Run("hash_cold/weights=1000", func(b *testing.B) {
		benchmarkPick(b, benchPool(b, Hash, ByHeader, listOf(10_000, 1000)), numberKey)
	})
}

// cold makes the keys of every run of a cold benchmark new ones.
var cold atomic.Int64

func benchmarkPick(b *testing.B, p *Pool, key func(i int) Key) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l, ok := p.Pick(epoch, key(i), nil)
		if !ok {
			b.Fatal("no member")
		}
		l.Done(epoch, Success())
	}
}

// BenchmarkRetry is two attempts of one request.
func BenchmarkRetry(b *testing.B) {
	for _, balance := range []Balance{RoundRobin, LeastConn} {
		for _, n := range []int{10, 10_000} {
			b.Run(fmt.Sprintf("%s/members=%d", balance, n), func(b *testing.B) {
				p := benchPool(b, balance, "", listOf(n, 5))
				b.ReportAllocs()
				for b.Loop() {
					var tried Tried
					for range 2 {
						l, _ := p.Pick(epoch, Key{}, &tried)
						l.Done(epoch, Success())
					}
				}
			})
		}
	}
}

// BenchmarkPickParallel is BenchmarkPick on all processors at once; ns/op is the time that one takes of
// the whole, so half the throughput is twice the single-threaded number.
func BenchmarkPickParallel(b *testing.B) {
	for _, balance := range []Balance{RoundRobin, LeastConn, Hash} {
		b.Run(string(balance)+"/members=1000", func(b *testing.B) {
			p := benchPool(b, balance, ByHeader, listOf(1000, 5))
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					l, _ := p.Pick(epoch, numberKey(i%512), nil)
					l.Done(epoch, Success())
				}
			})
		})
	}
}

func BenchmarkSplit(b *testing.B) {
	weights := make([]int, MaxBackends)
	for i := range weights {
		weights[i] = i * 10
	}
	s := NewSplit(weights)
	b.ReportAllocs()
	for b.Loop() {
		s.Next(func(i int) bool { return i == 5 })
	}
}

func BenchmarkReplace(b *testing.B) {
	p := benchPool(b, RoundRobin, "", listOf(10_000, 5))
	lists := [][]Member{listOf(10_000, 5), listOf(10_000, 7)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.Replace(epoch, lists[i%2], "bench")
	}
}

func BenchmarkNegLog2(b *testing.B) {
	var sum uint64
	for i := uint64(0); b.Loop(); i++ {
		sum += negLog2(i * golden)
	}
	sink.Store(sum)
}

var sink atomic.Uint64

// TestPickAllocatesNothing covers every way to choose and every outcome but an ejection, whose event
// keeps its evidence.
func TestPickAllocatesNothing(t *testing.T) {
	tests := []struct {
		name    string
		balance Balance
		by      HashBy
	}{
		{"round_robin", RoundRobin, ""},
		{"least_conn", LeastConn, ""},
		{"header", Hash, ByHeader},
		{"cookie", Hash, ByCookie},
	}
	for _, test := range tests {
		for _, n := range []int{3, 100} {
			t.Run(fmt.Sprintf("%s/members=%d", test.name, n), func(t *testing.T) {
				p := newPool(t, "", func(o *Options) {
					o.Settings.Balance, o.Settings.Hash.By, o.Members = test.balance, test.by, listOf(n, 5)
					o.Settings.Budget = &RetryBudget{Ratio: 1}
					o.Settings.Health.Failures = 2
				})
				text := []byte(p.roster.Load().members[1].token)
				i := 0
				// Once before, for what grows once: a member's list of evidence.
				request := func() {
					key := numberKey(i)
					if k, ok := p.TokenKey(epoch, text); ok {
						key = k
					}
					i++
					var tried Tried
					for _, o := range []Outcome{Failure(Reset), Neutral(), Success()} {
						l, _ := p.Pick(epoch, key, &tried)
						l.Answered(epoch, o)
						l.Done(epoch, o)
						if tried.Len() <= p.Settings().Retries {
							p.RetryAllowed(epoch)
						}
					}
					// Whoever failed has a success, so that nobody is ejected.
					for n := range tried.Len() {
						tried.members[n].failures = 0
					}
				}
				for range 1000 {
					request()
				}
				if got := testing.AllocsPerRun(1000, request); got != 0 {
					t.Errorf("%v allocations a request", got)
				}
			})
		}
	}
	s := NewSplit([]int{3, 1, 2})
	if got := testing.AllocsPerRun(100, func() { s.Next(func(i int) bool { return i == 1 }) }); got != 0 {
		t.Errorf("%v allocations a split", got)
	}
}

// TestParallel is for the race detector, and for what must hold whatever the order: every lease comes
// back, so nothing is in flight in the end.
func TestParallel(t *testing.T) {
	for _, b := range []Balance{RoundRobin, LeastConn, Hash} {
		t.Run(string(b), func(t *testing.T) {
			p := newPool(t, "", func(o *Options) {
				o.Settings.Balance, o.Settings.Hash.By, o.Members = b, ByHeader, listOf(300, 3)
				o.Settings.Budget = &RetryBudget{Ratio: 0.5}
				o.Settings.Health = HealthSettings{Failures: 1, Cooldown: MinCooldown, ProbationRequests: 1}
			})
			var clock atomic.Int64
			var wg sync.WaitGroup
			for n := range 4 {
				wg.Go(func() {
					for i := range 3000 {
						now := epoch.Add(MinCooldown / 50 * time.Duration(clock.Add(1)))
						var tried Tried
						for range 3 {
							l, ok := p.Pick(now, numberKey(i), &tried)
							if !ok {
								break
							}
							if i%3 == 0 {
								l.Answered(now, Success())
							}
							o := Success()
							if (i+n)%7 == 0 {
								o = Failure(Reset)
							}
							l.Done(now, o)
							p.RetryAllowed(now)
						}
					}
				})
			}
			wg.Go(func() {
				for i := range 60 {
					p.Replace(epoch, listOf(100+i*7%250, 1+i%4), "test")
					p.Explain(epoch, numberKey(i))
					p.Status(epoch)
					p.Events(0)
					p.Fingerprint()
					if b == Hash {
						p.Preview(epoch, listOf(10, 1), []string{"x"}, nil)
					}
				}
			})
			wg.Wait()
			for _, m := range p.Status(epoch).Members {
				if m.InFlight != 0 {
					t.Errorf("%s has %d in flight", m.Address, m.InFlight)
				}
			}
			r := p.roster.Load()
			if l, ok := r.queues.free.(*leastConn); ok {
				for i, n := range l.inFlight {
					if n != 0 {
						t.Errorf("the order counts %d in flight at %s", n, r.members[i].address)
					}
				}
			}
		})
	}
}

// BenchmarkLongestPick compares the longest pick while nothing is replaced, while the list of another pool is
// (which costs the same processor time and garbage, but no lock), and while the list of this one is.
func BenchmarkLongestPick(b *testing.B) {
	lists := [][]Member{listOf(10_000, 5), listOf(9_000, 7), listOf(10_000, 1000)}
	for _, replacing := range []string{"none", "other", "this"} {
		b.Run("replacing="+replacing, func(b *testing.B) {
			p := benchPool(b, RoundRobin, "", lists[0])
			changing := map[string]*Pool{"other": benchPool(b, RoundRobin, "", lists[0]), "this": p}[replacing]
			stop, replaced := make(chan struct{}), 0
			var wg sync.WaitGroup
			wg.Go(func() {
				for n := 0; changing != nil; n++ {
					select {
					case <-stop:
						return
					default:
						changing.Replace(epoch, lists[n%len(lists)], "bench")
						replaced++
					}
				}
			})
			times := make([]time.Duration, 0, 1<<24)
			for b.Loop() {
				start := time.Now()
				l, _ := p.Pick(epoch, Key{}, nil)
				l.Done(epoch, Success())
				times = append(times, time.Since(start))
			}
			close(stop)
			wg.Wait()
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)-1].Microseconds()), "max-us")
			b.ReportMetric(float64(times[len(times)*9999/10_000].Microseconds()), "p99.99-us")
			b.ReportMetric(float64(replaced), "replaces")
		})
	}
}
