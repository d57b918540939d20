package lb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// epoch is when the tests begin.
var epoch = time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)

// after is a moment of a test.
func after(d time.Duration) time.Time { return epoch.Add(d) }

// members reads "a:5 b c": names and weights, 1 where none is given.
func members(text string) []Member {
	var list []Member
	for _, field := range strings.Fields(text) {
		m := Member{Weight: 1}
		if _, err := fmt.Sscanf(strings.Replace(field, ":", " ", 1), "%s %d", &m.Address, &m.Weight); err != nil {
			m.Address = field
		}
		m.Address += ":80"
		list = append(list, m)
	}
	return list
}

// short is the name that members was given.
func short(address string) string { return strings.TrimSuffix(address, ":80") }

// newPool makes a pool of the default settings, changed by edit.
func newPool(t testing.TB, list string, edit func(*Options)) *Pool {
	t.Helper()
	o := Options{Name: "test", Settings: DefaultSettings(), Members: members(list), Key: []byte("key"), Now: epoch}
	if edit != nil {
		edit(&o)
	}
	p, err := NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// with edits the settings of a pool.
func with(edit func(*Settings)) func(*Options) { return func(o *Options) { edit(&o.Settings) } }

func balance(b Balance, by HashBy) func(*Options) {
	return with(func(s *Settings) { s.Balance, s.Hash.By = b, by })
}

// sequence is the members of n requests, one after the other, all of them successes.
func sequence(t testing.TB, p *Pool, n int) string {
	t.Helper()
	var names []string
	for range n {
		l, ok := p.Pick(epoch, Key{}, nil)
		if !ok {
			names = append(names, "-")
			continue
		}
		names = append(names, short(l.Address()))
		l.Done(epoch, Success())
	}
	return strings.Join(names, " ")
}

// pick is one request's next attempt.
func pick(t testing.TB, p *Pool, now time.Time, key Key, tried *Tried) *Lease {
	t.Helper()
	l, ok := p.Pick(now, key, tried)
	if !ok {
		t.Fatal("no member")
	}
	return &l
}

// states is the members with their states: "a up b ejected".
func states(p *Pool, now time.Time) string {
	var words []string
	for _, m := range p.Status(now).Members {
		words = append(words, short(m.Address), m.State.String())
	}
	return strings.Join(words, " ")
}

func TestRoundRobinSequence(t *testing.T) {
	tests := []struct{ name, list, want string }{
		{"guide", "a:5 b c", "a a b a c a a a a b a c a a"},
		{"equal weights go by the list", "b a c", "b a c b a c b"},
		{"one", "a:7", "a a a"},
		{"two weights", "a:2 b", "a b a a b a a"},
		{"empty", "", "- - -"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPool(t, test.list, nil)
			if got := sequence(t, p, len(strings.Fields(test.want))); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestRoundRobinAfterAnEjection(t *testing.T) {
	p := newPool(t, "a:5 b c", with(func(s *Settings) { s.Health.Failures = 1 }))
	l := pick(t, p, epoch, Key{}, nil)
	l.Done(epoch, Failure(Reset))
	if got, want := sequence(t, p, 6), "b c b c b c"; got != want {
		t.Errorf("without a: got %s, want %s", got, want)
	}
	back := after(DefaultCooldown)
	pick(t, p, back, Key{}, nil).Done(back, Success())
	// a comes back with the value that it left with, and without a burst.
	if got, want := sequence(t, p, 14), "b a c a a a a b a c a a a a"; got != want {
		t.Errorf("with a again: got %s, want %s", got, want)
	}
}

func TestReplaceKeepsTurns(t *testing.T) {
	p := newPool(t, "a:5 b c", nil)
	if got, want := sequence(t, p, 3), "a a b"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	// Values are now a 1, b -4, c 3; with d at 0 the steps of the textbook are:
	// 6 -3 4 1 (a), 3 -2 5 2 (c), 8 -1 -2 3 (a), 5 0 -1 4 (a), 2 1 0 5 (d) ...
	p.Replace(epoch, members("a:5 b c d"), "test")
	if got, want := sequence(t, p, 5), "a c a a d"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLeastConn(t *testing.T) {
	p := newPool(t, "a b:2 c", balance(LeastConn, ""))
	var names []string
	leases := map[string][]*Lease{}
	for range 8 {
		l := pick(t, p, epoch, Key{}, nil)
		names = append(names, short(l.Address()))
		leases[short(l.Address())] = append(leases[short(l.Address())], l)
	}
	if got, want := strings.Join(names, " "), "a b c b a c b b"; got != want {
		t.Fatalf("nothing done: got %s, want %s", got, want)
	}
	leases["c"][0].Done(epoch, Success())
	if got := short(pick(t, p, epoch, Key{}, nil).Address()); got != "c" {
		t.Errorf("after a request of c: %s, want c", got)
	}
	for _, l := range leases["b"] {
		l.Done(epoch, Neutral())
	}
	if got := sequence(t, p, 3); got != "b b b" {
		t.Errorf("b without requests: %s, want b b b", got)
	}
}

func TestLeastConnTiesGoRound(t *testing.T) {
	p := newPool(t, "a b c", balance(LeastConn, ""))
	if got, want := sequence(t, p, 7), "a b c a b c a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTriedIsNeverPickedAgain(t *testing.T) {
	for _, b := range []Balance{RoundRobin, LeastConn, Hash} {
		t.Run(string(b), func(t *testing.T) {
			p := newPool(t, "a:1000 b c", balance(b, ByHeader))
			for range 50 {
				var tried Tried
				seen := map[string]bool{}
				for {
					l, ok := p.Pick(epoch, TextKey([]byte("k")), &tried)
					if !ok {
						break
					}
					if seen[l.Address()] {
						t.Fatalf("%s twice", l.Address())
					}
					seen[l.Address()] = true
					l.Done(epoch, Neutral())
				}
				if len(seen) != 3 || tried.Len() != 3 {
					t.Fatalf("tried %d members, Len %d, want 3", len(seen), tried.Len())
				}
			}
		})
	}
}

func TestTriedHoldsSix(t *testing.T) {
	p := newPool(t, "a b c d e f g", nil)
	var tried Tried
	for n := range 7 {
		if _, ok := p.Pick(epoch, Key{}, &tried); ok != (n < 6) {
			t.Errorf("attempt %d: %v", n, ok)
		}
	}
}

func TestTriedKnowsAnAddressThatCameBack(t *testing.T) {
	p := newPool(t, "a b", nil)
	var tried Tried
	first := pick(t, p, epoch, Key{}, &tried)
	p.Replace(epoch, members("b"), "test")
	p.Replace(epoch, members("a b"), "test")
	second := pick(t, p, epoch, Key{}, &tried)
	if first.Address() != "a:80" || second.Address() != "b:80" {
		t.Fatalf("got %s, %s", first.Address(), second.Address())
	}
	if l, ok := p.Pick(epoch, Key{}, &tried); ok {
		t.Errorf("a third attempt went to %s", l.Address())
	}
}

func TestReplaceKeepsStateAndDropsTheGone(t *testing.T) {
	attached := map[string]int{}
	p := newPool(t, "a b c", func(o *Options) {
		o.Settings.Health.Failures = 1
		o.Attach = func(address string) any { attached[address]++; return "to " + address }
	})
	a := pick(t, p, epoch, Key{}, nil)
	b := pick(t, p, epoch, Key{}, nil)
	c := pick(t, p, epoch, Key{}, nil)
	b.Done(epoch, Failure(ConnectRefused))

	change := p.Replace(epoch, members("d b:4 a"), "admin")
	want := Change{
		Revision: 2, Added: members("d"), Removed: members("c"),
		Reweighted: []Reweight{{Address: "b:80", From: 1, To: 4}}, Unchanged: 1,
	}
	if diff := cmp.Diff(want, change); diff != "" {
		t.Errorf("change (-want +got):\n%s", diff)
	}
	c.Done(epoch, Failure(Reset))
	if c.Address() != "c:80" || c.Attachment() != "to c:80" {
		t.Errorf("lease of a removed member: %s %v", c.Address(), c.Attachment())
	}
	status := p.Status(epoch)
	wantMembers := []MemberStatus{
		{Address: "d:80", Weight: 1, Attachment: "to d:80"},
		{Address: "b:80", Weight: 4, State: Ejected, ConsecutiveFailures: 1, EjectedUntil: after(DefaultCooldown), LastFailure: ConnectRefused, Attachment: "to b:80"},
		{Address: "a:80", Weight: 1, InFlight: 1, Attachment: "to a:80"},
	}
	if diff := cmp.Diff(wantMembers, status.Members); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	a.Done(epoch, Success())
	if got := p.Status(epoch).Members[2].InFlight; got != 0 {
		t.Errorf("a has %d in flight after all", got)
	}
	if diff := cmp.Diff(map[string]int{"a:80": 1, "b:80": 1, "c:80": 1, "d:80": 1}, attached); diff != "" {
		t.Errorf("attached (-want +got):\n%s", diff)
	}
}

// TestReplaceSettles: a pick's cost depends on the distinct weights, not on how the list came about; a
// replacement is carried over in batches that do not grow with the list.
func TestReplaceSettles(t *testing.T) {
	p := newPool(t, "", func(o *Options) { o.Members = listOf(500, 5) })
	for _, weights := range []int{7, 100, 3} {
		p.Replace(epoch, listOf(600, weights), "test")
		for name, o := range map[string]order{"free": p.roster.Load().queues.free, "held": p.roster.Load().queues.held} {
			if got := len(o.(*rotation).classes); got != weights {
				t.Errorf("%d weights, %d classes of %s", weights, got, name)
			}
		}
	}
	d := p.prepare(listOf(550, 2))
	for len(d.stale) > d.batch {
		before := len(d.stale)
		d.read(p.roster.Load())
		if before-len(d.stale) != batch || len(d.carried) != batch {
			t.Fatalf("%d carried over in one batch", len(d.carried))
		}
		d.enter()
	}
	p.carry(d)
	p.mu.Unlock()
}

func TestReplaceRevision(t *testing.T) {
	p := newPool(t, "a b", func(o *Options) { o.Revision = 7 })
	tests := []struct {
		name, list string
		revision   uint64
		empty      bool
	}{
		{"the same", "a b", 7, true},
		{"another order", "b a", 8, true},
		{"another weight", "b a:2", 9, false},
		{"nobody", "", 10, false},
		{"nobody again", "", 10, true},
		{"twice in one list counts once", "a a", 11, false},
	}
	for _, test := range tests {
		c := p.Replace(epoch, members(test.list), "test")
		if c.Revision != test.revision || c.Empty() != test.empty || p.Status(epoch).Revision != test.revision {
			t.Errorf("%s: %+v, empty %v, want revision %d", test.name, c, c.Empty(), test.revision)
		}
	}
	if p.Len() != 1 {
		t.Errorf("Len %d, want 1", p.Len())
	}
}

func TestNewPoolRefuses(t *testing.T) {
	tests := []struct {
		name string
		edit func(*Options)
		want string
	}{
		{"balance", balance("random", ""), `making pool test: balance "random" is none of round_robin, least_conn, hash`},
		{"hash.by", balance(Hash, "moon"), `making pool test: hash.by "moon" is none of cookie, header, client_ip`},
		{"key", func(o *Options) { o.Settings.Balance, o.Settings.Hash.By, o.Key = Hash, ByCookie, nil }, "making pool test: affinity by cookie needs a key"},
		{"members", func(o *Options) { o.Members = members("a:0") }, "making pool test: members[0].weight: must be between 1 and 1000"},
		{"retries", with(func(s *Settings) { s.Retries = 6 }), "making pool test: retries must be between 0 and 5"},
		{"no retries", with(func(s *Settings) { s.Retries = -1 }), "making pool test: retries must be between 0 and 5"},
		{"failures", with(func(s *Settings) { s.Health.Failures = 101 }), "making pool test: passive_health.failures must be between 0 and 100"},
		{"no failures", with(func(s *Settings) { s.Health.Failures = -1 }), "making pool test: passive_health.failures must be between 0 and 100"},
		{"short cooldown", with(func(s *Settings) { s.Health.Cooldown = time.Microsecond }), "making pool test: passive_health.cooldown must be between 1ms and 1h0m0s"},
		{"long cooldown", with(func(s *Settings) { s.Health.Cooldown = 2 * time.Hour }), "making pool test: passive_health.cooldown must be between 1ms and 1h0m0s"},
		{"places", with(func(s *Settings) { s.Health.ProbationRequests = 10_001 }), "making pool test: passive_health.probation_requests must be between 0 and 10000"},
		{"negative places", with(func(s *Settings) { s.Health.ProbationRequests = -1 }), "making pool test: passive_health.probation_requests must be between 0 and 10000"},
		{"ratio", with(func(s *Settings) { s.Budget = &RetryBudget{Ratio: 1.1} }), "making pool test: retry_budget.ratio must be between 0 and 1"},
		{"negative ratio", with(func(s *Settings) { s.Budget = &RetryBudget{Ratio: -0.1} }), "making pool test: retry_budget.ratio must be between 0 and 1"},
		{"rate", with(func(s *Settings) { s.Budget = &RetryBudget{MinPerSecond: 1_000_001} }), "making pool test: retry_budget.min_per_second must be between 0 and 1000000"},
		{"negative rate", with(func(s *Settings) { s.Budget = &RetryBudget{MinPerSecond: -1} }), "making pool test: retry_budget.min_per_second must be between 0 and 1000000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := Options{Name: "test", Settings: DefaultSettings(), Key: []byte("k"), Now: epoch}
			test.edit(&o)
			_, err := NewPool(o)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestNewPoolBounds(t *testing.T) {
	for _, edit := range []func(*Settings){
		func(s *Settings) { s.Retries = 5 },
		func(s *Settings) { s.Retries = 0 },
		func(s *Settings) { s.Health.Failures = 100 },
		func(s *Settings) { s.Health.Failures = 0 },
		func(s *Settings) { s.Health.Cooldown = time.Millisecond },
		func(s *Settings) { s.Health.Cooldown = time.Hour },
		func(s *Settings) { s.Health.ProbationRequests = 0 },
		func(s *Settings) { s.Budget = &RetryBudget{Ratio: 1} },
		func(s *Settings) { s.Budget = &RetryBudget{} },
	} {
		newPool(t, "a", with(edit))
	}
}

func TestZeroLeaseIsInert(t *testing.T) {
	var l Lease
	l.Answered(epoch, Success())
	l.Done(epoch, Failure(Reset))
	if l.Address() != "" || l.Attachment() != nil || l.Token() != "" || l.ByKey() {
		t.Error("the zero lease says something")
	}
}

func TestSettingsAreCopied(t *testing.T) {
	budget := &RetryBudget{Ratio: 0.5}
	p := newPool(t, "a", with(func(s *Settings) { s.Budget = budget }))
	budget.Ratio = 1
	p.Status(epoch).Settings.Budget.Ratio = 0
	if got := p.Settings().Budget.Ratio; got != 0.5 || p.Name() != "test" {
		t.Errorf("ratio %v, name %s", got, p.Name())
	}
}
