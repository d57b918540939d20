package server_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

func setMembers(t *testing.T, d *servertest.Daemon, members ...*servertest.Member) {
	t.Helper()
	list := []api.SetMember{}
	for _, m := range members {
		list = append(list, api.SetMember{Address: m.Address()})
	}
	if _, err := d.Admin.SetMembers(t.Context(), "p", list); err != nil {
		t.Fatal(err)
	}
}

// R03: the second attempt has the whole small body, and its length.
func TestR03SmallBodyIsSentAgain(t *testing.T) {
	m := named(t, "a", "b")
	m[0].Default(servertest.Status(503))
	m[1].Default(servertest.Digest())
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"passive_health: {failures: 0}"}})
	want := fmt.Sprintf("%x 4\n", sha256.Sum256([]byte("test")))
	for _, c := range []struct {
		name   string
		pieces []string
	}{{"in one piece", []string{"test"}}, {"in two", []string{"te", "st"}}, {"behind the head", []string{"", "test"}}} {
		t.Run(c.name, func(t *testing.T) {
			failed := len(m[0].Requests())
			conn := servertest.Dial(t, d.Address)
			for range 2 { // the turn is a's in one of them
				conn.Send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n", c.pieces[0])
				for _, p := range c.pieces[1:] {
					conn.Send(p)
				}
				if r := conn.Final("PUT"); r.Body != want {
					t.Errorf("got %s%s, want %s", r.Head, r.Body, want)
				}
			}
			if len(m[0].Requests()) == failed {
				t.Error("no attempt failed")
			}
		})
	}
	for _, r := range m[1].Requests() {
		if got := r.Fields("Content-Length"); !slices.Equal(got, []string{"4"}) || len(r.Fields("Transfer-Encoding")) > 0 {
			t.Errorf("the second member got %s", r.Head)
		}
	}
}

// R13: a connection that was accepted and closed says nothing of what the member has read: a POST reaches the
// members once at most.
func TestR13ClosedBeforeReading(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"passive_health: {failures: 0}"}})
	for range 20 {
		m[0].Script(servertest.CloseUnread())
		before := len(m[0].Requests()) + len(m[1].Requests())
		c := servertest.Dial(t, d.Address)
		c.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\ntest")
		r := c.Final("POST")
		if got := len(m[0].Requests()) + len(m[1].Requests()) - before; got > 1 || r.Status != 200 && r.Status != 502 {
			t.Errorf("got %d, and %d copies", r.Status, got)
		}
		c.Close()
	}
}

// A03: a restart changes the key, so a cookie is replaced once.
func TestA03RestartReplacesTheCookieOnce(t *testing.T) {
	m := named(t, "a", "b", "c")
	setup := servertest.Setup{Members: addresses(m), Pool: []string{"balance: hash", "hash: {by: cookie}"}}
	cookie := ""
	for range 2 {
		d := servertest.Start(t, setup)
		first := d.Get("/", "Cookie: "+cookie)
		set := first.Fields("Set-Cookie")
		if len(set) != 1 {
			t.Fatalf("Set-Cookie after a start: %q", set)
		}
		cookie, _, _ = strings.Cut(set[0], ";")
		for range 3 {
			if r := d.Get("/", "Cookie: "+cookie); r.Body != first.Body || len(r.Fields("Set-Cookie")) != 0 {
				t.Errorf("the cookie of %s led to %s, %q", first.Body, r.Body, r.Fields("Set-Cookie"))
			}
		}
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	}
}

// B01: a backend of weight 0 stays listed and gets nothing.
func TestB01WeightZeroGetsNothing(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{Rest: fmt.Sprintf(`upstreams:
  p: {members: [{address: %q}]}
  q: {members: [{address: %q}]}
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, backends: [{pool: p, weight: 0}, {pool: q, weight: 1}]}}]}]
`, m[0].Address(), m[1].Address())})
	c := servertest.Dial(t, d.Address)
	for range 1000 {
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if r := c.Final("GET"); r.Body != "b" {
			t.Fatalf("got %s", r.Body)
		}
	}
	if n := len(m[0].Requests()); n != 0 || show(t, d).Members[0].Address != m[0].Address() {
		t.Errorf("%d requests at the backend of weight 0", n)
	}
}

// B03: a member that recovers has its weight again, and nothing to catch up.
func TestB03WeightAfterRecovery(t *testing.T) {
	m := named(t, "a", "b", "c")
	d := servertest.Start(t, servertest.Setup{Rest: fmt.Sprintf(`upstreams:
  p:
    members: [{address: %q, weight: 5}, {address: %q}, {address: %q}]
    passive_health: {failures: 1, cooldown: 100ms}
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, upstream: {pool: p}}}]}]
`, m[0].Address(), m[1].Address(), m[2].Address())})
	const turn = "a a b a c a a"
	if got := d.Sequence(7); got != turn {
		t.Errorf("before: %s", got)
	}
	m[0].Script(servertest.Status(503))
	if got := d.Sequence(1); got == "a" {
		t.Errorf("the failure was not tried again: %s", got)
	}
	d.Until("a is no longer ejected", func() bool { return show(t, d).Members[0].State != "ejected" })
	count := map[string]int{}
	last, run := "", 0
	for _, name := range strings.Fields(d.Sequence(70)) {
		count[name]++
		if name != last {
			last, run = name, 0
		}
		if run++; run > 5 {
			t.Errorf("%d times %s in a row", run, name)
		}
	}
	if n := count["a"]; n < 48 || n > 52 || count["b"] == 0 || count["c"] == 0 {
		t.Errorf("after: %v", count)
	}
}

// K03: a drain lets a stream come to its end.
func TestK03DrainFinishesStreams(t *testing.T) {
	m := named(t, "a")
	chunks := slices.Repeat([]string{"event\n"}, 12)
	m[0].Default(servertest.HoldBody(6, servertest.Answer{Chunks: chunks}))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	c := servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(1)
	d.Until("the stream has begun", func() bool { return show(t, d).Members[0].InFlight == 1 })
	d.Drain()
	waitListenerClosed(d)
	m[0].Release()
	if r := c.Final("GET"); r.Err != nil || r.Body != strings.Join(chunks, "") {
		t.Errorf("got %q, %v", r.Body, r.Err)
	}
	if rest, err := c.Rest(); rest != "" || err != nil {
		t.Errorf("behind it: %q, %v", rest, err)
	}
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
}

// M01: members that come and go leave no series behind.
func TestM01ChurnLeavesNoSeries(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{})
	setMembers(t, d, m...)
	d.Get("/")
	series := strings.Count(d.MetricsText(), `member="`)
	for i := range 50 {
		var list []api.SetMember
		for j := range 100 {
			list = append(list, api.SetMember{Address: fmt.Sprintf("192.0.2.%d:%d", j+1, i+1)})
		}
		if _, err := d.Admin.SetMembers(t.Context(), "p", list); err != nil {
			t.Fatal(err)
		}
	}
	setMembers(t, d, m...)
	if n := strings.Count(d.MetricsText(), `member="`); n != series {
		t.Errorf("%d series with a member, want %d", n, series)
	}
	if got := d.Metric(`scalws_upstream_requests_total{class="2xx",member="` + m[0].Address() + `",pool="p"}`); got != "0" && got != "" {
		t.Errorf("a member that comes again starts with %s", got)
	}
}

// M03: a retry chooses from the list as it is then.
func TestM03RetryAfterTheListChanged(t *testing.T) {
	m := named(t, "a", "b", "c")
	d := servertest.Start(t, servertest.Setup{})
	for range 10 {
		setMembers(t, d, m[0], m[1])
		for i := range 2 {
			m[i].Default(servertest.Hold(servertest.Status(503)))
		}
		before := len(m[0].Requests()) + len(m[1].Requests())
		c := servertest.Dial(t, d.Address)
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		d.Until("the first attempt is under way", func() bool { return len(m[0].Requests())+len(m[1].Requests()) > before })
		setMembers(t, d, m[2])
		m[0].Release()
		m[1].Release()
		if r := c.Final("GET"); r.Status != 200 || r.Body != "c" {
			t.Errorf("got %s%s", r.Head, r.Body)
		}
		c.Close()
	}
	for i := range 2 {
		m[i].WaitOpen(0) // the connections to members that are gone are not kept
	}
}

// W07: what is under way at a member survives its removal, and is not counted any more.
func TestW07RemovedMemberFinishes(t *testing.T) {
	m := named(t, "a", "b")
	m[0].Script(servertest.Upgrade(), servertest.HoldBody(6, servertest.Answer{Chunks: []string{"event\n", "event\n"}}))
	d := servertest.Start(t, servertest.Setup{})
	setMembers(t, d, m[0])
	tunnel := servertest.Dial(t, d.Address)
	tunnel.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if r := tunnel.Response("GET"); r.Status != 101 {
		t.Fatalf("got %s", r.Head)
	}
	stream := servertest.Dial(t, d.Address)
	stream.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(2)
	setMembers(t, d, m[1])
	tunnel.Send("hello")
	if got := tunnel.Read(5); got != "hello" {
		t.Errorf("through the tunnel: %q", got)
	}
	m[0].Release()
	if r := stream.Final("GET"); r.Body != "event\nevent\n" || r.Err != nil {
		t.Errorf("the stream: %q, %v", r.Body, r.Err)
	}
	stream.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if r := stream.Final("GET"); r.Body != "b" {
		t.Errorf("the next request: %q", r.Body)
	}
	tunnel.CloseWrite()
	tunnel.Rest()
	m[0].WaitOpen(0)
	if strings.Contains(d.MetricsText(), m[0].Address()) {
		t.Error("the removed member still has series")
	}
}
