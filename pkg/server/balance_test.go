package server_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// named makes members that answer with their names.
func named(t *testing.T, names ...string) []*servertest.Member {
	t.Helper()
	var all []*servertest.Member
	for _, n := range names {
		m := servertest.NewMember(t)
		m.Default(servertest.Answer{Body: n})
		all = append(all, m)
	}
	return all
}

func addresses(members []*servertest.Member) []string {
	var all []string
	for _, m := range members {
		all = append(all, m.Address())
	}
	return all
}

func weight(n int) *int { return &n }

func TestRoundRobinTakesTurns(t *testing.T) {
	m := named(t, "a", "b", "c")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	if got, want := d.Sequence(6), "a b c a b c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWeightsAreSmooth(t *testing.T) {
	m := named(t, "a", "b", "c")
	d := servertest.Start(t, servertest.Setup{})
	_, err := d.Admin.SetMembers(t.Context(), "p", []api.SetMember{
		{Address: m[0].Address(), Weight: weight(5)}, {Address: m[1].Address()}, {Address: m[2].Address()},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Sequence(14), "a a b a c a a a a b a c a a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLeastConnCountsRequestsInFlight(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"balance: least_conn"}})
	m[0].Script(servertest.HoldBody(1, servertest.Answer{Body: "aa"}))
	c := servertest.Dial(t, d.Address)
	c.Send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitRequests(1)
	if got, want := d.Sequence(3), "b b b"; got != want {
		t.Errorf("with one body open at a: got %q, want %q", got, want)
	}
	m[0].Release()
	if r := c.Final("GET"); r.Body != "aa" {
		t.Errorf("held answer: %+v", r)
	}
	d.Until("a is idle again", func() bool { return show(t, d).Members[0].InFlight == 0 })
	if got, want := d.Sequence(2), "a b"; got != want && got != "b a" {
		t.Errorf("afterwards: got %q, want both in turn", got)
	}
}

func TestHashByHeaderSticks(t *testing.T) {
	m := named(t, "a", "b", "c")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"balance: hash", "hash: {by: header, name: X-User}"}})
	seen := map[string]bool{}
	for i := range 20 {
		user := fmt.Sprintf("X-User: %d", i)
		first := d.Get("/", user).Body
		seen[first] = true
		if again := d.Get("/", user).Body; again != first {
			t.Errorf("%s went to %s, then to %s", user, first, again)
		}
	}
	if len(seen) != 3 {
		t.Errorf("20 users reached only %v", seen)
	}
	if got := d.Sequence(3); got != "a b c" {
		t.Errorf("without the header: %q, want round robin", got)
	}
}

// Removing a member moves traffic at the next request; an empty list answers 503.
func TestSetMembersMovesTraffic(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{})
	r := d.Get("/")
	if r.Status != 503 || r.Header.Get("Retry-After") != "1" {
		t.Errorf("empty pool: %s", r.Head)
	}
	for _, want := range []string{"a", "b"} {
		i := int(want[0] - 'a')
		if _, err := d.Admin.SetMembers(t.Context(), "p", []api.SetMember{{Address: m[i].Address()}}); err != nil {
			t.Fatal(err)
		}
		if got := d.Sequence(2); got != want+" "+want {
			t.Errorf("after setting %s: %q", want, got)
		}
	}
	d.Until("the idle connections of the removed member are closed", func() bool {
		m[0].WaitOpen(0)
		return true
	})
	if got := d.Metric(`scalws_upstream_requests_total{class="2xx",member="` + m[0].Address() + `",pool="p"}`); got != "" {
		t.Errorf("a removed member still has a series: %s", got)
	}
}

// complete is the guide's complete example with the addresses of scripted members.
func complete(t *testing.T, byPort map[string]*servertest.Member) servertest.Setup {
	t.Helper()
	text, err := os.ReadFile("../../examples/complete.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "upstreams:\n")
	if !ok {
		t.Fatal("no upstreams section")
	}
	for port, m := range byPort {
		rest = strings.ReplaceAll(rest, "127.0.0.1:"+port, m.Address())
	}
	return servertest.Setup{Rest: "upstreams:\n" + rest}
}

func TestCompleteExampleServes(t *testing.T) {
	m := named(t, "web1", "web2", "stable1", "stable2", "canary")
	d := servertest.Start(t, complete(t, map[string]*servertest.Member{
		"8081": m[0], "8082": m[1], "9001": m[2], "9002": m[3],
	}))

	t.Run("cookie affinity sticks", func(t *testing.T) {
		first := get(t, d, "example.com", "/")
		cookie, _, _ := strings.Cut(first.Header.Get("Set-Cookie"), ";")
		if !strings.HasPrefix(cookie, "SCALWS_AFFINITY=") {
			t.Fatalf("no affinity cookie: %s", first.Head)
		}
		for range 5 {
			for _, host := range []string{"example.com", "www.example.com", "shop.example.com"} {
				r := get(t, d, host, "/", "Cookie: "+cookie)
				if r.Body != first.Body || r.Header.Get("Set-Cookie") != "" {
					t.Errorf("%s left %s: %s%s", host, first.Body, r.Head, r.Body)
				}
			}
		}
	})
	t.Run("without a cookie 2:1", func(t *testing.T) {
		n := map[string]int{}
		for range 9 {
			n[get(t, d, "shop.example.com", "/").Body]++
		}
		if n["web1"] != 6 || n["web2"] != 3 {
			t.Errorf("got %v, want 6 and 3", n)
		}
	})
	api100 := func() map[string]int {
		n := map[string]int{}
		for range 100 {
			n[strings.TrimRight(get(t, d, "example.com", "/api/x").Body, "12")]++
		}
		return n
	}
	t.Run("an empty canary sends all to stable", func(t *testing.T) {
		if n := api100(); n["stable"] != 100 {
			t.Errorf("got %v", n)
		}
	})
	t.Run("90 to 10 exactly once the canary has a member", func(t *testing.T) {
		if _, err := d.Admin.SetMembers(t.Context(), "api-canary", []api.SetMember{{Address: m[4].Address()}}); err != nil {
			t.Fatal(err)
		}
		if n := api100(); n["stable"] != 90 || n["canary"] != 10 {
			t.Errorf("got %v", n)
		}
	})
	t.Run("an unknown host is 404", func(t *testing.T) {
		if r := get(t, d, "nobody.example.com", "/"); r.Status != 404 {
			t.Errorf("got %d", r.Status)
		}
	})
}

func get(t *testing.T, d *servertest.Daemon, host, path string, fields ...string) servertest.Response {
	t.Helper()
	c := servertest.Dial(t, d.Address)
	defer c.Close()
	head := "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n"
	for _, f := range fields {
		head += f + "\r\n"
	}
	c.Send(head + "\r\n")
	return c.Final("GET")
}

func show(t *testing.T, d *servertest.Daemon) api.Upstream {
	t.Helper()
	u, err := d.Admin.Upstream(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestBackendStatuses(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Rest: `upstreams:
  a: {members: [{address: "` + m[0].Address() + `"}]}
  off: {members: [{address: "` + m[0].Address() + `"}]}
  empty: {members_from: api}
tenants: [{name: t, applications: [
  {name: mixed, domains: [mixed], runtime: {type: proxy, backends: [{pool: a, weight: 3}, {status: 500, weight: 1}, {pool: off, weight: 0}]}},
  {name: alone, domains: [alone], runtime: {type: proxy, backends: [{pool: empty, weight: 1}, {status: 599, weight: 1}]}}]}]
`})
	count := func(host string) map[int]int {
		n := map[int]int{}
		for range 40 {
			n[get(t, d, host, "/").Status]++
		}
		return n
	}
	if n := count("mixed"); n[200] != 30 || n[500] != 10 {
		t.Errorf("mixed: %v, want 30 times 200 and 10 times 500", n)
	}
	// No other backend has members, so the empty pool keeps its share (503).
	if n := count("alone"); n[503] != 20 || n[599] != 20 {
		t.Errorf("alone: %v, want 20 times 503 and 20 times 599", n)
	}
	if got := d.Metric(`scalws_upstream_requests_total{class="2xx",member="` + m[0].Address() + `",pool="off"}`); got != "0" {
		t.Errorf("a backend of weight 0 got %s requests", got)
	}
}
