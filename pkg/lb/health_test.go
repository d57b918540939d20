package lb

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// script runs words against a pool of a single member "a" (or a and b) and returns the states of a that
// each of them left behind. Words:
//
//	pick       a request to a begins (pushed)
//	ok fail neutral    the oldest request ends
//	head head! the oldest request's head is a success, a failure
//	last-ok last-fail  the newest request ends
//	5s         time passes
func script(t *testing.T, p *Pool, words string) (state string, failures int) {
	t.Helper()
	now := epoch
	var open []*Lease
	token := []byte(p.roster.Load().members[0].token)
	for word := range strings.FieldsSeq(words) {
		switch word {
		case "pick":
			key, _ := p.TokenKey(now, token)
			l := pick(t, p, now, key, nil)
			if l.Address() != "a:80" {
				t.Fatalf("picked %s", l.Address())
			}
			open = append(open, l)
		case "head":
			open[0].Answered(now, Success())
		case "head!":
			open[0].Answered(now, Failure(Status503))
		case "head-":
			open[0].Answered(now, Neutral())
		case "ok", "fail", "neutral":
			open[0].Done(now, outcomeOf(word))
			open = open[1:]
		case "last-ok", "last-fail":
			last := len(open) - 1
			open[last].Done(now, outcomeOf(word))
			open = open[:last]
		default:
			d, err := time.ParseDuration(word)
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(d)
		}
	}
	m := p.Status(now).Members[0]
	state = m.State.String()
	if m.State == Ejected {
		state += " until " + m.EjectedUntil.Sub(epoch).String()
	}
	return state, m.ConsecutiveFailures
}

func outcomeOf(word string) Outcome {
	switch strings.TrimPrefix(word, "last-") {
	case "ok":
		return Success()
	case "fail":
		return Failure(Reset)
	default:
		return Neutral()
	}
}

// TestPassiveHealth is the guide's section and the contract's additions, a line a rule. The pool has one
// member, failures 3 and a cooldown of 10s.
func TestPassiveHealth(t *testing.T) {
	tests := []struct {
		name, words string
		state       string
		failures    int
	}{
		{"two failures are not three", "pick fail pick fail", "up", 2},
		{"three failures in a row eject", "pick fail pick fail pick fail", "ejected until 10s", 3},
		{"a success between sets the count back", "pick fail pick fail pick ok pick fail pick fail", "up", 2},
		{"a neutral outcome does not", "pick fail pick fail pick neutral pick fail", "ejected until 10s", 3},
		{"neutral outcomes never eject", "pick neutral pick neutral pick neutral pick neutral", "up", 0},
		{"the cooldown lasts to its end", "pick fail pick fail pick fail 9999ms", "ejected until 10s", 3},
		{"then comes probation", "pick fail pick fail pick fail 10s", "probation", 3},
		{"a success ends probation", "pick fail pick fail pick fail 10s pick ok", "up", 0},
		{"fully: three more are needed", "pick fail pick fail pick fail 10s pick ok pick fail pick fail", "up", 2},
		{"a failure on probation ejects at once", "pick fail pick fail pick fail 10s pick fail", "ejected until 20s", 4},
		{"and again", "pick fail pick fail pick fail 10s pick fail 11s pick fail", "ejected until 31s", 5},
		{"a neutral outcome on probation changes nothing", "pick fail pick fail pick fail 10s pick neutral", "probation", 3},
		{"failures of before do not extend", "pick pick pick pick fail fail fail 5s fail", "ejected until 10s", 3},
		{"successes of before do not end", "pick pick pick pick fail fail fail 5s ok", "ejected until 10s", 3},
		{"nor on probation later", "pick pick pick pick fail fail fail 15s ok", "probation", 3},
		{"nor eject from it", "pick pick pick pick fail fail fail 15s fail", "probation", 3},
		{"nor count after the return", "pick pick pick pick fail fail fail 15s pick last-ok fail", "up", 0},
		{"a last resort that fails starts anew", "pick fail pick fail pick fail 5s pick fail", "ejected until 15s", 4},
		{"a last resort that succeeds brings back", "pick fail pick fail pick fail 5s pick ok", "up", 0},
		{"of two last resorts the first failure counts", "pick fail pick fail pick fail 5s pick pick fail 1s fail", "ejected until 15s", 4},
		{"and the success after it does not", "pick fail pick fail pick fail 5s pick pick fail 1s ok", "ejected until 15s", 4},
		{"a last resort can end on probation", "pick fail pick fail pick fail 9s pick 2s fail", "ejected until 21s", 4},
		{"a head ends probation", "pick fail pick fail pick fail 10s pick head", "up", 3},
		{"its body sets the count back", "pick fail pick fail pick fail 10s pick head ok", "up", 0},
		{"or breaks, which is one more", "pick fail pick fail pick fail 10s pick head fail", "ejected until 20s", 4},
		{"or is the client's affair", "pick fail pick fail pick fail 10s pick head neutral", "up", 3},
		{"a head ends a last resort", "pick fail pick fail pick fail 5s pick head", "up", 3},
		{"a head alone does not set the count back", "pick fail pick head", "up", 1},
		{"bodies that break count", "pick head fail pick head fail pick head fail", "ejected until 10s", 3},
		{"a failed head counts at once", "pick fail pick fail pick head!", "ejected until 10s", 3},
		{"and once", "pick head! fail", "up", 1},
		{"and its body is no success", "pick head! ok", "up", 1},
		{"a neutral head says nothing", "pick fail pick head- fail pick head- ok", "up", 0},
		{"only the first head counts", "pick head! head! head!", "up", 1},
		{"a head after a head says nothing", "pick head head! ok", "up", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPool(t, "a", balance(Hash, ByCookie))
			state, failures := script(t, p, test.words)
			if state != test.state || failures != test.failures {
				t.Errorf("%s\ngot  %s, %d failures\nwant %s, %d failures", test.words, state, failures, test.state, test.failures)
			}
		})
	}
}

func TestSecondDoneDoesNothing(t *testing.T) {
	for _, b := range []Balance{RoundRobin, LeastConn} {
		p := newPool(t, "a", balance(b, ""))
		l := pick(t, p, epoch, Key{}, nil)
		l.Done(epoch, Failure(Reset))
		l.Done(epoch, Failure(Reset))
		l.Answered(epoch, Failure(Reset))
		if m := p.Status(epoch).Members[0]; m.InFlight != 0 || m.ConsecutiveFailures != 1 {
			t.Errorf("%s: %+v", b, m)
		}
	}
}

func TestNoEjectionWithoutPassiveHealth(t *testing.T) {
	p := newPool(t, "a", with(func(s *Settings) { s.Health.Failures = 0 }))
	for range 1000 {
		pick(t, p, epoch, Key{}, nil).Done(epoch, Failure(ConnectRefused))
	}
	want := []MemberStatus{{Address: "a:80", Weight: 1, ConsecutiveFailures: 1000, LastFailure: ConnectRefused}}
	if diff := cmp.Diff(want, p.Status(epoch).Members); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if events := p.Events(0); len(events) != 0 {
		t.Errorf("events: %v", events)
	}
}

func TestLastResortIsTheOneEjectedLongestAgo(t *testing.T) {
	p := newPool(t, "a b c", with(func(s *Settings) { s.Health.Failures = 1 }))
	fail := func(now time.Time) string {
		l := pick(t, p, now, Key{}, nil)
		l.Done(now, Failure(Status503))
		return short(l.Address())
	}
	var got []string
	for n := range 7 {
		got = append(got, fail(after(time.Duration(n)*time.Second)))
	}
	if order, want := strings.Join(got, " "), "a b c a b c a"; order != want {
		t.Errorf("failures one a second: %s, want %s", order, want)
	}
	now := after(6500 * time.Millisecond)
	var tried Tried
	got = nil
	for {
		l, ok := p.Pick(now, Key{}, &tried)
		if !ok {
			break
		}
		got = append(got, short(l.Address()))
		l.Done(now, Neutral())
	}
	if order, want := strings.Join(got, " "), "b c a"; order != want {
		t.Errorf("attempts of one request: %s, want %s", order, want)
	}
	pick(t, p, now, Key{}, nil).Done(now, Success())
	if got, want := states(p, now), "a ejected b up c ejected"; got != want {
		t.Errorf("after a success: %s, want %s", got, want)
	}
}

func TestNoLastResortWhileSomebodyIsUp(t *testing.T) {
	p := newPool(t, "a b", with(func(s *Settings) { s.Health.Failures = 1 }))
	pick(t, p, epoch, Key{}, nil).Done(epoch, Failure(Reset))
	var tried Tried
	b := pick(t, p, epoch, Key{}, &tried)
	b.Done(epoch, Neutral())
	if l, ok := p.Pick(epoch, Key{}, &tried); ok {
		t.Errorf("b is up and tried, but the request went to %s", l.Address())
	}
}

// TestProbationPlaces: a member on probation gets so many requests at once by round robin and least_conn,
// unless there is no other choice.
func TestProbationPlaces(t *testing.T) {
	for _, b := range []Balance{RoundRobin, LeastConn} {
		for places, want := range map[int]int{0: 50, 1: 1, 3: 3} {
			p := newPool(t, "a b", with(func(s *Settings) {
				s.Balance, s.Health.Failures, s.Health.ProbationRequests = b, 1, places
			}))
			pick(t, p, epoch, Key{}, nil).Done(epoch, Failure(Reset))
			now := after(DefaultCooldown)
			count, leases := 0, []*Lease{}
			for range 100 {
				l := pick(t, p, now, Key{}, nil)
				if l.Address() == "a:80" {
					count++
					leases = append(leases, l)
				}
			}
			if count != want {
				t.Errorf("%s, %d places: a has %d of 100, want %d", b, places, count, want)
			}
			if places == 0 {
				continue
			}
			leases[0].Done(now, Neutral())
			count = 0
			for range 20 {
				if l := pick(t, p, now, Key{}, nil); l.Address() == "a:80" {
					count++
				}
			}
			if count != 1 {
				t.Errorf("%s, %d places: after a neutral end a got %d, want 1", b, places, count)
			}
		}
	}
}

// TestOldRequestsHaveNoPlace: a request of an earlier probation that ends late frees no place of this one.
func TestOldRequestsHaveNoPlace(t *testing.T) {
	p := newPool(t, "a b", with(func(s *Settings) { s.Balance, s.Hash.By, s.Health.Failures = Hash, ByCookie, 1 }))
	token := []byte(p.roster.Load().members[0].token)
	toA := func(now time.Time) *Lease {
		key, _ := p.TokenKey(now, token)
		return pick(t, p, now, key, nil)
	}
	toA(epoch).Done(epoch, Failure(Reset))
	first := after(DefaultCooldown)
	hung := toA(first)
	toA(first).Done(first, Failure(Reset))
	second := first.Add(DefaultCooldown)
	toA(second)
	hung.Done(second, Neutral())
	for range 6 {
		if l := pick(t, p, second, Key{}, nil); l.Address() == "a:80" {
			t.Fatal("a second request went to a by round robin")
		}
	}
}

func TestProbationPlacesDoNotBindWithoutAnother(t *testing.T) {
	p := newPool(t, "a b", with(func(s *Settings) { s.Health.Failures = 1 }))
	for range 2 {
		pick(t, p, epoch, Key{}, nil).Done(epoch, Failure(Reset))
	}
	now := after(DefaultCooldown)
	if got, want := states(p, now), "a probation b probation"; got != want {
		t.Fatal(got)
	}
	seen := map[string]int{}
	for range 10 {
		seen[pick(t, p, now, Key{}, nil).Address()]++
	}
	if diff := cmp.Diff(map[string]int{"a:80": 5, "b:80": 5}, seen); diff != "" {
		t.Errorf("all places taken (-want +got):\n%s", diff)
	}
}

func TestKeysLeadToProbation(t *testing.T) {
	for _, by := range []HashBy{ByHeader, ByCookie} {
		p := newPool(t, "a b", with(func(s *Settings) { s.Balance, s.Hash.By, s.Health.Failures = Hash, by, 1 }))
		key := TextKey([]byte("k"))
		l := pick(t, p, epoch, key, nil)
		home, token := l.Address(), []byte(l.Token())
		l.Done(epoch, Failure(Reset))
		if by == ByCookie {
			if _, ok := p.TokenKey(epoch, token); ok {
				t.Error("the token of an ejected member is good")
			}
		}
		now := after(DefaultCooldown)
		for range 5 {
			if by == ByCookie {
				key, _ = p.TokenKey(now, token)
			}
			l := pick(t, p, now, key, nil)
			if l.Address() != home || !l.ByKey() {
				t.Errorf("%s: went to %s (by key %v), want %s", by, l.Address(), l.ByKey(), home)
			}
		}
	}
}

func TestTimesOutOfOrder(t *testing.T) {
	p := newPool(t, "a b", with(func(s *Settings) { s.Health.Failures = 1 }))
	pick(t, p, epoch, Key{}, nil).Done(epoch, Failure(Reset))
	late := after(DefaultCooldown)
	pick(t, p, late, Key{}, nil).Done(late, Neutral())
	early := after(time.Second)
	if got := states(p, early); got != "a probation b up" {
		t.Errorf("a is back, whatever an earlier time says: %s", got)
	}
	pick(t, p, early, Key{}, nil).Done(early, Success())
	pick(t, p, after(-time.Hour), Key{}, nil).Done(after(-time.Hour), Success())
}
