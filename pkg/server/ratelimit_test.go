package server_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// limitedApp is the configuration of an application a of the tenant t with more keys, and routes.
func limitedApp(member, keys, routes string) servertest.Setup {
	return servertest.Setup{
		Server: []string{"trusted_proxies: [127.0.0.1]"},
		Rest: fmt.Sprintf("upstreams: {p: {members: [{address: %q}]}}\ntenants: [{name: t, applications: [{name: a, domains: [\"*\"], "+
			"runtime: {type: proxy, upstream: {pool: p}}, %s, routes: [%s]}]}]\n", member, keys, routes),
	}
}

// statuses are the statuses of requests, one for each set of fields.
func statuses(d *servertest.Daemon, path string, fields ...string) string {
	var all []string
	for _, f := range fields {
		all = append(all, strconv.Itoa(d.Get(path, f).Status))
	}
	return strings.Join(all, " ")
}

func from(addresses ...string) (fields []string) {
	for _, a := range addresses {
		fields = append(fields, "X-Forwarded-For: "+a)
	}
	return fields
}

// What a client is told that comes too fast: in plain text, how long to wait, and by which policy.
func TestRateLimitAnswer(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, limitedApp(m[0].Address(), "rate_limit: {requests: 2, per: 1h}, quota: {requests: 1000, per: 1d}", ""))
	for range 2 {
		if r := d.Get("/"); r.Status != 200 || r.Header.Get("RateLimit") != "" {
			t.Fatalf("got %s", r.Head)
		}
	}
	r := d.Get("/")
	got := map[string]string{"body": r.Body}
	for _, name := range []string{"Content-Type", "RateLimit-Policy", "Content-Length"} {
		got[name] = r.Header.Get(name)
	}
	want := map[string]string{
		"body":             "429 Too Many Requests: requests come faster than allowed\n",
		"Content-Type":     "text/plain; charset=utf-8",
		"RateLimit-Policy": `"rate";q=2;w=3600, "quota";q=1000;w=86400`,
		"Content-Length":   "57",
	}
	if diff := cmp.Diff(want, got); diff != "" || r.Status != 429 {
		t.Errorf("%s (-want +got):\n%s", r.Head, diff)
	}
	wait, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if err != nil || wait < 1700 || wait > 1800 {
		t.Errorf("Retry-After %q, want half an hour", r.Header.Get("Retry-After"))
	}
	if told := fmt.Sprintf(`"rate";r=0;t=%d`, wait); r.Header.Get("RateLimit") != told {
		t.Errorf("RateLimit %q, want %q", r.Header.Get("RateLimit"), told)
	}
	if got := len(m[0].Requests()); got != 2 {
		t.Errorf("the member got %d requests, want 2", got)
	}
	lines := d.Lines(3) // of three connections, in whatever order
	if !slices.ContainsFunc(lines, func(l map[string]any) bool {
		return l["status"] == 429.0 && l["application"] == "a" && l["upstream_member"] == "-"
	}) {
		t.Errorf("the log says %v", lines)
	}
}

func TestRateLimitBy(t *testing.T) {
	m := named(t, "a")
	tests := []struct {
		name, keys string
		fields     []string
		want       string
	}{
		{"client_ip", "rate_limit: {requests: 1, per: 1h}",
			from("192.0.2.1", "192.0.2.2", "192.0.2.1", "2001:db8::1", "2001:db8::2:3", "2001:db8:0:1::1", "::ffff:192.0.2.2"),
			"200 200 429 200 429 200 429"},
		{"header", "rate_limit: {requests: 1, per: 1h, by: header, header: X-Key}",
			[]string{"X-Key: a", "x-KEY: b", "X-Key: a", "X-Other: 1", "X-Other: 2", "X-Key:"}, "200 200 429 200 429 429"},
		{"application", "rate_limit: {requests: 1, per: 1h, by: application}", from("192.0.2.1", "192.0.2.2"), "200 429"},
		{"burst", "rate_limit: {requests: 1, per: 1h, burst: 3}", from("192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1"), "200 200 200 429"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := servertest.Start(t, limitedApp(m[0].Address(), tt.keys, ""))
			if got := statuses(d, "/", tt.fields...); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Who waits as long as it was told is let through.
func TestRateLimitEndsInTime(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, limitedApp(m[0].Address(), "rate_limit: {requests: 5, per: 1s, burst: 1}", ""))
	began := time.Now()
	d.Get("/")
	if r := d.Get("/"); r.Header.Get("Retry-After") != "1" && time.Since(began) < 200*time.Millisecond {
		t.Errorf("got %s", r.Head)
	}
	d.Until("a request is let through again", func() bool { return d.Get("/").Status == 200 })
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("let through after %v", took)
	}
}

// A route's limit takes the place of the application's, for itself alone; a route without one shares that.
func TestRouteLimits(t *testing.T) {
	m := named(t, "a")
	rt := "runtime: {type: proxy, upstream: {pool: p}}"
	d := servertest.Start(t, limitedApp(m[0].Address(), "rate_limit: {requests: 2, per: 1h}, quota: {requests: 4, per: 1d}",
		"{path: /own, rate_limit: {requests: 1, per: 1h}, "+rt+"}, {path: /shared, "+rt+"}, {path: /much, quota: {requests: 100, per: 1d}, rate_limit: {requests: 100, per: 1s}, "+rt+"}"))
	var got []string
	for _, path := range []string{"/own", "/own", "/", "/shared", "/", "/shared", "/much", "/much", "/much"} {
		got = append(got, path+" "+strconv.Itoa(d.Get(path).Status))
	}
	want := "/own 200, /own 429, / 200, /shared 200, / 429, /shared 429, /much 200, /much 200, /much 200"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	s, err := d.Admin.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var used []string
	for _, q := range s.Quotas {
		used = append(used, fmt.Sprintf("%q %d/%d", q.Path, q.Used, q.Limit))
	}
	// The request that the rate refused does not count.
	if diff := cmp.Diff([]string{`"" 3/4`, `"/much" 3/100`}, used); diff != "" {
		t.Errorf("quotas (-want +got):\n%s", diff)
	}
}

// nextDay is when a quota of a day that is asked for now ends.
func nextDay() time.Time { return time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }

func TestQuotaIsUsedUp(t *testing.T) {
	m := named(t, "a")
	reset := nextDay()
	d := servertest.Start(t, limitedApp(m[0].Address(), "quota: {requests: 2, per: 1d}", ""))
	if got := statuses(d, "/", from("192.0.2.1", "192.0.2.2")...); got != "200 200" {
		t.Fatalf("got %s", got)
	}
	r := d.Get("/")
	if !nextDay().Equal(reset) {
		t.Skip("midnight has come")
	}
	if r.Status != 429 || r.Body != "429 Too Many Requests: the quota of requests is used up\n" || r.Header.Get("RateLimit-Policy") != `"quota";q=2;w=86400` {
		t.Errorf("got %s%s", r.Head, r.Body)
	}
	wait, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if off := time.Until(reset) - time.Duration(wait)*time.Second; err != nil || off > time.Second || off < -time.Minute {
		t.Errorf("Retry-After %q, want the time until %v", r.Header.Get("Retry-After"), reset)
	}
	if told := fmt.Sprintf(`"quota";r=0;t=%d`, wait); r.Header.Get("RateLimit") != told {
		t.Errorf("RateLimit %q, want %q", r.Header.Get("RateLimit"), told)
	}
	s, err := d.Admin.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []api.Quota{{Tenant: "t", Application: "a", Used: 2, Limit: 2, Reset: reset, Refused: 1}}
	if diff := cmp.Diff(want, s.Quotas); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// The next window has the whole quota again.
func TestQuotaWindowTurns(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, limitedApp(m[0].Address(), "quota: {requests: 1, per: 1s}", ""))
	d.Until("a request is refused", func() bool { return d.Get("/").Status == 429 })
	d.Until("the next window", func() bool { return d.Get("/").Status == 200 })
}

// A limit whose definition is the same after a reload goes on where it was; another definition begins anew. The counters
// go on in any case.
func TestLimitsSurviveReload(t *testing.T) {
	m := named(t, "a")
	setup := func(rate, quota, more string) servertest.Setup {
		return limitedApp(m[0].Address(), "rate_limit: {requests: 1, per: 1h, burst: "+rate+"}, quota: {requests: "+quota+", per: 366d}"+more,
			"{path: /r, rate_limit: {requests: 1, per: 1h}, runtime: {type: proxy, upstream: {pool: p}}}")
	}
	d := servertest.Start(t, setup("1", "100", ""))
	used := func() uint64 {
		s, err := d.Admin.Status(t.Context())
		if err != nil || len(s.Quotas) != 1 {
			t.Fatalf("status %+v, %v", s, err)
		}
		return s.Quotas[0].Used
	}
	check := func(what, want string, quota uint64) {
		t.Helper()
		got := strconv.Itoa(d.Get("/").Status) + " " + strconv.Itoa(d.Get("/r").Status)
		if n := used(); got != want || n != quota {
			t.Errorf("%s: got %s and %d of the quota used, want %s and %d", what, got, n, want, quota)
		}
	}
	check("at first", "200 200", 2)
	check("again", "429 429", 2)
	d.Change(setup("1", "100", ", max_body: 1KiB"))
	check("the same definition", "429 429", 2)
	d.Change(setup("2", "100", ""))
	check("another burst", "200 429", 3)
	d.Change(setup("2", "101", ""))
	check("another quota", "200 429", 1)
	if got := d.Metric(`scalws_limit_refused_total{application="a",kind="rate_limit",tenant="t"}`); got != "6" {
		t.Errorf("%s refused, want 6", got)
	}
	if got := d.Metric(`scalws_limit_refused_total{application="a",kind="quota",tenant="t"}`); got != "0" {
		t.Errorf("%s refused by the quota, want 0", got)
	}
	d.Change(servertest.Setup{Rest: fmt.Sprintf("upstreams: {p: {members: [{address: %q}]}}\n", m[0].Address())})
	if text := d.MetricsText(); strings.Contains(text, "scalws_limit_refused_total{") {
		t.Error("an application that is gone has series")
	}
}

// A request that is refused gets neither a 100 Continue nor a reading of its body, and what it sends is never read as
// the next request.
func TestRefusedBeforeTheBody(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, limitedApp(m[0].Address(), "rate_limit: {requests: 1, per: 1h}", ""))
	d.Get("/")
	c := servertest.Dial(t, d.Address)
	c.Send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n")
	if r := c.Response("POST"); r.Status != 429 || !closes(r) {
		t.Errorf("got %s", r.Head)
	}
	c = servertest.Dial(t, d.Address)
	evil := "GET /evil HTTP/1.1\r\nHost: h\r\n\r\n"
	c.Send(fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(evil), evil))
	c.CloseWrite()
	if text, err := c.Rest(); strings.Count(text, "HTTP/1.1 ") != 1 || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	c = servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	for range 2 { // the connection goes on
		if r := c.Final("GET"); r.Status != 429 || closes(r) {
			t.Errorf("got %s", r.Head)
		}
	}
}

func TestRateLimitOverHTTP2(t *testing.T) {
	m := named(t, "a")
	setup := limitedApp(m[0].Address(), "rate_limit: {requests: 1, per: 1h}", "")
	setup.Listener = "h2c: true"
	d := servertest.Start(t, setup)
	client := servertest.HTTP2(t, d.Address, nil)
	for _, want := range []int{200, 429} {
		r, err := client.Get("http://h/")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want || (want == 429) != strings.HasPrefix(r.Header.Get("RateLimit"), `"rate";r=0;t=`) || r.ProtoMajor != 2 {
			t.Errorf("got %s %v, want %d", r.Status, r.Header, want)
		}
	}
}

// A request that is counted allocates nothing.
func TestLimitsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop buffers at random")
	}
	for _, by := range []string{"by: client_ip", "by: application", "by: header, header: user-agent"} {
		d := servertest.Start(t, limitedApp(quietMember(t), "rate_limit: {requests: 1000000, per: 1s, "+by+"}, quota: {requests: 1000000000, per: 1d}", ""))
		once := quietClient(t, d.Address)
		for range 100 {
			once()
		}
		if n := testing.AllocsPerRun(2000, once); n != 0 {
			t.Errorf("%s: %v allocations a request, want 0", by, n)
		}
	}
}

// BenchmarkLimitedRequest is BenchmarkRequest with a rate limit and a quota.
func BenchmarkLimitedRequest(b *testing.B) {
	d := servertest.Start(b, limitedApp(quietMember(b), "rate_limit: {requests: 1000000, per: 1s}, quota: {requests: 1000000000, per: 1d}", ""))
	once := quietClient(b, d.Address)
	b.ReportAllocs()
	for b.Loop() {
		once()
	}
}
