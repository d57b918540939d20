package metrics

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

var update = flag.Bool("update", false, "write the golden files")

func sample() Snapshot {
	counts := make([]uint64, len(Buckets())+1)
	counts[0], counts[3], counts[16] = 5, 2, 1
	return Snapshot{
		Listeners: []Listener{
			{Name: "http", Connections: 4, Accepted: 19, InFlight: 2, Requests: [Protocols]uint64{ProtocolH1: 50}},
			{Name: "https", Accepted: 3, Requests: [Protocols]uint64{ProtocolH1: 1, ProtocolH2: 6}},
		},
		Pools: []Pool{
			{
				Name:     "api",
				Size:     2,
				Retries:  3,
				Duration: Histogram{Counts: counts, Sum: 90.25},
				Members: []Member{
					{Address: "192.0.2.5:8080", Attempts: [Classes]uint64{Class2xx: 7, Class4xx: 1}},
					{Address: "[2001:db8::5]:8080", Ejected: true, Attempts: [Classes]uint64{Class3xx: 2, Class5xx: 4, ClassError: 3}},
				},
			},
			{Name: "empty"},
		},
		Resends: []Resend{
			{Tenant: "acme", Application: "shop", Protocol: "h1", Count: 2},
			{Tenant: "acme", Application: "shop", Protocol: "h2", Count: 1},
		},
		Limits: []Limit{
			{Tenant: "acme", Application: "shop", Kind: "rate_limit", Refused: 7},
			{Tenant: "acme", Application: "shop", Kind: "quota"},
		},
		LogDropped:  12,
		AuditFailed: 13,
		StateFailed: 14,
		Reload:      Reload{Success: true, At: time.UnixMilli(1_796_000_000_250)},
	}
}

func fixed(s Snapshot) func() Snapshot { return func() Snapshot { return s } }

// exposition is what a scrape shows of the daemon's own families. The pedantic registry also holds the
// series against what Describe announced.
func exposition(t *testing.T, s Snapshot) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(newCollector(fixed(s), "1.2.3", "go1.26"))
	res, body := scrape(t, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", res.Status, body)
	}
	return body
}

type family struct{ name, kind, labels string }

// families is what scripts and dashboards rely on; docs_test.go holds the page against it.
func families() []family {
	return []family{
		{"scalws_access_log_dropped_total", "counter", ""},
		{"scalws_audit_log_failed_total", "counter", ""},
		{"scalws_build_info", "gauge", "version, goversion"},
		{"scalws_config_last_reload_success", "gauge", ""},
		{"scalws_config_last_reload_timestamp_seconds", "gauge", ""},
		{"scalws_limit_refused_total", "counter", "tenant, application, kind"},
		{"scalws_listener_connections", "gauge", "listener"},
		{"scalws_listener_connections_accepted_total", "counter", "listener"},
		{"scalws_listener_requests_in_flight", "gauge", "listener"},
		{"scalws_listener_requests_total", "counter", "listener, protocol"},
		{"scalws_state_file_failed_total", "counter", ""},
		{"scalws_upstream_member_ejected", "gauge", "pool, member"},
		{"scalws_upstream_members", "gauge", "pool"},
		{"scalws_upstream_pool_retries_total", "counter", "pool"},
		{"scalws_upstream_request_duration_seconds", "histogram", "pool"},
		{"scalws_upstream_requests_total", "counter", "pool, member, class"},
		{"scalws_upstream_retries_total", "counter", "tenant, application, protocol"},
	}
}

func TestExposition(t *testing.T) {
	golden := filepath.Join("testdata", "exposition.golden")
	got := exposition(t, sample())
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestFamilies(t *testing.T) {
	kinds := map[string]string{}
	for line := range strings.Lines(exposition(t, sample())) {
		if words := strings.Fields(line); words[0] == "#" && words[1] == "TYPE" {
			kinds[words[2]] = words[3]
		}
	}
	want := map[string]string{}
	for _, f := range families() {
		want[f.name] = f.kind
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
}

func TestLint(t *testing.T) {
	problems, err := testutil.CollectAndLint(newCollector(fixed(sample()), "1.2.3", "go1.26"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// What is gone has no series, and what comes back starts from its own counts.
func TestMemberGone(t *testing.T) {
	s := sample()
	if got := exposition(t, s); !strings.Contains(got, `member="192.0.2.5:8080"`) || !strings.Contains(got, `pool="empty"`) {
		t.Fatal(got)
	}
	s.Pools = s.Pools[:1]
	s.Pools[0].Members, s.Pools[0].Size = s.Pools[0].Members[1:], 1
	got := exposition(t, s)
	for _, gone := range []string{"192.0.2.5:8080", `pool="empty"`} {
		if strings.Contains(got, gone) {
			t.Errorf("%s is still there:\n%s", gone, got)
		}
	}
	if want := `scalws_upstream_members{pool="api"} 1`; !strings.Contains(got, want) {
		t.Errorf("%s is missing", want)
	}
}

// One address in two pools is two members.
func TestSameAddressInTwoPools(t *testing.T) {
	got := exposition(t, Snapshot{Pools: []Pool{
		{Name: "b", Members: []Member{{Address: "192.0.2.5:8080"}}},
		{Name: "a", Members: []Member{{Address: "192.0.2.5:8080", Ejected: true}}},
	}})
	for _, want := range []string{`{member="192.0.2.5:8080",pool="a"} 1`, `{member="192.0.2.5:8080",pool="b"} 0`} {
		if !strings.Contains(got, "scalws_upstream_member_ejected"+want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestBeforeTheFirstLoad(t *testing.T) {
	if got := exposition(t, Snapshot{}); strings.Contains(got, "reload") {
		t.Errorf("a reload before there was one:\n%s", got)
	}
}

func TestRefusedReload(t *testing.T) {
	got := exposition(t, Snapshot{Reload: Reload{At: time.Unix(1_796_000_000, 0)}})
	for _, want := range []string{"scalws_config_last_reload_success 0\n", "scalws_config_last_reload_timestamp_seconds 1.796e+09\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}

func TestBuckets(t *testing.T) {
	b := Buckets()
	if !slices.IsSorted(b) || b[0] != .0005 || b[len(b)-1] != 60 || len(b) != 16 {
		t.Errorf("Buckets() = %v", b)
	}
	b[0] = 7
	if Buckets()[0] != .0005 {
		t.Error("a caller can change the buckets")
	}
}

func scrape(t testing.TB, h http.Handler) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	b, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(b)
}

func TestHandler(t *testing.T) {
	reads := 0
	h := Handler(func() Snapshot { reads++; return sample() }, "1.2.3")
	res, body := scrape(t, h)
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Errorf("%s, %s", res.Status, res.Header.Get("Content-Type"))
	}
	for _, want := range []string{
		"go_goroutines ", "process_open_fds ", `scalws_build_info{goversion="go1.`, `version="1.2.3"} 1`,
		`scalws_upstream_requests_total{class="error",member="[2001:db8::5]:8080",pool="api"} 3`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if reads != 1 {
		t.Errorf("%d snapshots for one scrape", reads)
	}
}

// One series that cannot be shown must not blind the operator.
func TestHandlerInvalidLabel(t *testing.T) {
	s := sample()
	s.Pools[1].Name = "\xff"
	res, body := scrape(t, Handler(fixed(s), "1"))
	if want := `scalws_upstream_members{pool="api"} 2`; res.StatusCode != http.StatusOK || !strings.Contains(body, want) {
		t.Errorf("%s without %s", res.Status, want)
	}
}

// large is a pool of n members.
func large(n int) Snapshot {
	members := make([]Member, n)
	for i := range members {
		members[i] = Member{Address: fmt.Sprintf("10.0.%d.%d:8080", i/256, i%256), Attempts: [Classes]uint64{uint64(i), 1, 2, 3, 4}}
	}
	return Snapshot{Pools: []Pool{{Name: "api", Size: n, Members: members}}}
}

// Ten times the members cost about ten times as much. The bound is far from that, and from the hundredfold of
// something quadratic; it is processor time, which other programs do not lengthen.
func TestScrapeGrowsWithTheMembers(t *testing.T) {
	best := func(n int) time.Duration {
		h, least := Handler(fixed(large(n)), "1"), time.Hour
		for range 3 {
			begin := processorTime(t)
			for range 10_000 / n {
				scrape(t, h)
			}
			least = min(least, processorTime(t)-begin)
		}
		return least / time.Duration(10_000/n)
	}
	small, big := best(1000), best(10_000)
	if big > 40*small {
		t.Errorf("%s for 1,000 members and %s for 10,000", small, big)
	}
}

// processorTime is what the process has used so far.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestTooManyScrapesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := Handler(func() Snapshot { time.Sleep(time.Second); return sample() }, "1")
		var statuses [maxScrapes + 2]int
		var group sync.WaitGroup
		for i := range statuses {
			group.Go(func() {
				res, _ := scrape(t, h)
				statuses[i] = res.StatusCode
			})
		}
		group.Wait()
		slices.Sort(statuses[:])
		if statuses[maxScrapes-1] != http.StatusOK || statuses[maxScrapes] != http.StatusServiceUnavailable {
			t.Errorf("statuses %v, want %d of 200", statuses, maxScrapes)
		}
		if res, _ := scrape(t, h); res.StatusCode != http.StatusOK {
			t.Errorf("afterwards: %s", res.Status)
		}
	})
}

func BenchmarkScrapeFewMembers(b *testing.B) {
	h := Handler(fixed(sample()), "1.2.3")
	b.ReportAllocs()
	for b.Loop() {
		scrape(b, h)
	}
}

func BenchmarkScrape10000Members(b *testing.B) {
	h := Handler(fixed(large(10_000)), "1.2.3")
	b.ReportAllocs()
	for b.Loop() {
		if res, body := scrape(b, h); res.StatusCode != http.StatusOK || len(body) < 60_000*50 {
			b.Fatalf("%s, %d bytes", res.Status, len(body))
		}
	}
}
