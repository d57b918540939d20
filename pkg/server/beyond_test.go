package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// The settings that go beyond the users' guide, each through the daemon.

func TestCountTunnels(t *testing.T) {
	m := named(t, "a", "b")
	m[0].Script(servertest.Upgrade())
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"balance: least_conn", "count_tunnels: true"}})
	c := servertest.Dial(t, d.Address)
	c.Send("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if r := c.Response("GET"); r.Status != 101 {
		t.Fatalf("got %s", r.Head)
	}
	c.Send("x")
	c.Read(1)
	if n := show(t, d).Members[0].InFlight; n != 1 {
		t.Errorf("%d in flight during the tunnel, want 1", n)
	}
	if got := d.Sequence(3); got != "b b b" {
		t.Errorf("during the tunnel: %q", got)
	}
	c.CloseWrite()
	if _, err := c.Rest(); err != nil {
		t.Errorf("closing: %v", err)
	}
	d.Until("the tunnel is no longer in flight", func() bool { return show(t, d).Members[0].InFlight == 0 })
}

// Two daemons with the same key file understand each other's cookies; without one they do not.
func TestHashKeyFile(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	m := named(t, "a", "b", "c", "d")
	for _, c := range []struct {
		name, hash string
		same       bool
	}{
		{"with a key file", "hash: {by: cookie, key_file: " + key + "}", true},
		{"without", "hash: {by: cookie}", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			setup := servertest.Setup{Members: addresses(m), Pool: []string{"balance: hash", c.hash}}
			one, two := servertest.Start(t, setup), servertest.Start(t, setup)
			first := one.Get("/")
			cookie, _, _ := strings.Cut(first.Header.Get("Set-Cookie"), ";")
			two.Get("/") // moves its turn on, so that the same member is no accident
			again := two.Get("/", "Cookie: "+cookie)
			if same := again.Body == first.Body && again.Header.Get("Set-Cookie") == ""; same != c.same {
				t.Errorf("the cookie of one led to %s and of two to %s, with Set-Cookie %q", first.Body, again.Body, again.Header.Get("Set-Cookie"))
			}
		})
	}
}

// A budget without a minimum: one retry for five requests.
func TestRetryBudgetHoldsRetriesDown(t *testing.T) {
	m := named(t, "a", "b")
	m[0].Default(servertest.Status(503))
	m[1].Default(servertest.Status(503))
	d := servertest.Start(t, servertest.Setup{
		Members: addresses(m), Pool: []string{"passive_health: {failures: 0}", "retry_budget: {ratio: 0.2, min_per_second: 0}"},
	})
	for range 50 {
		if r := d.Get("/"); r.Status != 503 {
			t.Errorf("got %d", r.Status)
		}
	}
	if got := d.Metric(`scalws_upstream_pool_retries_total{pool="p"}`); got != "10" {
		t.Errorf("%s retries for 50 requests, want 10", got)
	}
}

// A hung member on probation gets one request at a time, however many clients there are.
func TestProbationTakesOneRequest(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{
		Members: addresses(m), Pool: []string{"passive_health: {failures: 1, cooldown: 50ms}", "retries: 0"},
	})
	m[0].Script(servertest.Status(503))
	for range 2 {
		d.Get("/")
	}
	d.Until("a is on probation", func() bool { return show(t, d).Members[0].State == "probation" })
	m[0].Default(servertest.Hold(servertest.Answer{Body: "a"}))
	before := len(m[0].Requests())
	for range 2 { // one of the two goes to a
		c := servertest.Dial(t, d.Address)
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	m[0].WaitRequests(before + 1)
	if got := d.Sequence(6); got != "b b b b b b" {
		t.Errorf("while the probe is out: %q", got)
	}
	if n := len(m[0].Requests()); n != before+1 {
		t.Errorf("a got %d requests, want one", n-before)
	}
	m[0].Release()
}
