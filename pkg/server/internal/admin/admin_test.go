package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// fakeRuntime keeps pools as plain values.
type fakeRuntime struct {
	mu    sync.Mutex
	pools map[string]PoolView
	// calls are the lists that SetMembers was given, actors who gave them.
	calls  [][]lb.Member
	actors []string
	// saves counts calls of SaveMembers.
	saves int
	// fixed is the opposite of RuntimeMembers.
	fixed bool
	// err is what SetMembers and Reload return, changing nothing.
	err     error
	changes sync.Mutex
}

func (f *fakeRuntime) Changes() sync.Locker { return &f.changes }

func (f *fakeRuntime) RuntimeMembers() bool { return !f.fixed }

func (f *fakeRuntime) SaveMembers() {
	f.changes.Lock() // as a save that takes time must not be in the way of others
	defer f.changes.Unlock()
	f.saves++
}

func (f *fakeRuntime) Config() ([]byte, error) { return []byte(`{"server":{}}`), f.err }

func (f *fakeRuntime) Plan(text []byte) (*api.Plan, error) {
	return &api.Plan{Result: api.PlanValid, Settings: []string{string(text)}}, f.err
}

func (f *fakeRuntime) Reload(actor string) (*api.Plan, error) {
	f.changes.Lock()
	defer f.changes.Unlock()
	f.actors = append(f.actors, actor)
	return &api.Plan{Result: api.PlanDone}, f.err
}

func (f *fakeRuntime) Pools() []PoolView {
	var pools []PoolView
	for _, p := range f.pools {
		pools = append(pools, p)
	}
	return pools
}

func (f *fakeRuntime) Pool(name string) (PoolView, bool) {
	f.mu.Lock()
	p, ok := f.pools[name]
	f.mu.Unlock()
	runtime.Gosched() // gives what must not come in between a chance to
	return p, ok
}

func (f *fakeRuntime) SetMembers(_ context.Context, name string, members []lb.Member, actor string) (PoolView, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, members)
	f.actors = append(f.actors, actor)
	if f.err != nil {
		return PoolView{}, f.err
	}
	p := f.pools[name]
	p.Status.Revision++
	p.Status.Members = nil
	for _, m := range members {
		p.Status.Members = append(p.Status.Members, lb.MemberStatus{Address: m.Address, Weight: m.Weight})
	}
	f.pools[name] = p
	return p, nil
}

func (f *fakeRuntime) Status() api.Status {
	return api.Status{Version: "1.2.3", PID: 42, Started: time.Unix(1_796_000_000, 0).UTC(), Boot: "b7"}
}

// fakeJournal is a list of events that a test adds to.
type fakeJournal struct {
	mu     sync.Mutex
	events []lb.Event
	more   chan struct{}
	done   chan struct{}
}

func newFakeJournal() *fakeJournal {
	return &fakeJournal{more: make(chan struct{}), done: make(chan struct{})}
}

func (j *fakeJournal) Since(seq uint64) ([]lb.Event, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var events []lb.Event
	for _, e := range j.events {
		if e.Seq > seq {
			events = append(events, e)
		}
	}
	return events, j.more
}

func (j *fakeJournal) Done() <-chan struct{} { return j.done }

func (j *fakeJournal) add(events ...lb.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, events...)
	close(j.more)
	j.more = make(chan struct{})
}

// fixture is the API over a fake runtime: "api" takes members, "secure" does over TLS, "file" does not; "cookie",
// "header" and "ip" hash.
type fixture struct {
	t       testing.TB
	runtime *fakeRuntime
	journal *fakeJournal
	api     *handler
	handler http.Handler
	audit   memory
	log     bytes.Buffer
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{t: t, runtime: &fakeRuntime{pools: map[string]PoolView{}}, journal: newFakeJournal()}
	add := func(name string, edit func(*PoolView, *lb.Settings)) {
		t.Helper()
		p, s := PoolView{FromAPI: true, Keepalive: 32, Incarnation: "3f9a1c"}, lb.DefaultSettings()
		if edit != nil {
			edit(&p, &s)
		}
		engine, err := lb.NewPool(lb.Options{
			Name: name, Settings: s, Revision: 7, Key: []byte("key"), Now: time.Now(),
			Members: []lb.Member{{Address: "192.0.2.9:8080", Weight: 1}},
		})
		if err != nil {
			t.Fatal(err)
		}
		p.Status, p.Engine = engine.Status(time.Now()), engine
		f.runtime.pools[name] = p
	}
	hash := func(by lb.HashBy, name string) func(*PoolView, *lb.Settings) {
		return func(_ *PoolView, s *lb.Settings) {
			s.Balance, s.Hash = lb.Hash, lb.HashSettings{By: by, Name: name}
		}
	}
	add("api", nil)
	add("cookie", hash(lb.ByCookie, "NODE"))
	add("file", func(p *PoolView, _ *lb.Settings) { p.FromAPI = false })
	add("header", hash(lb.ByHeader, "X-User"))
	add("ip", hash(lb.ByClientIP, ""))
	add("secure", func(p *PoolView, _ *lb.Settings) { p.HTTPS = true })
	log := slog.New(slog.NewTextHandler(&f.log, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	f.api = newHandler(Options{
		Runtime: f.runtime, Journal: f.journal, Audit: NewAuditLog(&AuditOutput{file: &f.audit}, log, noon), Log: log,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			_, _ = io.WriteString(w, "up 1\n")
		}),
	})
	f.handler = f.api.mux()
	return f
}

// noon is the clock of the audit log.
func noon() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) }

// lines are the audit log without what is in front of what was to change.
func (f *fixture) lines() []string {
	var lines []string
	for line := range strings.Lines(f.audit.String()) {
		lines = append(lines, strings.TrimSuffix(strings.TrimPrefix(line, `{"time":"2026-11-29T12:00:00Z","what":`), "\n"))
	}
	return lines
}

func (f *fixture) do(method, target, body string, header ...string) *http.Response {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, reader)
	r.RemoteAddr = "@"
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	r = r.WithContext(WithPeer(r.Context(), Peer{UID: 1000, GID: 100, PID: 4242}))
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	f.expectDescribed(r, w)
	return w.Result()
}

// decode reads the one JSON value of an answer.
func decode[T any](t *testing.T, res *http.Response) T {
	t.Helper()
	var v T
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(b, []byte("}\n")) {
		t.Errorf("no line end after %q", b)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q: %v", b, err)
	}
	return v
}

// expectProblem checks a refusal and that it changed nothing.
func (f *fixture) expectProblem(t *testing.T, res *http.Response, status int, code, detail string) api.Problem {
	t.Helper()
	p := decode[api.Problem](t, res)
	want := api.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail, Errors: p.Errors}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if res.StatusCode != status || res.Header.Get("Content-Type") != api.ProblemType {
		t.Errorf("%s with %s", res.Status, res.Header.Get("Content-Type"))
	}
	f.expectUnchanged(t)
	return p
}

func (f *fixture) expectUnchanged(t *testing.T) {
	t.Helper()
	if len(f.runtime.calls) != 0 {
		t.Errorf("SetMembers was called with %v", f.runtime.calls)
	}
	if diff := cmp.Diff(newFixture(t).runtime.pools, f.runtime.pools, cmpopts.IgnoreFields(PoolView{}, "Engine")); diff != "" {
		t.Errorf("the pools have changed: %s", diff)
	}
}

func TestRoutesAreSorted(t *testing.T) {
	var keys []string
	for _, r := range (&handler{}).routes() {
		keys = append(keys, r.path+" "+r.method)
	}
	if !slices.IsSorted(keys) {
		t.Errorf("not sorted: %q", keys)
	}
}

func TestListUpstreams(t *testing.T) {
	f := newFixture(t)
	res := f.do("GET", "/v1/upstreams", "")
	var names []string
	for _, u := range decode[api.Upstreams](t, res).Upstreams {
		names = append(names, u.Name)
	}
	if diff := cmp.Diff([]string{"api", "cookie", "file", "header", "ip", "secure"}, names); diff != "" {
		t.Error(diff)
	}
	if got := res.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %s", got)
	}
}

func TestListUpstreamsEmpty(t *testing.T) {
	f := newFixture(t)
	f.runtime.pools = nil
	b, err := io.ReadAll(f.do("GET", "/v1/upstreams", "").Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b), `{"upstreams":[]}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShowUpstream(t *testing.T) {
	f := newFixture(t)
	res := f.do("GET", "/v1/upstreams/api", "")
	u := decode[api.Upstream](t, res)
	if u.Name != "api" || u.ETag != `"3f9a1c.7"` || res.Header.Get("ETag") != u.ETag {
		t.Errorf("%+v with ETag %s", u, res.Header.Get("ETag"))
	}
}

func TestStatus(t *testing.T) {
	f := newFixture(t)
	got := decode[api.Status](t, f.do("GET", "/v1/status", ""))
	want := f.runtime.Status()
	want.Listeners = []api.Listener{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Over a real connection, because net/http is what leaves the body out.
func TestHead(t *testing.T) {
	srv := httptest.NewServer(newFixture(t).handler)
	defer srv.Close()
	get, err := srv.Client().Get(srv.URL + "/v1/upstreams/api")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = get.Body.Close() }()
	head, err := srv.Client().Head(srv.URL + "/v1/upstreams/api")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = head.Body.Close() }()
	b, err := io.ReadAll(head.Body)
	if err != nil || len(b) != 0 {
		t.Errorf("a body of %d bytes, %v", len(b), err)
	}
	get.Header.Del("Date")
	head.Header.Del("Date")
	if diff := cmp.Diff(get.Header, head.Header); diff != "" {
		t.Errorf("HEAD differs from GET: %s", diff)
	}
}

func TestUnknownPath(t *testing.T) {
	for _, path := range []string{
		"/", "/v1", "/v1/", "/v2/upstreams", "/v1/upstreams/", "/v1//upstreams", "/v1/upstreams/../status",
		"/v1/upstreams/%2e%2e", "/v1/upstreams/api/", "/v1/upstreams/api/more", "/v1/Upstreams",
	} {
		for _, method := range []string{"GET", "PUT", "CONNECT"} {
			t.Run(method+path, func(t *testing.T) {
				f := newFixture(t)
				res := f.do(method, path, "")
				p := decode[api.Problem](t, res)
				if p.Status != http.StatusNotFound || p.Code != api.CodeNotFound {
					t.Errorf("%+v", p)
				}
				f.expectUnchanged(t)
			})
		}
	}
}

func TestMethodNotAllowed(t *testing.T) {
	tests := []struct{ method, path, allow string }{
		{"POST", "/v1/upstreams", "GET, HEAD"},
		{"PUT", "/v1/status", "GET, HEAD"},
		{"DELETE", "/v1/upstreams/api", "GET, HEAD, PUT"},
		{"GET", "/v1/upstreams/header/preview", "POST"},
		{"PUT", "/v1/events", "GET, HEAD"},
		{"OPTIONS", "/v1/upstreams/none", "GET, HEAD, PUT"},
		{"put", "/v1/upstreams/api", "GET, HEAD, PUT"},
	}
	for _, tt := range tests {
		t.Run(tt.method+tt.path, func(t *testing.T) {
			f := newFixture(t)
			res := f.do(tt.method, tt.path, "")
			f.expectProblem(t, res, 405, api.CodeMethodNotAllowed, tt.method+" is not allowed here: use "+tt.allow)
			if got := res.Header.Get("Allow"); got != tt.allow {
				t.Errorf("Allow: %s, want %s", got, tt.allow)
			}
		})
	}
}

func TestBrowserIsRefused(t *testing.T) {
	for _, header := range []string{"Origin", "Sec-Fetch-Site"} {
		for _, target := range []string{"GET /v1/upstreams", "PUT /v1/upstreams/api", "PUT /v1/upstreams/none", "POST /v1/upstreams", "GET /none"} {
			t.Run(header+" "+target, func(t *testing.T) {
				f := newFixture(t)
				method, path, _ := strings.Cut(target, " ")
				res := f.do(method, path, `{"members": []}`, header, "null")
				f.expectProblem(t, res, 403, api.CodeForbidden, "requests from a browser are not taken: "+header+" is set")
				if audited := strings.Contains(f.audit.String(), `"result":"refused"`); audited != strings.HasPrefix(target, "PUT") {
					t.Errorf("audit: %s", f.audit.String())
				}
			})
		}
	}
}

func TestAnyHost(t *testing.T) {
	f := newFixture(t)
	for _, host := range []string{"http://localhost", "http://evil.example:81", "http://[::1]"} {
		if res := f.do("GET", host+"/v1/upstreams/api", ""); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", host, res.Status)
		}
	}
}
