package ctl

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/scalws/scalws/pkg/api"
)

// fakeDaemon speaks the admin API over pools that a test makes up. It knows as much of the rules as the
// commands can tell: names, sources, weights, duplicates, and addresses with a port.
type fakeDaemon struct {
	// frozen refuses every list with 501.
	frozen bool

	mu    sync.Mutex
	pools []api.Upstream
}

// start serves on a socket until the test ends.
func (d *fakeDaemon) start(t testing.TB, socket string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api.PathUpstreams, func(w http.ResponseWriter, _ *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		answer(w, api.Upstreams{Upstreams: d.pools})
	})
	mux.HandleFunc("GET "+api.PathUpstreams+"/{name}", d.handlePool)
	mux.HandleFunc("PUT "+api.PathUpstreams+"/{name}", d.handlePool)
	mux.HandleFunc("GET "+api.PathStatus, func(w http.ResponseWriter, _ *http.Request) { answer(w, fakeStatus()) })
	serveUnix(t, socket, mux)
}

// serveUnix serves a handler on a socket until the test ends.
func serveUnix(t testing.TB, socket string, handler http.Handler) {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, problem *api.Problem) {
	w.Header().Set("Content-Type", api.ProblemType)
	w.WriteHeader(problem.Status)
	json.NewEncoder(w).Encode(problem)
}

// handlePool answers GET and PUT of one pool.
func (d *fakeDaemon) handlePool(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := r.PathValue("name")
	at := slices.IndexFunc(d.pools, func(p api.Upstream) bool { return p.Name == name })
	if at < 0 {
		refuse(w, api.NewProblem(404, api.CodePoolNotFound, "there is no pool %q", name))
		return
	}
	pool := &d.pools[at]
	if r.Method == http.MethodPut {
		if problem := d.set(pool, r.Body); problem != nil {
			refuse(w, problem)
			return
		}
	}
	answer(w, pool)
}

// set replaces the members of a pool, in the order of refusals of the contract.
func (d *fakeDaemon) set(pool *api.Upstream, body io.Reader) *api.Problem {
	if d.frozen {
		return api.NewProblem(501, api.CodeNoRuntimeMembers, "members cannot be set at run time here")
	}
	if pool.MembersFrom == api.FromFile {
		return api.NewProblem(409, api.CodeMembersFromFile, "pool %q has members_from: file", pool.Name)
	}
	text, err := io.ReadAll(io.LimitReader(body, api.MaxBody+1))
	if err != nil || len(text) > api.MaxBody {
		return api.NewProblem(413, api.CodeBodyTooLarge, "the body is larger than %d bytes", api.MaxBody)
	}
	var list api.SetMembers
	if err := json.Unmarshal(text, &list); err != nil || list.Members == nil {
		return api.NewProblem(400, api.CodeInvalidBody, "the body is not a member list")
	}
	members, wrong := checkList(list.Members)
	if len(wrong) > 0 {
		problem := api.NewProblem(400, api.CodeInvalidMembers, "%s: %s", wrong[0].Path, wrong[0].Detail)
		problem.Errors = wrong
		return problem
	}
	if compare(entriesOf(pool.Members), entriesOf(members)).String() != "unchanged" {
		pool.Revision++
	}
	pool.Members = members
	return nil
}

// checkList is the list as members that are up, and what is wrong with it.
func checkList(list []api.SetMember) ([]api.Member, []api.FieldError) {
	members := []api.Member{}
	var wrong []api.FieldError
	first := map[string]int{}
	for i, m := range list {
		weight := 1
		if m.Weight != nil {
			weight = *m.Weight
		}
		_, port, err := net.SplitHostPort(m.Address)
		if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
			wrong = append(wrong, api.FieldError{Path: fmt.Sprintf("members[%d].address", i), Detail: "has no port"})
		}
		if weight < api.MinWeight || weight > api.MaxWeight {
			wrong = append(wrong, api.FieldError{Path: fmt.Sprintf("members[%d].weight", i), Detail: "must be between 1 and 1000"})
		}
		if was, ok := first[m.Address]; ok {
			wrong = append(wrong, api.FieldError{Path: fmt.Sprintf("members[%d].address", i), Detail: fmt.Sprintf("is members[%d] already", was)})
		}
		first[m.Address] = i
		members = append(members, api.Member{Address: m.Address, Weight: weight, State: api.StateUp})
	}
	return members, wrong
}

// noon is when the unit tests take place.
func noon() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) }

// fakePools are the pools that every script finds: api can be set and has trouble, canary can be set and
// is empty, web has its members from the file.
func fakePools(now time.Time) []api.Upstream {
	until := now.Add(8150 * time.Millisecond)
	health := api.PassiveHealth{Failures: 3, Cooldown: "10s", ProbationRequests: 1}
	return []api.Upstream{
		{
			Name: "api", MembersFrom: api.FromAPI, Balance: "least_conn", Scheme: "http", Retries: 1, Keepalive: 32,
			PassiveHealth: health, Revision: 7, ETag: `"3f9a1c.7"`,
			Members: []api.Member{
				{Address: "192.0.2.5:8080", Weight: 2, State: api.StateUp, InFlight: 12},
				{Address: "192.0.2.6:8080", Weight: 1, State: api.StateEjected, ConsecutiveFailures: 3, EjectedUntil: &until, LastFailure: "connect_refused"},
				{Address: "[2001:db8::7]:8080", Weight: 1, State: api.StateProbation, InFlight: 1, ConsecutiveFailures: 3, LastFailure: "status_503"},
			},
		},
		{
			Name: "canary", MembersFrom: api.FromAPI, Balance: "round_robin", Scheme: "http", Retries: 1, Keepalive: 32,
			PassiveHealth: health, Revision: 1, ETag: `"3f9a1d.1"`, Members: []api.Member{},
		},
		{
			Name: "web", MembersFrom: api.FromFile, Balance: "hash", Hash: &api.Hash{By: "cookie", Name: "SHOP_NODE", CookieMaxAge: "1d"},
			Scheme: "https", TLS: &api.TLS{ServerName: "web.internal"}, Retries: 2, Keepalive: 0,
			RetryBudget:   &api.RetryBudget{Ratio: 0.2, MinPerSecond: 10},
			PassiveHealth: api.PassiveHealth{Cooldown: "10s"}, Revision: 2, ETag: `"3f9a1e.2"`,
			Members: []api.Member{
				{Address: "198.51.100.10:8443", Weight: 1, State: api.StateUp},
				{Address: "198.51.100.11:8443", Weight: 1000, State: api.StateUp},
			},
		},
	}
}

// bigPool is a pool with as many members as one can have.
func bigPool() api.Upstream {
	pool := api.Upstream{Name: "big", MembersFrom: api.FromAPI, Balance: "round_robin", Scheme: "http", Revision: 1}
	for i := range api.MaxMembers {
		pool.Members = append(pool.Members, api.Member{
			Address: fmt.Sprintf("10.0.%d.%d:8080", i/256, i%256), Weight: 1, State: api.StateUp})
	}
	return pool
}

func fakeStatus() api.Status {
	return api.Status{
		Version: "v1.2.3", PID: 4242, Started: noon().Add(-90 * time.Minute), Boot: "b00t",
		Listeners: []api.Listener{{Name: "http", Address: "127.0.0.1:8080"}},
		Config:    api.ConfigInfo{Source: "/etc/scalws/scalws.yaml", Digest: "abc123", LoadedAt: noon().Add(-time.Minute)},
		Quotas:    []api.Quota{{Tenant: "acme", Application: "shop", Path: "/api", Used: 7, Limit: 100, Reset: noon().Add(12 * time.Hour)}},
	}
}
