package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// busy uses everything that draws a number.
const busy = `
schema: scalws.scenario/1
seed: %d
duration: 20s
load: {rate: 500, arrival: poisson, non_idempotent: 0.2, not_replayable: 0.1, keys: 100}
pool:
  balance: hash
  hash: {by: header, name: X-User}
  retries: 2
  retry_budget: {ratio: 0.05, min_per_second: 1}
  passive_health: {cooldown: 1s}
  members: [{address: "a:1", weight: 3}, {address: "b:1"}, {address: "c:1", latency: 30ms}]
timeouts: {connect: 200ms, response: 1s}
events:
  - {at: 2s, member: a, does: fail, share: 0.7}
  - {at: 4s, member: b, does: hang, share: 0.3}
  - {at: 6s, members: [{address: "a:1"}, {address: "b:1"}, {address: "d:1", weight: 2}]}
  - {at: 8s, member: d, does: discard}
  - {at: 9s, rate: 900}
  - {at: 12s, member: a, does: recover}
`

func reportOf(t *testing.T, seed int) string {
	t.Helper()
	text, err := json.MarshalIndent(runScenario(t, parse(t, fmt.Sprintf(busy, seed))), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSameSeedSameBytes: a report can be compared, cached and put under version control.
func TestSameSeedSameBytes(t *testing.T) {
	first := reportOf(t, 1)
	for range 3 {
		if diff := cmp.Diff(first, reportOf(t, 1)); diff != "" {
			t.Fatal(diff)
		}
	}
	if first == reportOf(t, 2) {
		t.Error("another seed changes nothing")
	}
}

// TestScenarioRunsAgain: a run leaves nothing behind in the scenario.
func TestScenarioRunsAgain(t *testing.T) {
	s := parse(t, fmt.Sprintf(busy, 1))
	if diff := cmp.Diff(runScenario(t, s), runScenario(t, s)); diff != "" {
		t.Error(diff)
	}
}

// TestChanceIsApart: what fails, and how the pool chooses, does not change when requests arrive or what
// they are.
func TestChanceIsApart(t *testing.T) {
	arrivals := func(pool, events string) []uint64 {
		return runScenario(t, parse(t, `
schema: scalws.scenario/1
duration: 10s
load: {rate: 300, arrival: poisson}
pool: {`+pool+`members: [{address: "a:1"}, {address: "b:1"}]}
events: [`+events+`]
`)).Timeline.Requests
	}
	want := arrivals("", "")
	if diff := cmp.Diff(want, arrivals("balance: hash, hash: {by: client_ip}, ", "{at: 1s, member: a, does: fail, share: 0.5}")); diff != "" {
		t.Error(diff)
	}
}

// TestRunEndsWithItsContext: a long simulation can be interrupted.
func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if r, err := parse(t, fmt.Sprintf(busy, 1)).Run(ctx); !errors.Is(err, why) || r != nil {
		t.Errorf("%v, %v", r, err)
	}
}

// TestLongRunsAllocateNoMore: a day costs time, not memory.
func TestLongRunsAllocateNoMore(t *testing.T) {
	allocs := func(duration string) float64 {
		s := parse(t, `
schema: scalws.scenario/1
duration: `+duration+`
load: {rate: 400}
pool: {members: [{address: "a:1"}, {address: "b:1"}]}
`)
		return testing.AllocsPerRun(3, func() { runScenario(t, s) })
	}
	if short, long := allocs("1s"), allocs("100s"); long > short {
		t.Errorf("%v allocations in 100 s, %v in one", long, short)
	}
}

// TestBehaviours is what becomes of requests by what their member does: the cause, what is retried, and how
// long clients wait. The second member is well.
func TestBehaviours(t *testing.T) {
	for _, test := range []struct {
		does      string
		cause     string
		get, post string // errors that clients see
		longest   time.Duration
	}{
		{"does: refuse", "connect_refused", "none", "none", 11 * time.Millisecond},
		{"does: refuse, latency: 7ms", "connect_refused", "none", "none", 17 * time.Millisecond},
		{"does: refuse, latency: 1s", "connect_timeout", "none", "none", 310 * time.Millisecond},
		{"does: refuse, latency: 300ms", "connect_refused", "none", "none", 310 * time.Millisecond},
		{"does: discard", "connect_timeout", "none", "none", 310 * time.Millisecond},
		{"does: hang", "response_timeout", "none", "all", 510 * time.Millisecond},
		{"does: reset", "reset", "none", "all", 20 * time.Millisecond},
		{"does: reset, latency: 1s", "response_timeout", "none", "all", 510 * time.Millisecond},
		{"does: fail", "status_503", "none", "all", 20 * time.Millisecond},
		{"does: fail, status: 502", "status_502", "none", "all", 20 * time.Millisecond},
		{"does: fail, status: 504, latency: 3ms", "status_504", "none", "all", 13 * time.Millisecond},
		{"does: slow, latency: 400ms", "", "none", "none", 400 * time.Millisecond},
		{"does: slow, latency: 500ms", "", "none", "none", 500 * time.Millisecond},
		{"does: slow, latency: 501ms", "response_timeout", "none", "all", 510 * time.Millisecond},
	} {
		for _, kind := range []struct{ name, share, errors string }{{"GET", "0", test.get}, {"POST", "1", test.post}} {
			t.Run(test.does+" "+kind.name, func(t *testing.T) {
				r := runScenario(t, parse(t, `
schema: scalws.scenario/1
duration: 1s
load: {rate: 10, non_idempotent: `+kind.share+`}
pool: {members: [{address: "a:1"}, {address: "b:1"}]}
timeouts: {connect: 300ms, response: 500ms}
events: [{at: 0s, member: a, `+test.does+`}]
`))
				a := r.Members[0]
				var failed uint64
				for cause, n := range a.Failures {
					if failed += n; cause != test.cause {
						t.Errorf("cause %s, want %s", cause, test.cause)
					}
				}
				if (failed > 0) != (test.cause != "") {
					t.Errorf("%d failures", failed)
				}
				want := uint64(0)
				if kind.errors == "all" {
					want = failed
				}
				if r.Clients.Errors != want || r.Retries != failed-want {
					t.Errorf("%d errors and %d retries of %d failures, want %d errors", r.Clients.Errors, r.Retries, failed, want)
				}
				if longest := seconds(test.longest); kind.errors == "none" && r.Clients.WaitLongest != longest {
					t.Errorf("the longest wait is %v, want %v", r.Clients.WaitLongest, longest)
				}
			})
		}
	}
}

// TestEmptyList: a pool without members has errors for everybody.
func TestEmptyList(t *testing.T) {
	r := runScenario(t, parse(t, `
schema: scalws.scenario/1
duration: 2s
load: {rate: 10}
pool: {members: [{address: "a:1"}]}
events: [{at: 1s, members: []}]
`))
	if diff := cmp.Diff(map[string]uint64{"no_member": 10}, r.Clients.ErrorsBy); diff != "" {
		t.Error(diff)
	}
	if r.Clients.Answered != 10 || *r.Clients.FirstError != 1 || *r.Clients.LastError != 1.9 {
		t.Errorf("%+v", r.Clients)
	}
}

// TestLatencyFollowsTheMember: a list without a latency leaves it, and a member that comes back is what it
// was, its fault included.
func TestLatencyFollowsTheMember(t *testing.T) {
	longest := func(events string) Seconds {
		return runScenario(t, parse(t, `
schema: scalws.scenario/1
duration: 3s
load: {rate: 10}
pool: {retries: 0, passive_health: {failures: 0}, members: [{address: "a:1", latency: 40ms}]}
events: [`+events+`]
`)).Clients.WaitLongest
	}
	for _, test := range []struct {
		name, events string
		want         Seconds
	}{
		{"left", `{at: 1s, members: [{address: "a:1"}]}`, 0.04},
		{"none", `{at: 0s, members: [{address: "a:1", latency: 0s}]}`, 0},
		{"changed", `{at: 1s, members: [{address: "a:1", latency: 50ms}]}`, 0.05},
		{"of a new member", `{at: 1s, members: [{address: "b:1", latency: 60ms}]}`, 0.06},
		{"slow comes back slow", `{at: 0s, members: []}, {at: 1s, member: a, does: slow, latency: 70ms}, {at: 2s, members: [{address: "a:1"}]}`, 0.07},
		{"recovers to the new one", `{at: 0s, member: a, does: slow, latency: 5ms}, {at: 1s, members: [{address: "a:1", latency: 80ms}]}, {at: 2s, member: a, does: recover}`, 0.08},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := longest(test.events); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// TestTimeOut: the time that a member is out is that of its ejections, to the end of the run.
func TestTimeOut(t *testing.T) {
	r := runScenario(t, parse(t, `
schema: scalws.scenario/1
duration: 10s
load: {rate: 100}
pool:
  passive_health: {failures: 1, cooldown: 4s}
  members: [{address: "a:1"}, {address: "b:1"}]
events:
  - {at: 1s, member: a, does: refuse}
  - {at: 4s, member: a, does: recover}
  - {at: 8s, member: a, does: refuse}
`))
	a := r.Members[0]
	want := []Fault{
		{At: 1, Does: "refuse", EjectedAt: second(1.001), After: second(0.001), Sent: 1},
		{At: 8, Does: "refuse", EjectedAt: second(8.001), After: second(0.001), Sent: 1},
	}
	if diff := cmp.Diff(want, a.Faults); diff != "" {
		t.Error(diff)
	}
	if a.Ejections != 2 || a.Ejected != 4+1.999 || *a.First != 1.001 || *a.Last != 8.001 {
		t.Errorf("%+v", a)
	}
	var kinds []string
	for _, e := range r.Events {
		kinds = append(kinds, fmt.Sprintf("%v %s", e.At, e.Kind))
	}
	if diff := cmp.Diff([]string{"1.001s ejected", "5.001s probation", "5.03s recovered", "8.001s ejected"}, kinds); diff != "" {
		t.Error(diff)
	}
}

// TestTimeOutEndsUnseen: an ejection ends with its cooldown, also if no request comes to see it.
func TestTimeOutEndsUnseen(t *testing.T) {
	r := runScenario(t, parse(t, `
schema: scalws.scenario/1
duration: 2s
load: {rate: 1}
pool: {passive_health: {failures: 1, cooldown: 500ms}, members: [{address: "a:1"}]}
events: [{at: 1s, member: a, does: refuse}]
`))
	if got := r.Members[0].Ejected; got != 0.5 {
		t.Errorf("out for %v, want 500ms", got)
	}
}

// TestTimeOutGoesOn: failures of the last resort start an ejection anew, which is one time out.
func TestTimeOutGoesOn(t *testing.T) {
	r := runScenario(t, parse(t, `
schema: scalws.scenario/1
duration: 10s
load: {rate: 10}
pool: {passive_health: {failures: 1, cooldown: 1s}, members: [{address: "a:1"}]}
events: [{at: 1s, member: a, does: refuse}]
`))
	if a := r.Members[0]; a.Ejections != 90 || a.Ejected != 10-1.001 {
		t.Errorf("%d ejections, out for %v", a.Ejections, a.Ejected)
	}
}

// TestVerdictBeforeRetry: the failure counts before the next member is chosen. Only so is b, which is out,
// the last resort of the request whose failure takes a out too.
func TestVerdictBeforeRetry(t *testing.T) {
	r := runScenario(t, parse(t, `
schema: scalws.scenario/1
duration: 3s
load: {rate: 1}
pool: {passive_health: {failures: 1, cooldown: 1m}, members: [{address: "a:1"}, {address: "b:1"}]}
events: [{at: 0s, member: b, does: refuse}, {at: 1.5s, member: a, does: refuse}]
`))
	if r.Retries != 2 || r.Clients.Errors != 1 {
		t.Errorf("%d retries, %d errors; want 2 and 1", r.Retries, r.Clients.Errors)
	}
}

// TestFaultEndsWithRecovery: what was never noticed is counted for as long as it lasted.
func TestFaultEndsWithRecovery(t *testing.T) {
	r := runScenario(t, parse(t, `
schema: scalws.scenario/1
duration: 10s
load: {rate: 10}
pool: {members: [{address: "a:1"}, {address: "b:1"}]}
events: [{at: 1s, member: a, does: slow, latency: 50ms}, {at: 2s, member: a, does: recover}]
`))
	if diff := cmp.Diff([]Fault{{At: 1, Does: "slow", Sent: 5}}, r.Members[0].Faults); diff != "" {
		t.Error(diff)
	}
}

// TestRateChanges: with equal intervals the request that was due still comes, sooner if the new rate has
// it so.
func TestRateChanges(t *testing.T) {
	for _, test := range []struct {
		event string
		want  uint64
	}{
		{"{at: 1.5s, rate: 0.1}", 3},                      // at 0, 1, 2
		{"{at: 1.5s, rate: 10}", 2 + 34},                  // at 0, 1, then 1.6 and on
		{"{at: 1s, rate: 0.5}", 3},                        // at 0, 1, 3
		{"{at: 1.5s, rate: 0.1}, {at: 2.5s, rate: 1}", 5}, // at 0, 1, 2, 3.5, 4.5
	} {
		r := runScenario(t, parse(t, `
schema: scalws.scenario/1
duration: 5s
load: {rate: 1}
pool: {members: [{address: "a:1", latency: 0s}]}
events: [`+test.event+`]
`))
		if r.Clients.Requests != test.want || r.Clients.WaitLongest != 0 {
			t.Errorf("%s: %d requests, want %d", test.event, r.Clients.Requests, test.want)
		}
	}
}

func second(s Seconds) *Seconds { return &s }

// TestConstantArrivalsAreExact: no rounding adds up, whatever the rate.
func TestConstantArrivalsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Int64Range(1, maxRate*1000).Draw(t, "rate")
		a := &arrivals{kind: constant, end: never, rate: rate}
		for k := int64(1); k <= 2000; k++ {
			a.advance()
			if want := k * gapOf / rate; int64(a.next) != want {
				t.Fatalf("request %d arrives at %d, want %d", k, a.next, want)
			}
		}
	})
}

// TestPoissonRate: about as many as the rate says, not at equal intervals.
func TestPoissonRate(t *testing.T) {
	s := &Scenario{seed: 1, duration: time.Hour, load: load{rate: 100_000, arrival: poisson}}
	n, least, before := 0, never, time.Duration(0)
	for a := newArrivals(s); a.next != never; a.advance() {
		least = min(least, a.next-before)
		before = a.next
		n++
	}
	// The standard deviation is 600.
	if n < 357_000 || n > 363_000 || least > 100*time.Microsecond {
		t.Errorf("%d requests in an hour at 100/s, the least interval %v", n, least)
	}
}

// TestFlightsLandInOrder: by time, and of one time in the order in which they began.
func TestFlightsLandInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f flights
		type flown struct {
			at    time.Duration
			order int
		}
		var want []flown
		for n, at := range rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "times") {
			f.land(f.place(), time.Duration(at))
			want = append(want, flown{time.Duration(at), n})
		}
		slices.SortStableFunc(want, func(a, b flown) int { return int(a.at - b.at) })
		for _, w := range want {
			at := f.next()
			if got := int(f.pop()); at != w.at || got != w.order {
				t.Fatalf("%d at %v, want %d at %v", got, at, w.order, w.at)
			}
		}
		if f.next() != never {
			t.Fatal("something is left")
		}
	})
}

// TestNothingIsLost: whatever happens, every request has one end, and the parts add up to the whole.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := rapid.SampledFrom([]string{"balance: round_robin", "balance: least_conn",
			"balance: hash, hash: {by: cookie}", "balance: hash, hash: {by: client_ip}"}).Draw(t, "pool")
		retries := rapid.IntRange(0, 5).Draw(t, "retries")
		var events bytes.Buffer
		for range rapid.IntRange(0, 6).Draw(t, "events") {
			at := rapid.IntRange(0, 4999).Draw(t, "at")
			if rapid.IntRange(0, 4).Draw(t, "list") == 0 {
				fmt.Fprintf(&events, "{at: %dms, members: [{address: \"b:1\", weight: %d}]}, ", at, rapid.IntRange(1, 9).Draw(t, "weight"))
				continue
			}
			does := rapid.SampledFrom([]string{"refuse", "discard", "hang", "reset", "fail", "slow, latency: 80ms", "recover"}).Draw(t, "does")
			fmt.Fprintf(&events, "{at: %dms, member: %s, does: %s}, ", at, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "member"), does)
		}
		s, err := Parse("test.yaml", fmt.Appendf(nil, `
schema: scalws.scenario/1
seed: %d
duration: 5s
load: {rate: 100, arrival: poisson, non_idempotent: 0.2, not_replayable: 0.1, keys: 20}
pool: {%s, retries: %d, passive_health: {failures: %d, cooldown: 500ms}, members: [{address: "a:1"}, {address: "b:1", weight: 2}, {address: "c:1"}]}
timeouts: {connect: 300ms, response: 400ms}
events: [%s]
`, rapid.IntRange(0, 1000).Draw(t, "seed"), pool, retries, rapid.IntRange(0, 3).Draw(t, "failures"), &events))
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		c := r.Clients
		noMember := c.ErrorsBy["no_member"]
		if c.Answered+c.Errors != c.Requests || sum(r.Timeline.Requests) != c.Requests || sum(r.Timeline.Errors) != c.Errors {
			t.Errorf("requests are lost: %+v", c)
		}
		var sent, failed uint64
		for i, m := range r.Members {
			if n := sum(r.Timeline.Members[i]); n != m.Requests {
				t.Errorf("%s: %d requests in the timeline, %d in all", m.Address, n, m.Requests)
			}
			sent += m.Requests
			for _, n := range m.Failures {
				failed += n
			}
			if m.Ejected < 0 || m.Ejected > r.Duration {
				t.Errorf("%s was out for %v of %v", m.Address, m.Ejected, r.Duration)
			}
		}
		if sent != r.Attempts || sent+noMember != c.Requests+r.Retries {
			t.Errorf("%d sent, %d attempts, %d retries of %d requests", sent, r.Attempts, r.Retries, c.Requests)
		}
		if failed != r.Retries+c.Errors-noMember {
			t.Errorf("%d failures became %d retries and %d errors", failed, r.Retries, c.Errors-noMember)
		}
		if r.Amplification > float64(1+retries) {
			t.Errorf("amplification %v with %d retries", r.Amplification, retries)
		}
	})
}

func sum(counts []uint64) (n uint64) {
	for _, c := range counts {
		n += c
	}
	return n
}
