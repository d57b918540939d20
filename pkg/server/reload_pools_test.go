package server_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// client is a kept-alive connection of a client.
type keptAlive struct{ *servertest.Conn }

func connect(t *testing.T, address string) keptAlive {
	t.Helper()
	return keptAlive{servertest.Dial(t, address)}
}

// ask sends a request and returns the body of the answer.
func (c keptAlive) ask(t *testing.T, fields ...string) string {
	t.Helper()
	c.Send("GET / HTTP/1.1\r\nHost: example.com\r\n" + strings.Join(append(fields, "\r\n"), "\r\n"))
	return c.Final("GET").Body
}

// planOf is what a plan says about the pool p, without the list.
func planOf(t *testing.T, plan api.Plan) api.PoolPlan {
	t.Helper()
	for _, p := range plan.Pools {
		if p.Name == "p" {
			p.Change = nil
			return p
		}
	}
	return api.PoolPlan{}
}

// eject makes a member fail until it is ejected.
func eject(t *testing.T, d *servertest.Daemon, m *servertest.Member) {
	t.Helper()
	m.Default(servertest.Status(503))
	d.Until(m.Address()+" is ejected", func() bool {
		d.Get("/")
		for _, x := range show(t, d).Members {
			if x.Address == m.Address() && x.State == api.StateEjected {
				return true
			}
		}
		return false
	})
}

// A pool whose settings are unchanged keeps its connections, its health and its requests in flight.
func TestReloadKeepsAPool(t *testing.T) {
	m := named(t, "a", "b")
	setup := servertest.Setup{Members: addresses(m), Pool: []string{"passive_health: {cooldown: 1h}"}}
	d := servertest.Start(t, setup)
	eject(t, d, m[1])
	c := connect(t, d.Address)
	c.ask(t)
	m[0].Script(servertest.Hold(servertest.Answer{Body: "held"}))
	busy := servertest.Dial(t, d.Address)
	asked := len(m[0].Requests())
	busy.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(asked + 1)
	before, connections := show(t, d), m[0].Connections()

	setup.Server = []string{"max_body: 1KiB"} // something else changes
	plan := d.Change(setup)
	if diff := cmp.Diff(api.PoolPlan{Name: "p", Action: "kept"}, planOf(t, plan)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"server.max_body"}, plan.Settings); diff != "" || plan.Result != api.PlanDone {
		t.Errorf("result %q, settings (-want +got):\n%s", plan.Result, diff)
	}
	if diff := cmp.Diff(before, show(t, d)); diff != "" {
		t.Errorf("the pool changed (-before +after):\n%s", diff)
	}
	m[0].Release()
	if r := busy.Final("GET"); r.Body != "held" {
		t.Errorf("the request in flight got %s%s", r.Head, r.Body)
	}
	if got := c.ask(t); got != "a" || m[0].Connections() != connections {
		t.Errorf("got %q over %d connections, want a over %d", got, m[0].Connections(), connections)
	}
	if r := d.Get("/", "Content-Length: 2000"); r.Status != 413 {
		t.Errorf("the new bound does not hold: %d", r.Status)
	}
}

// A file pool takes its new list, and members that stay keep all that they have. M01: the others have no
// series any more.
func TestReloadReplacesTheListOfAFilePool(t *testing.T) {
	m := named(t, "a", "b", "c")
	setup := servertest.Setup{Members: addresses(m[:2]), Pool: []string{"passive_health: {cooldown: 1h}"}}
	d := servertest.Start(t, setup)
	d.Sequence(2)
	eject(t, d, m[0])
	ejected := show(t, d)
	m[1].WaitOpen(1)

	setup.Members = []string{m[2].Address(), m[0].Address()}
	plan := d.Change(setup)
	want := api.PoolPlan{Name: "p", Action: "members_changed", Loses: &api.Loses{IdleConnections: 1}}
	if diff := cmp.Diff(want, planOf(t, plan)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	change := &api.ListChange{Added: []api.Entry{{Address: m[2].Address(), Weight: 1}}, Removed: []api.Entry{{Address: m[1].Address(), Weight: 1}},
		Reweighted: []api.Reweight{}, Unchanged: 1}
	if diff := cmp.Diff(change, plan.Pools[0].Change); diff != "" {
		t.Errorf("change (-want +got):\n%s", diff)
	}
	now := show(t, d)
	if now.Revision != ejected.Revision+1 || len(now.Members) != 2 {
		t.Fatalf("got %+v", now)
	}
	if diff := cmp.Diff(ejected.Members[0], now.Members[1]); diff != "" {
		t.Errorf("the member that stays changed (-before +after):\n%s", diff)
	}
	if got, want := d.Sequence(3), "c c c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	m[1].WaitOpen(0) // its idle connection is closed
	if text := d.MetricsText(); strings.Contains(text, m[1].Address()) || !strings.Contains(text, m[2].Address()) {
		t.Errorf("the series are not those of the list:\n%s", text)
	}
}

// A pool whose settings changed has fresh connections and health, and its ETag says that it changed.
func TestReloadRebuildsAPool(t *testing.T) {
	m := named(t, "a", "b")
	setup := servertest.Setup{Members: addresses(m), Pool: []string{"passive_health: {cooldown: 1h}"}}
	d := servertest.Start(t, setup)
	d.Sequence(2)
	eject(t, d, m[0])
	m[0].Default(servertest.Answer{Body: "a"})
	before := show(t, d)
	m[1].WaitOpen(1)

	setup.Pool = []string{"passive_health: {cooldown: 1h}", "retries: 3", "balance: least_conn"}
	want := api.PoolPlan{Name: "p", Action: "rebuilt", Because: []string{"balance", "retries"}, Loses: &api.Loses{Ejections: 1, IdleConnections: 1}}
	if diff := cmp.Diff(want, planOf(t, d.Change(setup))); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	m[1].WaitOpen(0)
	after := show(t, d)
	if after.Members[0].State != api.StateUp || after.Members[0].LastFailure != "" || after.Retries != 3 || after.Balance != "least_conn" {
		t.Errorf("got %+v", after)
	}
	incarnation := func(u api.Upstream) string { tag, _, _ := strings.Cut(u.ETag, "."); return tag }
	if after.Revision != before.Revision+1 || incarnation(after) != incarnation(before) {
		t.Errorf("the ETag went from %s to %s", before.ETag, after.ETag)
	}
	if got, want := d.Sequence(4), "a b a b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := d.Metric(`scalws_upstream_requests_total{class="2xx",member="` + m[0].Address() + `",pool="p"}`); got != "2" {
		t.Errorf("counters of the rebuilt pool: %s", got)
	}
}

// An api pool keeps the members that were set at run time, whatever the file says, and a pool that becomes one
// keeps those that it had. One that goes back to the file takes the file's.
func TestReloadAndMembersFrom(t *testing.T) {
	m := named(t, "file", "set", "other")
	file, set, other := m[0].Address(), m[1].Address(), m[2].Address()
	api1 := []string{"members_from: api"}
	for name, tc := range map[string]struct {
		before, after servertest.Setup
		set           bool
		want          string
	}{
		"api, settings unchanged": {servertest.Setup{Members: []string{file}, Pool: api1}, servertest.Setup{Members: []string{other}, Pool: api1}, true, set},
		"api, settings changed":   {servertest.Setup{Members: []string{file}, Pool: api1}, servertest.Setup{Members: []string{other}, Pool: append(api1, "retries: 2")}, true, set},
		"api, never set":          {servertest.Setup{Members: []string{file}, Pool: api1}, servertest.Setup{Members: []string{other}, Pool: api1}, false, file},
		"file to api":             {servertest.Setup{Members: []string{file}}, servertest.Setup{Members: []string{other}, Pool: api1}, false, file},
		"api to file":             {servertest.Setup{Members: []string{file}, Pool: api1}, servertest.Setup{Members: []string{other}}, true, other},
	} {
		t.Run(name, func(t *testing.T) {
			d := servertest.Start(t, tc.before)
			if tc.set {
				if _, err := d.Admin.SetMembers(t.Context(), "p", []api.SetMember{{Address: set}}); err != nil {
					t.Fatal(err)
				}
			}
			d.Change(tc.after)
			if u := show(t, d); len(u.Members) != 1 || u.Members[0].Address != tc.want {
				t.Errorf("the members are %+v, want %s", u.Members, tc.want)
			}
			_, err := d.Admin.SetMembers(t.Context(), "p", []api.SetMember{{Address: other}})
			var problem *api.Problem
			if refused := errors.As(err, &problem) && problem.Status == 409; refused != (len(tc.after.Pool) == 0) {
				t.Errorf("setting members afterwards: %v", err)
			}
		})
	}
}

// A removed pool is gone with its series; its requests in flight finish and are not retried elsewhere.
func TestReloadRemovesAPool(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"retries: 5"}})
	m[0].Script(servertest.Hold(servertest.Answer{Body: "whole"}), servertest.Hold(servertest.Status(503)))
	m[1].Default(servertest.Hold(servertest.Answer{}))
	good, bad := servertest.Dial(t, d.Address), servertest.Dial(t, d.Address)
	good.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") // a
	m[0].WaitBodies(1)
	third := servertest.Dial(t, d.Address)
	third.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") // b
	m[1].WaitBodies(1)
	bad.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") // a, which will fail
	m[0].WaitBodies(2)

	plan := d.Change(servertest.Setup{Rest: "upstreams: {q: {members_from: api}}\n" +
		"tenants: [{name: t, applications: [{name: a, domains: [\"*\"], runtime: {type: proxy, upstream: {pool: q}}}]}]\n"})
	if diff := cmp.Diff(api.PoolPlan{Name: "p", Action: "removed", Loses: &api.Loses{InFlight: 3}}, planOf(t, plan)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	var problem *api.Problem
	if _, err := d.Admin.Upstream(t.Context(), "p"); !errors.As(err, &problem) || problem.Status != 404 {
		t.Errorf("the pool is still there: %v", err)
	}
	if text := d.MetricsText(); strings.Contains(text, `pool="p"`) || !strings.Contains(text, `pool="q"`) {
		t.Errorf("the series are not those of the pools:\n%s", text)
	}
	m[0].Release()
	if r := good.Final("GET"); r.Status != 200 || r.Body != "whole" {
		t.Errorf("the request in flight got %s%s", r.Head, r.Body)
	}
	if r := bad.Final("GET"); r.Status != 503 || len(m[1].Requests()) != 1 {
		t.Errorf("the failed request got %s%s after %d requests at the other member", r.Head, r.Body, len(m[1].Requests()))
	}
	m[1].Release()
	if r := third.Final("GET"); r.Status != 200 {
		t.Errorf("the third request got %s", r.Head)
	}
	for _, x := range m {
		x.WaitOpen(0)
	}
	if text := d.MetricsText(); strings.Contains(text, `pool="p"`) {
		t.Errorf("the last requests brought series back:\n%s", text)
	}
}

// M03: the retry of a request that a reload overtakes goes by the list of now.
func TestM03RetryAcrossAReload(t *testing.T) {
	m := named(t, "a", "b", "c")
	m[0].Script(servertest.Hold(servertest.Status(503)))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m[:2])})
	c := servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(1)
	d.Change(servertest.Setup{Members: addresses([]*servertest.Member{m[0], m[2]})})
	m[0].Release()
	if r := c.Final("GET"); r.Body != "c" || len(m[1].Requests()) != 0 {
		t.Errorf("got %q, and the removed member %d requests", r.Body, len(m[1].Requests()))
	}
}

// A single address with unchanged settings keeps its connections, also under another application; one with
// changed settings gets fresh ones.
func TestReloadAndASingleAddress(t *testing.T) {
	m := named(t, "a")
	rest := func(app, runtime string) servertest.Setup {
		return servertest.Setup{Rest: "tenants: [{name: t, applications: [{name: " + app + ", domains: [\"*\"], runtime: {type: proxy, upstream: \"http://" +
			m[0].Address() + "\"" + runtime + "}}]}]\n"}
	}
	d := servertest.Start(t, rest("a", ""))
	d.Get("/")
	for _, step := range []struct {
		name        string
		setup       servertest.Setup
		connections int
	}{
		{"nothing changed", rest("a", ""), 1},
		{"another application, a timeout of attempts", rest("b", ", response_timeout: 9s, client: {connect_timeout: 1s}"), 1},
		{"another idle_timeout", rest("b", ", client: {idle_timeout: 10s}"), 2},
	} {
		d.Change(step.setup)
		if r := d.Get("/"); r.Body != "a" || m[0].Connections() != step.connections {
			t.Errorf("%s: got %q over %d connections, want %d", step.name, r.Body, m[0].Connections(), step.connections)
		}
		m[0].WaitOpen(1)
	}
}

// Timeouts of upstream_client hold from the next attempt on, without a rebuild.
func TestReloadChangesTimeoutsOfMembers(t *testing.T) {
	m := named(t, "a")
	setup := servertest.Setup{Members: addresses(m)}
	d := servertest.Start(t, setup)
	d.Get("/")
	setup.Server = []string{"upstream_client: {response_timeout: 50ms}"}
	if p := planOf(t, d.Change(setup)); p.Action != "kept" {
		t.Errorf("the pool is %s", p.Action)
	}
	m[0].Script(servertest.Hold(servertest.Answer{}))
	if r := d.Get("/"); r.Status != 504 || m[0].Connections() != 1 {
		t.Errorf("got %d over %d connections", r.Status, m[0].Connections())
	}
	m[0].Release()
	d.Get("/")
	m[0].WaitOpen(1)
	setup.Server = []string{"upstream_client: {idle_timeout: 1ms}"}
	d.Change(setup)
	m[0].WaitOpen(0) // the connection that was idle already
}

// The split between backends goes on where it was, so that frequent reloads do not starve the small share.
func TestReloadGoesOnWithASplit(t *testing.T) {
	m := named(t, "a", "b")
	setup := servertest.Setup{Rest: `upstreams:
  a: {members: [{address: "` + m[0].Address() + `"}]}
  b: {members: [{address: "` + m[1].Address() + `"}]}
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, backends: [{pool: a, weight: 3}, {pool: b, weight: 1}]}}]}]
`}
	d := servertest.Start(t, setup)
	var got []string
	for range 8 {
		got = append(got, d.Get("/").Body)
		d.Change(setup)
	}
	if want := "a a b a a a b a"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// A03: the affinity key outlives reloads, of a rebuilt pool too; a restart makes another one.
func TestA03AffinityOutlivesReloads(t *testing.T) {
	m := named(t, "a", "b", "c", "d")
	setup := servertest.Setup{Members: addresses(m), Pool: []string{"balance: hash", "hash: {by: cookie}"}}
	d := servertest.Start(t, setup)
	first := d.Get("/")
	cookie, _, _ := strings.Cut(first.Header.Get("Set-Cookie"), ";")
	for i, change := range []func(){
		func() {},
		func() { setup.Server = []string{"max_body: 2KiB"} },
		func() { setup.Pool = append(setup.Pool, "retries: 2") },
		func() { setup.Members = append(setup.Members[:3:3], setup.Members[0]+"0")[:3] },
	} {
		change()
		d.Change(setup)
		for range 3 {
			if r := d.Get("/", "Cookie: "+cookie); r.Body != first.Body || r.Header.Get("Set-Cookie") != "" {
				t.Errorf("reload %d: left %s for %s, Set-Cookie %q", i, first.Body, r.Body, r.Header.Get("Set-Cookie"))
			}
		}
	}
	again := servertest.Start(t, setup)
	if r := again.Get("/", "Cookie: "+cookie); r.Header.Get("Set-Cookie") == "" {
		t.Error("the key outlived a restart")
	}
}
