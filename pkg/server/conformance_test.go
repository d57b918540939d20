package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// conformanceSetup has a pool of each kind that the API tells apart.
const conformanceSetup = `upstreams:
  api: {members_from: api, members: [{address: "192.0.2.1:80", weight: 2}, {address: "192.0.2.2:80"}]}
  file: {members: [{address: "192.0.2.1:80"}]}
  header: {members_from: api, balance: hash, hash: {by: header, name: X-User}, members: [{address: "192.0.2.1:80"}, {address: "192.0.2.2:80"}]}
  ip: {balance: hash, hash: {by: client_ip}, members: [{address: "192.0.2.1:80"}]}
  cookie: {balance: hash, hash: {by: cookie}, members: [{address: "192.0.2.1:80"}]}
  secure: {members_from: api, scheme: https, tls: {server_name: api.internal}}
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, upstream: {pool: api}}}]}]
`

// call is a row of the conformance test.
type call struct {
	name   string
	method string
	path   string
	body   string
	header http.Header
	status int
	// code of the problem where the call is refused.
	code string
	// has is a part of the answer where it is done.
	has string
	// before is done first; nil: nothing.
	before func()
}

// calls are the rows of the API's table, done and refused. What every call refuses comes on top of them.
func calls(d *servertest.Daemon, setup servertest.Setup) []call {
	const list = `{"members": [{"address": "192.0.2.1:80", "weight": 2}, {"address": "192.0.2.3:80"}]}`
	large := strings.Repeat(" ", api.MaxBody+1)
	yaml := http.Header{"Content-Type": {"application/yaml"}}
	text := d.Text(setup)
	other := strings.Replace(text, "  api: {", "  api: {scheme: https, ", 1)
	event := http.Header{"Accept": {"text/event-stream"}}
	match := func(etag string) http.Header { return http.Header{"If-Match": {etag}} }
	return []call{
		{name: "list", method: "GET", path: "/v1/upstreams", status: 200, has: `{"upstreams":[{"name":"api",`},
		{name: "show", method: "GET", path: "/v1/upstreams/api", status: 200, has: `"name":"api"`},
		{name: "show a hash over tls", method: "GET", path: "/v1/upstreams/secure", status: 200, has: `"tls":{"server_name":"api.internal"}`},
		{name: "show nobody", method: "GET", path: "/v1/upstreams/none", status: 404, code: api.CodePoolNotFound},

		{name: "dry run", method: "PUT", path: "/v1/upstreams/api?dry_run=true", body: list, status: 200, has: `"would_be":{"name":"api"`},
		{name: "dry run of a changed pool", method: "PUT", path: "/v1/upstreams/api?dry_run=true", body: list, header: match(`"x"`), status: 412, code: api.CodePreconditionFailed},
		{name: "set", method: "PUT", path: "/v1/upstreams/api", body: list, status: 200, has: `"revision":2`},
		{name: "set as it is", method: "PUT", path: "/v1/upstreams/api", body: list, header: match("*"), status: 200, has: `"revision":2`},
		{name: "set a changed pool", method: "PUT", path: "/v1/upstreams/api", body: list, header: match(`"x"`), status: 412, code: api.CodePreconditionFailed},
		{name: "set nobody", method: "PUT", path: "/v1/upstreams/none", body: large, status: 404, code: api.CodePoolNotFound},
		{name: "set a file pool", method: "PUT", path: "/v1/upstreams/file", body: large, status: 409, code: api.CodeMembersFromFile},
		{name: "set too much", method: "PUT", path: "/v1/upstreams/api?x=1", body: large, status: 413, code: api.CodeBodyTooLarge},
		{name: "set no list", method: "PUT", path: "/v1/upstreams/api", body: `{"members": null}`, status: 400, code: api.CodeInvalidBody},
		{name: "set a wrong weight", method: "PUT", path: "/v1/upstreams/api", body: `{"members": [{"address": "a:1", "weight": 0}]}`, header: match(`"x"`), status: 400, code: api.CodeInvalidMembers},
		{name: "set a socket over tls", method: "PUT", path: "/v1/upstreams/secure", body: `{"members": [{"address": "unix:/x"}]}`, status: 400, code: api.CodeInvalidMembers},

		{name: "explain", method: "GET", path: "/v1/upstreams/header/explain?header=alice", status: 200, has: `"reason":"rendezvous"`},
		{name: "explain an address", method: "GET", path: "/v1/upstreams/ip/explain?client_ip=::ffff:203.0.113.9", status: 200, has: `"key":"203.0.113.9"`},
		{name: "explain a cookie", method: "GET", path: "/v1/upstreams/cookie/explain?cookie=0123456789abcdef0123456789abcdef", status: 200, has: `"reason":"round_robin"`},
		{name: "explain no address", method: "GET", path: "/v1/upstreams/ip/explain?client_ip=x", status: 400, code: api.CodeInvalidQuery},
		{name: "explain nobody", method: "GET", path: "/v1/upstreams/none/explain", status: 404, code: api.CodePoolNotFound},

		{name: "preview", method: "POST", path: "/v1/upstreams/header/preview", body: `{"members": [{"address": "192.0.2.9:80"}]}`, status: 200, has: `"moved":65536`},
		{name: "preview of keys", method: "POST", path: "/v1/upstreams/ip/preview", body: `{"members": [], "keys": ["203.0.113.9"]}`, status: 200, has: `"source":"given"`},
		{name: "preview nobody", method: "POST", path: "/v1/upstreams/none/preview", body: large, status: 404, code: api.CodePoolNotFound},
		{name: "preview without a hash", method: "POST", path: "/v1/upstreams/api/preview", body: large, status: 409, code: api.CodeNoKeys},
		{name: "preview too much", method: "POST", path: "/v1/upstreams/ip/preview", body: large, status: 413, code: api.CodeBodyTooLarge},
		{name: "preview no list", method: "POST", path: "/v1/upstreams/ip/preview", body: `{}`, status: 400, code: api.CodeInvalidBody},
		{name: "preview a wrong list", method: "POST", path: "/v1/upstreams/ip/preview", body: `{"members": [{}]}`, status: 400, code: api.CodeInvalidMembers},
		{name: "preview a wrong key", method: "POST", path: "/v1/upstreams/ip/preview", body: `{"members": [], "keys": ["x"]}`, status: 400, code: api.CodeInvalidKeys},

		{name: "events", method: "GET", path: "/v1/events?pool=api&since=1", status: 200, has: `"kind":"member_added"`},
		{name: "events of nobody", method: "GET", path: "/v1/events?pool=none", status: 404, code: api.CodePoolNotFound},
		{name: "stream of nobody", method: "GET", path: "/v1/events?pool=none", header: event, status: 404, code: api.CodePoolNotFound},

		{name: "status", method: "GET", path: "/v1/status", status: 200, has: `"version":"test"`},
		{name: "openapi", method: "GET", path: "/v1/openapi.json", status: 200, has: `"openapi": "3.1.0"`},
		{name: "metrics", method: "GET", path: "/metrics", status: 200, has: `scalws_upstream_members{pool="api"} 2`},

		{name: "config", method: "GET", path: "/v1/config", status: 200, has: `"members_from":"api"`},
		{name: "plan", method: "POST", path: "/v1/config/plan", body: text, header: yaml, status: 200, has: `"result":"valid"`},
		{name: "plan of nonsense", method: "POST", path: "/v1/config/plan", body: "server: {}", header: yaml, status: 400, code: api.CodeInvalidConfig},
		{name: "plan too much", method: "POST", path: "/v1/config/plan", body: large, header: yaml, status: 413, code: api.CodeBodyTooLarge},
		{name: "set a socket", method: "PUT", path: "/v1/upstreams/api", body: `{"members": [{"address": "unix:/run/api.sock"}]}`, status: 200, has: `"revision":3`},
		{name: "plan that does not fit", method: "POST", path: "/v1/config/plan", body: other, header: yaml, status: 409, code: api.CodeReloadRefused},
		{name: "reload that does not fit", method: "POST", path: "/v1/reload", before: func() { d.Write(other) }, status: 409, code: api.CodeReloadRefused},
		{name: "reload nonsense", method: "POST", path: "/v1/reload", before: func() { d.Write("server: {}") }, status: 400, code: api.CodeInvalidConfig},
		{name: "reload", method: "POST", path: "/v1/reload", before: func() { d.Write(text) }, status: 200, has: `"result":"done"`},

		{name: "no path", method: "GET", path: "/v1/nothing", status: 404, code: api.CodeNotFound},
	}
}

// TestConformance drives the whole API of a daemon through its socket.
func TestConformance(t *testing.T) {
	setup := servertest.Setup{Rest: conformanceSetup}
	d := servertest.Start(t, setup)
	conform(t, d, setup, &http.Client{Transport: overSocket(t, d)}, "http://localhost")
}

// TestConformanceOverTLS drives the same calls through the remote admin listener.
func TestConformanceOverTLS(t *testing.T) {
	r := startRemote(t, conformanceSetup)
	conform(t, r.Daemon, r.setup, &http.Client{Transport: r.transport("ops")}, "https://"+r.Remote)
}

// overSocket brings requests to the admin socket of a daemon.
func overSocket(t testing.TB, d *servertest.Daemon) *http.Transport {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", d.Socket)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// conform drives all calls through a client and holds each answer against the description of the API, and the
// description against what came.
func conform(t *testing.T, d *servertest.Daemon, setup servertest.Setup, c *http.Client, base string) {
	t.Helper()
	s := &suite{t: t, client: c, base: base, described: loadDescription(t), seen: map[string]map[int]bool{}}
	for _, row := range calls(d, setup) {
		s.run(row)
	}
	for path, item := range s.described.document.Paths.Map() {
		target := strings.ReplaceAll(path, "{name}", "header")
		body := `{"members": []}`
		for method := range item.Operations() {
			s.run(call{name: "from a browser", method: method, path: target, body: body, header: http.Header{"Origin": {"null"}}, status: 403, code: api.CodeForbidden})
			s.run(call{name: "unknown parameter", method: method, path: target + "?unknown=1", body: body, status: 400, code: api.CodeInvalidQuery})
		}
		s.run(call{name: "unknown method", method: "DELETE", path: target, status: 405, code: api.CodeMethodNotAllowed})
		if item.Get != nil {
			s.head(target)
		}
	}
	s.expectAllSeen()
}

// suite is a run of the conformance test.
type suite struct {
	t         *testing.T
	client    *http.Client
	base      string
	described *description
	// seen are the statuses that came, by call.
	seen map[string]map[int]bool
}

// run makes a call. A refused one must have changed nothing.
func (s *suite) run(row call) {
	s.t.Run(row.method+" "+strings.ReplaceAll(row.path, "/", "|")+" "+row.name, func(t *testing.T) {
		if row.before != nil {
			row.before()
		}
		before := s.pools(t)
		req, res, body := s.send(t, row)
		if res.StatusCode != row.status {
			t.Fatalf("%s: %s", res.Status, body)
		}
		s.described.check(t, s, req, row, res, body)
		if row.code == "" {
			if !strings.Contains(string(body), row.has) {
				t.Errorf("without %s: %s", row.has, body)
			}
			return
		}
		var p api.Problem
		if err := json.Unmarshal(body, &p); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		want := api.Problem{Type: "about:blank", Title: http.StatusText(row.status), Status: row.status, Code: row.code, Detail: p.Detail, Errors: p.Errors}
		if diff := cmp.Diff(want, p); diff != "" || p.Detail == "" || res.Header.Get("Content-Type") != api.ProblemType {
			t.Errorf("%s %s", res.Header.Get("Content-Type"), diff)
		}
		if diff := cmp.Diff(before, s.pools(t)); diff != "" {
			t.Errorf("a refused call changed the pools: %s", diff)
		}
	})
}

func (s *suite) send(t *testing.T, row call) (*http.Request, *http.Response, []byte) {
	t.Helper()
	var reader io.Reader
	if row.body != "" && row.method != "GET" {
		reader = strings.NewReader(row.body)
	}
	req, err := http.NewRequestWithContext(t.Context(), row.method, s.base+row.path, reader)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	maps.Copy(req.Header, row.header)
	res, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return req, res, body
}

func (s *suite) pools(t *testing.T) string {
	t.Helper()
	_, _, body := s.send(t, call{method: "GET", path: "/v1/upstreams"})
	return string(body)
}

// head holds a HEAD against a GET.
func (s *suite) head(target string) {
	s.t.Run("HEAD "+strings.ReplaceAll(target, "/", "|"), func(t *testing.T) {
		_, get, _ := s.send(t, call{method: "GET", path: target})
		_, head, body := s.send(t, call{method: "HEAD", path: target})
		for _, r := range []*http.Response{get, head} {
			r.Header.Del("Date")
			if strings.HasPrefix(target, "/metrics") {
				r.Header.Del("Content-Length") // a metric of the process has grown by a digit
			}
		}
		if diff := cmp.Diff(get.Header, head.Header); diff != "" || head.StatusCode != get.StatusCode || len(body) > 0 {
			t.Errorf("%s with %d bytes: %s", head.Status, len(body), diff)
		}
	})
}

// rare are statuses that a sound daemon with few callers, or one that takes lists at run time, does not answer; other
// tests have them.
var rare = []string{"429", "500", "501", "503"}

// expectAllSeen fails for each answer of the description that no call got.
func (s *suite) expectAllSeen() {
	s.t.Helper()
	for path, item := range s.described.document.Paths.Map() {
		for method, op := range item.Operations() {
			for status := range op.Responses.Map() {
				var code int
				fmt.Sscan(status, &code)
				if !s.seen[method+" "+path][code] && !slices.Contains(rare, status) {
					s.t.Errorf("no call of %s %s was answered %s", method, path, status)
				}
			}
		}
	}
}

// description is the OpenAPI document and its routes.
type description struct {
	document *openapi3.T
	router   routers.Router
}

func loadDescription(t *testing.T) *description {
	t.Helper()
	text, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	document.Servers = nil // whatever the client calls the host
	router, err := legacy.NewRouter(document)
	if err != nil {
		t.Fatal(err)
	}
	return &description{document, router}
}

// check holds an answer against the schema that is described for it, and a request that was done too.
func (d *description) check(t *testing.T, s *suite, req *http.Request, row call, res *http.Response, body []byte) {
	t.Helper()
	r, parameters, err := d.router.FindRoute(req)
	if err != nil {
		if row.code != api.CodeNotFound && row.code != api.CodeMethodNotAllowed {
			t.Errorf("not described: %v", err)
		}
		if row.code == api.CodeMethodNotAllowed && res.Header.Get("Allow") == "" {
			t.Error("405 without Allow")
		}
		return
	}
	key := r.Method + " " + r.Path
	if s.seen[key] == nil {
		s.seen[key] = map[int]bool{}
	}
	s.seen[key][res.StatusCode] = true
	input := &openapi3filter.RequestValidationInput{Request: req, PathParams: parameters, Route: r}
	if row.code == "" {
		req.Body = io.NopCloser(strings.NewReader(row.body))
		if err := openapi3filter.ValidateRequest(t.Context(), input); err != nil {
			t.Errorf("request: %v", err)
		}
	}
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: res.StatusCode, Header: res.Header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("answer: %v", err)
	}
}

// TestDescriptionIsServed: what the daemon serves is what people find in docs.
func TestDescriptionIsServed(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{})
	got, err := d.Admin.OpenAPI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSpace(want), got) {
		t.Error("the description of the daemon is another one")
	}
}
