package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// values are the daemon's series that begin with one of the prefixes, by what stands before the value.
func values(text string, prefixes ...string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		for _, p := range prefixes {
			if strings.HasPrefix(series, p) {
				all[series+"}"] = value
			}
		}
	}
	return all
}

// The numbers of a listener while a request is under way, and after its client has left.
func TestMetricsOfAListener(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	d.Get("/")
	d.Until("the first client has left", func() bool { return d.Metric(`scalws_listener_connections{listener="http"}`) == "0" })
	m[0].Default(servertest.Hold(servertest.Answer{Body: "a"}))
	c := servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(2)
	want := map[string]string{
		`scalws_listener_connections{listener="http"}`:                  "1",
		`scalws_listener_connections_accepted_total{listener="http"}`:   "2",
		`scalws_listener_requests_in_flight{listener="http"}`:           "1",
		`scalws_listener_requests_total{listener="http",protocol="h1"}`: "2",
		`scalws_listener_requests_total{listener="http",protocol="h2"}`: "0",
	}
	if diff := cmp.Diff(want, values(d.MetricsText(), "scalws_listener_")); diff != "" {
		t.Errorf("during a request (-want +got):\n%s", diff)
	}
	m[0].Release()
	c.Final("GET")
	c.Close()
	want[`scalws_listener_connections{listener="http"}`] = "0"
	want[`scalws_listener_requests_in_flight{listener="http"}`] = "0"
	d.Until("the client has left", func() bool {
		return cmp.Equal(want, values(d.MetricsText(), "scalws_listener_"))
	})
}

func TestMetricsPerMember(t *testing.T) {
	for _, tt := range []struct {
		name   string
		lines  []string
		member bool
	}{
		{"default", nil, true},
		{"true", []string{"per_member: true"}, true},
		{"false", []string{"per_member: false"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := named(t, "a", "b")
			d := servertest.Start(t, servertest.Setup{Members: addresses(m), Metrics: tt.lines})
			d.Get("/")
			text := d.MetricsText()
			if got := strings.Contains(text, `member="`); got != tt.member {
				t.Errorf("series with a member: %v\n%s", got, text)
			}
			want := map[string]string{
				`scalws_upstream_members{pool="p"}`:                        "2",
				`scalws_upstream_pool_retries_total{pool="p"}`:             "0",
				`scalws_upstream_request_duration_seconds_count{pool="p"}`: "1",
			}
			got := values(text, "scalws_upstream_members", "scalws_upstream_pool_retries", "scalws_upstream_request_duration_seconds_count")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// setMany makes n members of a pool that is set by the API. Nobody listens there.
func setMany(t testing.TB, d *servertest.Daemon, pool string, n int) {
	t.Helper()
	list := make([]api.SetMember, n)
	for i := range list {
		list[i].Address = fmt.Sprintf("127.1.%d.%d:1", i/256, i%256)
	}
	if _, err := d.Admin.SetMembers(t.Context(), pool, list); err != nil {
		t.Fatal(err)
	}
}

// A scrape that stands still in the middle of its answer holds nothing that others need.
func TestMetricsSlowScraper(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Rest: fmt.Sprintf(`upstreams:
  p: {members: [{address: %q}]}
  large: {members_from: api}
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, upstream: {pool: p}}}]}]
`, m[0].Address())})
	setMany(t, d, "large", 10_000)
	slow := servertest.Dial(t, d.Metrics)
	slow.Send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
	if begun := slow.Read(1000); !strings.Contains(begun, "200 OK") {
		t.Fatal(begun)
	}
	if r := d.Get("/"); r.Status != 200 {
		t.Errorf("a request got %d", r.Status)
	}
	setMany(t, d, "large", 9_000)
	if got := d.Metric(`scalws_upstream_members{pool="large"}`); got != "9000" {
		t.Errorf("another scrape shows %s members", got)
	}
}

// BenchmarkMetrics is a scrape of 10,000 members over a connection, the engine's part included.
func BenchmarkMetrics(b *testing.B) {
	d := servertest.Start(b, servertest.Setup{})
	setMany(b, d, "p", 10_000)
	for b.Loop() {
		if n := len(d.MetricsText()); n < 60_000*50 {
			b.Fatalf("%d bytes", n)
		}
	}
}

// A member dies under load. In agreement, and within a second of its ejection, it shows in the metrics, in the
// API, in the process log and in the access log.
func TestDeadMemberShowsEverywhere(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"passive_health: {failures: 3, cooldown: 1h}"}})
	d.Sequence(4)
	dead := m[1].Address()
	m[1].Kill()
	requests := 4
	ejected := `scalws_upstream_member_ejected{member="` + dead + `",pool="p"}`
	for ; d.Metric(ejected) != "1"; requests++ {
		if r := d.Get("/"); r.Status != 200 || requests > 20 {
			t.Fatalf("request %d: %s", requests, r.Head)
		}
	}
	begin := time.Now()
	up, err := d.Admin.Upstream(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	if got := up.Members[1]; got.Address != dead || got.State != "ejected" || got.ConsecutiveFailures != 3 || got.LastFailure != "connect_refused" {
		t.Errorf("the API shows %+v", got)
	}
	event := "kind=ejected pool=p member=" + dead
	d.Until("the process log tells", func() bool { return strings.Contains(d.ProcessLog(), event) })
	retried := 0
	for _, line := range d.Lines(requests) {
		if line["upstream_attempts"] == 2.0 && line["upstream_member"] == m[0].Address() && line["status"] == 200.0 {
			retried++
		}
	}
	// The limit of a second is for the daemon; a busy machine may add to it.
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("log lines came after %s", took)
	}
	want := map[string]string{
		`scalws_upstream_requests_total{class="error",member="` + dead + `",pool="p"}`: "3",
		`scalws_upstream_pool_retries_total{pool="p"}`:                                 "3",
	}
	got := values(d.MetricsText(), `scalws_upstream_requests_total{class="error",member="`+dead, "scalws_upstream_pool_retries_total")
	if diff := cmp.Diff(want, got); diff != "" || retried != 3 {
		t.Errorf("%d lines of retried requests; metrics (-want +got):\n%s", retried, diff)
	}
}
