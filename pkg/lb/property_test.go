package lb

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// pair is the engine and the model side by side.
type pair struct {
	t      *rapid.T
	pool   *Pool
	model  *model
	now    time.Time
	list   []Member
	leases []leasePair
	// draft is a replacement that is half done.
	draft   *draft
	next    []Member
	reading bool
}

type leasePair struct {
	lease Lease
	model *modelLease
}

func listGen(most int) *rapid.Generator[[]Member] {
	// Few distinct weights, so that ties are frequent, and some extremes.
	weight := rapid.SampledFrom([]int{1, 1, 1, 2, 3, 5, 1000})
	return rapid.Custom(func(t *rapid.T) []Member {
		var list []Member
		for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(0, most-1), 0, most, rapid.ID[int]).Draw(t, "names") {
			list = append(list, Member{Address: fmt.Sprintf("m%d:80", n), Weight: weight.Draw(t, "weight")})
		}
		return list
	})
}

func settingsGen(b Balance) *rapid.Generator[Settings] {
	return rapid.Custom(func(t *rapid.T) Settings {
		s := DefaultSettings()
		s.Balance, s.Retries = b, MaxRetries
		if b == Hash {
			s.Hash.By = ByHeader
		}
		s.Health = HealthSettings{
			Failures:          rapid.SampledFrom([]int{0, 1, 1, 2, 3}).Draw(t, "failures"),
			Cooldown:          rapid.SampledFrom([]time.Duration{time.Millisecond, 10 * time.Millisecond}).Draw(t, "cooldown"),
			ProbationRequests: rapid.IntRange(0, 2).Draw(t, "places"),
		}
		return s
	})
}

// TestEngineAgainstModel lets requests come and go, members fail and return and lists change, in any
// order, and holds every choice and every state against the linear model. Lists are replaced in steps,
// with requests between them, as happens when the list is long.
func TestEngineAgainstModel(t *testing.T) {
	for _, b := range []Balance{RoundRobin, LeastConn, Hash} {
		t.Run(string(b), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := settingsGen(b).Draw(t, "settings")
				c := &pair{t: t, now: epoch, list: listGen(12).Draw(t, "list")}
				c.model = newModel(s, c.list)
				var err error
				if c.pool, err = NewPool(Options{Settings: s, Members: c.list, Now: epoch}); err != nil {
					t.Fatal(err)
				}
				t.Repeat(map[string]func(*rapid.T){
					"request":  c.request,
					"answered": c.answered,
					"done":     c.done,
					"done2":    c.done,
					"wait":     c.wait,
					"replace":  c.replace,
					"begin":    c.begin,
					"read":     c.read,
					"enter":    c.enter,
					"commit":   c.commit,
					"explain":  c.explain,
					"":         c.compare,
				})
			})
		})
	}
}

// request makes one to six attempts, of which all but the last are given back at once or later.
func (c *pair) request(t *rapid.T) {
	var key Key
	if c.model.settings.Balance == Hash && rapid.Bool().Draw(t, "keyed") {
		key = TextKey([]byte{byte(rapid.IntRange(1, 6).Draw(t, "key"))})
	}
	var tried Tried
	var names []string
	for range rapid.IntRange(1, 6).Draw(t, "attempts") {
		l, ok := c.pool.Pick(c.now, key, &tried)
		m, want := c.model.pick(c.now, key, names)
		if ok != want {
			t.Fatalf("picked %v %q, want %v", ok, l.Address(), want)
		}
		if !ok {
			return
		}
		if l.Address() != m.m.address {
			t.Fatalf("picked %s, want %s", l.Address(), m.m.address)
		}
		names = append(names, l.Address())
		c.leases = append(c.leases, leasePair{l, m})
		if rapid.Bool().Draw(t, "over") {
			c.finish(len(c.leases)-1, outcomeGen.Draw(t, "outcome"))
		}
	}
}

var outcomeGen = rapid.SampledFrom([]Outcome{Success(), Failure(Reset), Failure(Reset), Neutral()})

func (c *pair) finish(i int, o Outcome) {
	l := c.leases[i]
	c.leases = append(c.leases[:i:i], c.leases[i+1:]...)
	l.lease.Done(c.now, o)
	c.model.done(c.now, l.model, o)
}

func (c *pair) some(t *rapid.T) int {
	if len(c.leases) == 0 {
		t.Skip("nothing in flight")
	}
	return rapid.IntRange(0, len(c.leases)-1).Draw(t, "lease")
}

func (c *pair) answered(t *rapid.T) {
	i := c.some(t)
	l := c.leases[i]
	o := rapid.SampledFrom([]Outcome{Success(), Failure(Status503)}).Draw(t, "head")
	l.lease.Answered(c.now, o)
	c.model.answered(c.now, l.model, o)
	c.leases[i] = l
	if o.Failed() {
		c.finish(i, Success()) // the body of a 503 that ends well is no success
	} else {
		c.finish(i, outcomeGen.Draw(t, "body"))
	}
}

func (c *pair) done(t *rapid.T) { c.finish(c.some(t), outcomeGen.Draw(t, "outcome")) }

func (c *pair) wait(t *rapid.T) {
	c.now = c.now.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, "ms")) * time.Millisecond)
}

func (c *pair) replace(t *rapid.T) {
	if c.draft != nil {
		t.Skip("one at a time")
	}
	c.list = listGen(12).Draw(t, "list")
	c.pool.Replace(c.now, c.list, "test")
	c.model.replace(c.list)
}

func (c *pair) begin(t *rapid.T) {
	if c.draft != nil {
		t.Skip("one at a time")
	}
	c.next = listGen(12).Draw(t, "next")
	c.draft = c.pool.prepare(c.next)
	c.draft.batch = rapid.IntRange(1, 4).Draw(t, "batch")
}

// read and enter are a round of carrying over, with or without requests in between.
func (c *pair) read(t *rapid.T) {
	if c.draft == nil || c.reading || len(c.draft.stale) == 0 {
		t.Skip("nothing to read")
	}
	c.draft.read(c.pool.roster.Load())
	c.reading = true
}

func (c *pair) enter(t *rapid.T) {
	if !c.reading {
		t.Skip("nothing to enter")
	}
	c.draft.enter()
	c.reading = false
}

func (c *pair) commit(t *rapid.T) {
	if c.draft == nil || c.reading {
		t.Skip("nothing to commit")
	}
	c.pool.carry(c.draft)
	c.pool.roster.Store(c.draft.roster)
	c.pool.mu.Unlock()
	c.model.replace(c.next)
	c.list, c.draft = c.next, nil
	// Settling the classes may take a while, or not be over when the next list comes.
	for range rapid.IntRange(0, 8).Draw(t, "settle") {
		c.pool.roster.Load().queues.settle(2)
	}
}

// explain must name the next pick and change nothing.
func (c *pair) explain(t *rapid.T) {
	if c.draft != nil {
		t.Skip("one at a time")
	}
	before := c.pool.Status(c.now)
	e := c.pool.Explain(c.now, Key{})
	if diff := cmp.Diff(before, c.pool.Status(c.now)); diff != "" {
		t.Fatalf("Explain changed the pool:\n%s", diff)
	}
	var tried Tried
	var got []string
	for range 1 + c.pool.settings.Retries {
		l, ok := c.pool.Pick(c.now, Key{}, &tried)
		m, _ := c.model.pick(c.now, Key{}, got)
		if !ok {
			break
		}
		got = append(got, l.Address())
		l.Done(c.now, Neutral())
		c.model.done(c.now, m, Neutral())
	}
	var want []string
	if e.Member != "" {
		want = append([]string{e.Member}, e.Retries...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("explained and picked differ (-explained +picked):\n%s", diff)
	}
}

func (c *pair) compare(t *rapid.T) {
	got, want := c.pool.Status(c.now).Members, c.model.status(c.now)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(MemberStatus{}, "LastFailure")); diff != "" {
		t.Fatalf("status (-want +got):\n%s", diff)
	}
}
