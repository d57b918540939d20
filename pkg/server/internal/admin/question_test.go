package admin

import (
	"context"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

func TestDryRun(t *testing.T) {
	f := newFixture(t)
	res := f.do("PUT", "/v1/upstreams/api?dry_run=true", `{"members": [{"address": "B:1", "weight": 3}, {"address": "192.0.2.9:8080"}]}`, "If-Match", `"3f9a1c.7"`)
	got := decode[api.Change](t, res)
	present := decode[api.Upstream](t, f.do("GET", "/v1/upstreams/api", ""))
	after := present
	after.Revision, after.ETag = 8, `"3f9a1c.8"`
	after.Members = []api.Member{{Address: "b:1", Weight: 3, State: "up"}, present.Members[0]}
	want := api.Change{
		Added: []api.Entry{{Address: "b:1", Weight: 3}}, Removed: []api.Entry{}, Reweighted: []api.Reweight{}, Unchanged: 1,
		Shares:  []api.Share{{Address: "b:1", Before: 0, After: 0.75}, {Address: "192.0.2.9:8080", Before: 1, After: 0.25}},
		WouldBe: after,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if res.Header.Get("ETag") != "" {
		t.Error("an answer that is not the pool has the pool's ETag")
	}
	f.expectUnchanged(t)
	if f.log.Len() > 0 {
		t.Errorf("audit of what is no change: %s", f.log.String())
	}
}

func TestDryRunFalseIsAChange(t *testing.T) {
	f := newFixture(t)
	if u := decode[api.Upstream](t, f.do("PUT", "/v1/upstreams/api?dry_run=false", `{"members": []}`)); u.Revision != 8 {
		t.Errorf("%+v", u)
	}
}

// A dry run is refused with what the change would be refused with.
func TestDryRunRefused(t *testing.T) {
	const valid = `{"members": []}`
	tests := []struct {
		name, target, body string
		header             []string
		status             int
		code               string
	}{
		{"no pool", "/v1/upstreams/none", valid, nil, 404, api.CodePoolNotFound},
		{"from file", "/v1/upstreams/file", valid, nil, 409, api.CodeMembersFromFile},
		{"too large", "/v1/upstreams/api", strings.Repeat(" ", api.MaxBody+1), nil, 413, api.CodeBodyTooLarge},
		{"members", "/v1/upstreams/api", `{"members": [{"address": "x"}]}`, []string{"If-Match", `"x"`}, 400, api.CodeInvalidMembers},
		{"keys", "/v1/upstreams/api", `{"members": [], "keys": []}`, nil, 400, api.CodeInvalidBody},
		{"If-Match", "/v1/upstreams/api", valid, []string{"If-Match", `"3f9a1c.6"`}, 412, api.CodePreconditionFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			dry := f.do("PUT", tt.target+"?dry_run=true", tt.body, tt.header...)
			if f.log.Len() > 0 {
				t.Errorf("audit: %s", f.log.String())
			}
			want := decode[api.Problem](t, f.do("PUT", tt.target, tt.body, tt.header...))
			got := f.expectProblem(t, dry, tt.status, tt.code, want.Detail)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-change +dry run):\n%s", diff)
			}
		})
	}
}

func TestShares(t *testing.T) {
	status := func(list ...lb.Member) []lb.MemberStatus {
		var out []lb.MemberStatus
		for _, m := range list {
			out = append(out, lb.MemberStatus{Address: m.Address, Weight: m.Weight})
		}
		return out
	}
	tests := []struct {
		name     string
		from, to []lb.Member
		want     []api.Share
	}{
		{"nothing to nothing", nil, nil, []api.Share{}},
		{"to nobody", []lb.Member{{Address: "a", Weight: 2}}, nil, []api.Share{{Address: "a", Before: 1}}},
		{"from nobody", nil, []lb.Member{{Address: "a", Weight: 2}}, []api.Share{{Address: "a", After: 1}}},
		{
			"all at once", []lb.Member{{Address: "gone", Weight: 2}, {Address: "a", Weight: 1}, {Address: "b", Weight: 1}},
			[]lb.Member{{Address: "b", Weight: 2}, {Address: "a", Weight: 1}, {Address: "new", Weight: 1}},
			[]api.Share{{Address: "b", Before: 0.25, After: 0.5}, {Address: "a", Before: 0.25, After: 0.25}, {Address: "new", After: 0.25}, {Address: "gone", Before: 0.5}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shares(lb.Diff(tt.from, tt.to), status(tt.to...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	f := newFixture(t)
	tests := []struct{ name, target, key, reason string }{
		{"no hash", "api", "", "round_robin"},
		{"no key", "header", "", "round_robin"},
		{"empty key", "header?header=", "", "round_robin"},
		{"header", "header?header=%20alice%09", "alice", "rendezvous"},
		{"client_ip", "ip?client_ip=203.0.113.9", "203.0.113.9", "rendezvous"},
		{"client_ip mapped", "ip?client_ip=::ffff:203.0.113.9", "203.0.113.9", "rendezvous"},
		{"client_ip with a zone", "ip?client_ip=FE80::1%25eth0", "fe80::1", "rendezvous"},
		{"cookie of nobody", "cookie?cookie=x", "x", "round_robin"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pool, query, _ := strings.Cut(tt.target, "?")
			got := decode[api.Explanation](t, f.do("GET", "/v1/upstreams/"+pool+"/explain?"+query, ""))
			want := api.Explanation{
				Pool: pool, Revision: 7, Key: tt.key, Member: "192.0.2.9:8080", Reason: tt.reason, Others: []api.PassedOver{}, Retries: []string{},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	f.expectUnchanged(t)
}

func TestExplainRefused(t *testing.T) {
	tests := []struct {
		target string
		status int
		code   string
		detail string
	}{
		{"none", 404, api.CodePoolNotFound, `there is no pool "none"`},
		{"none?x", 404, api.CodePoolNotFound, `there is no pool "none"`},
		{"ip?x=1", 400, api.CodeInvalidQuery, "query: unknown parameter x: this call takes client_ip, header, cookie"},
		{"ip?client_ip=1.2.3", 400, api.CodeInvalidQuery, "query: client_ip: not an IP address: 1.2.3"},
		{"ip?client_ip=api.internal", 400, api.CodeInvalidQuery, "query: client_ip: not an IP address: api.internal"},
		{"ip?header=x", 400, api.CodeInvalidQuery, "query: header: pool ip does not hash that: it takes client_ip"},
		{"header?client_ip=192.0.2.1", 400, api.CodeInvalidQuery, "query: client_ip: pool header does not hash that: it takes header"},
		{"cookie?header=", 400, api.CodeInvalidQuery, "query: header: pool cookie does not hash that: it takes cookie"},
		{"api?cookie=x", 400, api.CodeInvalidQuery, "query: cookie: pool api hashes nothing: its balance is round_robin"},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			f := newFixture(t)
			pool, query, _ := strings.Cut(tt.target, "?")
			f.expectProblem(t, f.do("GET", "/v1/upstreams/"+pool+"/explain?"+query, ""), tt.status, tt.code, tt.detail)
		})
	}
}

func TestPreview(t *testing.T) {
	f := newFixture(t)
	got := decode[api.Preview](t, f.do("POST", "/v1/upstreams/ip/preview", `{"keys": ["192.0.2.1", "2001:db8::1"], "members": [{"address": "b:1"}]}`))
	want := api.Preview{Keys: 2, Source: "given", Moved: 2, From: map[string]int{"192.0.2.9:8080": 2}, To: map[string]int{"b:1": 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, body := range []string{`{"members": []}`, `{"members": [], "keys": []}`} {
		got := decode[api.Preview](t, f.do("POST", "/v1/upstreams/header/preview", body))
		want := api.Preview{Keys: 65536, Source: "probe", Moved: 65536, From: map[string]int{"192.0.2.9:8080": 65536}, To: map[string]int{}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	f.expectUnchanged(t)
	if f.log.Len() > 0 {
		t.Errorf("audit of what is no change: %s", f.log.String())
	}
}

func TestPreviewRefused(t *testing.T) {
	large := strings.Repeat(" ", api.MaxBody+1)
	keys := func(n int) string { return `{"members": [], "keys": ["k"` + strings.Repeat(`,"k"`, n-1) + `]}` }
	tests := []struct {
		name, target, body string
		status             int
		code, detail       string
	}{
		{"no pool", "none", large, 404, api.CodePoolNotFound, `there is no pool "none"`},
		{"no hash", "api", large, 409, api.CodeNoKeys, "pool api hashes no key: a preview is for balance: hash by header or client_ip"},
		{"cookie", "cookie", large, 409, api.CodeNoKeys, "pool cookie hashes no key: a preview is for balance: hash by header or client_ip"},
		{"too large", "header", large, 413, api.CodeBodyTooLarge, "body: larger than 2097152 bytes"},
		{"query", "header/preview?x=1", "", 400, api.CodeInvalidQuery, "query: this call takes no parameters"},
		{"members", "header", `{"members": [{"address": "b"}]}`, 400, api.CodeInvalidMembers, "members[0].address: has no port: write host:port"},
		{"no members", "header", `{"keys": ["x"]}`, 400, api.CodeInvalidBody, `body: "members" is missing: must be ` + previewForm},
		{"keys null", "header", `{"members": [], "keys": null}`, 400, api.CodeInvalidBody, `body: "keys" is not a list: must be ` + previewForm},
		{"keys twice", "header", `{"members": [], "keys": [], "keys": []}`, 400, api.CodeInvalidBody, `body: "keys" is given twice: must be ` + previewForm},
		{"unknown", "header", `{"members": [], "Keys": []}`, 400, api.CodeInvalidBody, `body: unknown key Keys: must be ` + previewForm},
		{"number", "header", `{"members": [], "keys": ["x", 5]}`, 400, api.CodeInvalidKeys, "keys[1]: must be a text that is not empty"},
		{"empty", "header", `{"members": [], "keys": [""]}`, 400, api.CodeInvalidKeys, "keys[0]: must be a text that is not empty"},
		{"no address", "ip", `{"members": [], "keys": ["192.0.2.1", "a\nb"]}`, 400, api.CodeInvalidKeys, `keys[1]: not an IP address: a\nb`},
		{"too many", "header", keys(api.MaxKeys + 1), 400, api.CodeInvalidKeys, "keys: has more than " + strconv.Itoa(api.MaxKeys) + " entries"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			target := "/v1/upstreams/" + tt.target
			if !strings.Contains(target, "/preview") {
				target += "/preview"
			}
			f.expectProblem(t, f.do("POST", target, tt.body), tt.status, tt.code, tt.detail)
		})
	}
	f := newFixture(t)
	if got := decode[api.Preview](t, f.do("POST", "/v1/upstreams/header/preview", keys(api.MaxKeys))); got.Keys != api.MaxKeys {
		t.Errorf("%d keys of %d", got.Keys, api.MaxKeys)
	}
}

// heldEngine computes previews until it is told to stop.
type heldEngine struct {
	Engine
	begun chan struct{}
}

func (e heldEngine) Preview(_ time.Time, _ []lb.Member, _ []string, stop func() bool) lb.Preview {
	e.begun <- struct{}{}
	for !stop() {
		<-time.After(time.Millisecond)
	}
	return lb.Preview{}
}

// One preview is computed at a time: the next one waits, and is refused where that takes too long. A caller
// that goes ends its own.
func TestPreviewsOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		begun := make(chan struct{}, 3)
		p := f.runtime.pools["header"]
		p.Engine = heldEngine{p.Engine, begun}
		f.runtime.pools["header"] = p
		// ask reports the status, 0 for a call that was left off.
		ask := func(ctx context.Context) (status int) {
			defer func() { _ = recover() }()
			r := httptest.NewRequest("POST", "/v1/upstreams/header/preview", strings.NewReader(`{"members": []}`)).WithContext(ctx)
			w := httptest.NewRecorder()
			f.handler.ServeHTTP(w, r)
			return w.Code
		}
		computed, statuses := make(chan context.CancelFunc), make(chan int)
		start := func() {
			ctx, leave := context.WithCancel(t.Context())
			go func() { statuses <- ask(ctx) }()
			<-begun
			computed <- leave
		}
		go start()
		leave := <-computed

		waiting, leaveWaiting := context.WithCancel(t.Context())
		go func() { statuses <- ask(waiting) }()
		synctest.Wait()
		leaveWaiting()
		if status := <-statuses; status != 0 {
			t.Errorf("a caller that left while it waited was answered %d", status)
		}
		asked := time.Now()
		if status := ask(t.Context()); status != 429 || time.Since(asked) != previewPatience {
			t.Errorf("got %d after %v", status, time.Since(asked))
		}
		leave()
		if status := <-statuses; status != 0 {
			t.Errorf("a preview for nobody was answered %d", status)
		}
		go start() // the place is free again
		(<-computed)()
		<-statuses
		if f.log.Len() > 0 {
			t.Errorf("log: %s", f.log.String())
		}
	})
}
