package server_test

import (
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// A member that is killed is ejected after three failures; no client of an idempotent request sees it.
func TestKilledMemberIsEjected(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	m[0].Kill()
	for range 10 {
		if r := d.Get("/"); r.Status != 200 || r.Body != "b" {
			t.Errorf("got %d %q", r.Status, r.Body)
		}
	}
	u := show(t, d).Members[0]
	if u.State != api.StateEjected || u.ConsecutiveFailures != 3 || u.EjectedUntil == nil || u.LastFailure != "connect_refused" {
		t.Errorf("member %+v", u)
	}
	ejected := `scalws_upstream_member_ejected{member="` + m[0].Address() + `",pool="p"}`
	if got := d.Metric(ejected); got != "1" {
		t.Errorf("%s = %q", ejected, got)
	}
	if got := d.Metric(`scalws_upstream_requests_total{class="error",member="` + m[0].Address() + `",pool="p"}`); got != "3" {
		t.Errorf("errors = %q, want 3", got)
	}
}

// After the cooldown one success brings a member back, one failure ejects it again (P03).
func TestP03Probation(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{
		Members: addresses(m), Pool: []string{"passive_health: {failures: 3, cooldown: 50ms}", "retries: 0"},
	})
	fail := servertest.Status(503)
	m[0].Script(fail, fail, fail)
	for range 6 {
		d.Get("/")
	}
	if s := show(t, d).Members[0].State; s == api.StateUp {
		t.Fatalf("state %s after three failures", s)
	}
	probation := func() {
		d.Until("a is on probation", func() bool { return show(t, d).Members[0].State == api.StateProbation })
	}
	probation()
	m[0].Script(fail)
	for range 2 {
		d.Get("/")
	}
	if u := show(t, d).Members[0]; u.State == api.StateUp {
		t.Errorf("one failure on probation: %+v", u)
	}
	probation()
	for range 2 {
		d.Get("/")
	}
	if u := show(t, d).Members[0]; u.State != api.StateUp || u.ConsecutiveFailures != 0 {
		t.Errorf("one success on probation: %+v", u)
	}
}

// P05: when all are ejected the one ejected longest ago is tried; a pool of one keeps answering.
func TestP05AllEjected(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Answer{Status: 503, Body: "own"})
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	for range 6 {
		if r := d.Get("/"); r.Status != 503 || r.Body != "own" {
			t.Errorf("got %d %q, want the member's own 503", r.Status, r.Body)
		}
	}
	m[0].Default(servertest.Answer{Body: "well"})
	if r := d.Get("/"); r.Body != "well" {
		t.Errorf("got %q", r.Body)
	}
	if u := show(t, d).Members[0]; u.State != api.StateUp {
		t.Errorf("a success brings it back at once: %+v", u)
	}
}

// P07: requests that were in flight at the ejection neither extend nor end it.
func TestP07InFlightAtEjection(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"retries: 0"}})
	m[0].Script(servertest.Hold(servertest.Answer{Body: "late"}), servertest.Hold(servertest.Status(503)))
	var held []*servertest.Conn
	for range 4 { // two of them reach a
		c := servertest.Dial(t, d.Address)
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		held = append(held, c)
	}
	m[0].WaitBodies(2)
	m[0].Script(servertest.Status(503), servertest.Status(503), servertest.Status(503))
	for range 6 {
		d.Get("/")
	}
	before := show(t, d).Members[0]
	m[0].Release()
	for _, c := range held {
		c.Final("GET")
	}
	d.Until("the held ones are done", func() bool { return show(t, d).Members[0].InFlight == 0 })
	after := show(t, d).Members[0]
	if before.State != api.StateEjected || after.State != api.StateEjected || !before.EjectedUntil.Equal(*after.EjectedUntil) {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// B07: one address in two pools is two members.
func TestB07OneAddressInTwoPools(t *testing.T) {
	m := named(t, "a")
	fail := servertest.Status(503)
	d := servertest.Start(t, servertest.Setup{Rest: strings.ReplaceAll(`upstreams:
  one: {members: [{address: "ADDR"}]}
  two: {members: [{address: "ADDR"}]}
tenants: [{name: t, applications: [
  {name: one, domains: [one], runtime: {type: proxy, upstream: {pool: one}}},
  {name: two, domains: [two], runtime: {type: proxy, upstream: {pool: two}}}]}]
`, "ADDR", m[0].Address())})
	m[0].Script(fail, fail, fail)
	for range 3 {
		get(t, d, "one", "/")
	}
	all, err := d.Admin.Upstreams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all[0].Members[0].State != api.StateEjected || all[1].Members[0].State != api.StateUp {
		t.Errorf("got %+v", all)
	}
}

// A single address is one member that is never retried or ejected, and in no pool metric.
func TestSingleAddress(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{
		Members: addresses(m), Runtime: `{type: proxy, upstream: "http://` + m[0].Address() + `"}`,
	})
	for range 5 {
		m[0].Script(servertest.Status(503))
		if r := d.Get("/"); r.Status != 503 {
			t.Errorf("got %d", r.Status)
		}
	}
	if r := d.Get("/"); r.Status != 200 || r.Body != "a" {
		t.Errorf("got %d %q", r.Status, r.Body)
	}
	if l := d.Lines(1)[0]; l["pool"] != "-" || l["upstream_member"] != "-" || l["upstream_attempts"] != 0.0 {
		t.Errorf("log %v", l)
	}
	if got := d.Metric(`scalws_upstream_requests_total{class="2xx",member="` + m[0].Address() + `",pool="p"}`); got != "0" {
		t.Errorf("counted in a pool's metric: %s", got)
	}
}

func TestUnixMember(t *testing.T) {
	m := servertest.NewUnixMember(t)
	m.Default(servertest.Answer{Body: "unix"})
	d := servertest.Start(t, servertest.Setup{Members: []string{m.Address()}})
	if r := d.Get("/"); r.Body != "unix" {
		t.Errorf("got %s%s", r.Head, r.Body)
	}
}
