package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
)

// application is a daemon with one application on every host, which a member answers. More are keys of it.
func application(t testing.TB, member string, more ...string) servertest.Setup {
	t.Helper()
	return servertest.Setup{Listener: "h2c: true", Server: []string{"trusted_proxies: [127.0.0.1]"}, Rest: fmt.Sprintf(`upstreams:
  p: {members: [{address: %q}]}
tenants:
  - name: t
    applications:
      - name: a
        domains: ["*"]
        runtime: {type: proxy, upstream: {pool: p}}
%s`, member, strings.Join(more, "\n")+"\n")}
}

// key is a line of an application.
func key(line string) string { return "        " + line }

// TestRoutes is the order of docs/configuration.md#routes, from outside: each route says who it is by what its member
// is told. What the member gets is what the client sent.
func TestRoutes(t *testing.T) {
	m := named(t, "a")
	told := func(match, name string) string {
		return fmt.Sprintf(`          - {%s, headers: {request: {set: [{name: X-Route, value: %s}]}}, runtime: {type: proxy, upstream: {pool: p}}}`, match, name)
	}
	d := servertest.Start(t, application(t, m[0].Address(), key("routes:"),
		told("path: /shop", "prefix"), told("exact: /shop/sale", "exact"), told(`regex: "/v[0-9]+/.*"`, "regex"),
		told("path: /shop, methods: [POST, PUT]", "method"), told("path: /shop, match_headers: [{name: X-Canary, value: yes please}]", "field"),
		told("path: /shop, methods: [PUT], match_headers: [{name: x-canary}]", "both"),
	))
	n := 0
	for _, c := range []struct{ method, target, fields, want string }{
		{"GET", "/shop/x", "", "prefix"},
		{"GET", "/shops", "", ""},
		{"GET", "/shop/sale?x=%2F", "", "exact"},
		{"GET", "/v2/x", "", "regex"},
		{"GET", "/%73hop/./x", "", "prefix"},
		{"GET", "/a/../shop", "", "prefix"},
		{"GET", "/a%2F..%2Fshop", "", ""},
		{"POST", "/shop", "", "method"},
		{"GET", "/shop", "X-Canary: yes please\r\n", "field"},
		{"GET", "/shop", "X-Canary: yes\r\n", "prefix"},
		{"PUT", "/shop", "X-Canary:\r\n", "both"},
		{"GET", "/shop", "X-Canary: yes please\r\nConnection: X-Canary\r\n", "prefix"},
	} {
		t.Run(c.method+" "+c.target+" "+c.fields, func(t *testing.T) {
			conn := servertest.Dial(t, d.Address)
			conn.Send(c.method, " ", c.target, " HTTP/1.1\r\nHost: a\r\n", c.fields, "\r\n")
			if r := conn.Final(c.method); r.Status != 200 {
				t.Fatalf("%s", r.Head)
			}
			n++
			got := m[0].WaitRequests(n)[n-1]
			if got.Header.Get("X-Route") != c.want || got.Target != c.target {
				t.Errorf("%q took %s", got.Header.Get("X-Route"), got.Target)
			}
		})
	}
}

// International names are compared in the form that requests have them in.
func TestInternationalDomain(t *testing.T) {
	m := named(t, "a")
	s := application(t, m[0].Address())
	s.Rest = strings.Replace(s.Rest, `"*"`, "Bücher.example", 1)
	d := servertest.Start(t, s)
	for host, want := range map[string]int{"XN--BCHER-kva.example:80": 200, "bucher.example": 404} {
		c := servertest.Dial(t, d.Address)
		c.Send("GET / HTTP/1.1\r\nHost: ", host, "\r\n\r\n")
		if r := c.Final("GET"); r.Status != want {
			t.Errorf("%s: %s", host, r.Head)
		}
	}
}

func TestAllowAndDeny(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, application(t, m[0].Address(),
		key("allow: [192.0.2.0/24, \"2001:db8::/32\"]"), key("deny: [192.0.2.66]"), key("routes:"),
		key("  - {path: /open, inherit: false, runtime: {type: proxy, upstream: {pool: p}}}"),
		key("  - {path: /own, allow: [198.51.100.1], runtime: {type: proxy, upstream: {pool: p}}}"),
	))
	for _, c := range []struct {
		path, client string
		want         int
	}{
		{"/", "192.0.2.1", 200},
		{"/", "::ffff:192.0.2.1", 200},
		{"/", "2001:db8::7", 200},
		{"/", "192.0.2.66", 403},
		{"/", "198.51.100.1", 403},
		{"/open", "192.0.2.66", 200},
		{"/own", "198.51.100.1", 200},
		{"/own", "192.0.2.1", 403},
		{"/x/../own", "192.0.2.1", 403},
		{"/o%77n", "192.0.2.1", 403},
	} {
		if r := d.Get(c.path, "X-Forwarded-For: "+c.client); r.Status != c.want {
			t.Errorf("%s from %s: %s%s", c.path, c.client, r.Head, r.Body)
		}
	}
}

// E05: our own refusal is readable at once, without a 100 before it, and its line in the log says whose it was.
func TestE05PolicyRefusesWithoutContinue(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, application(t, m[0].Address(), key("deny: [127.0.0.0/8]")))
	c := servertest.Dial(t, d.Address)
	c.Send("POST /x HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
	if r := c.Response("POST"); r.Status != 403 || r.Body != "403 Forbidden: this address is not allowed here\n" {
		t.Errorf("%s%s", r.Head, r.Body)
	}
	l := d.Lines(1)[0]
	got := fmt.Sprintln(l["status"], l["tenant"], l["application"], l["path"], l["upstream_attempts"], len(m[0].Requests()))
	if want := "403 t a /x 0 0\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRedirect(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, application(t, m[0].Address(),
		key(`redirect: {to: "https://{host}{path}{query}", status: 308}`), key("routes:"),
		key(`  - {path: /old, redirect: {to: "/new{rest}{query}"}}`),
		key(`  - {exact: /here, redirect: {to: "/here"}}`),
	))
	for _, c := range []struct {
		target, proto, want string
		status              int
	}{
		{"/x/%7e?a=b", "http", "https://example.com/x/%7e?a=b", 308},
		{"/x", "https", "", 200},
		{"/old/a?b", "https", "/new/a?b", 302},
		{"/here", "http", "", 404},
	} {
		r := d.Get(c.target, "X-Forwarded-Proto: "+c.proto)
		if r.Status != c.status || r.Header.Get("Location") != c.want {
			t.Errorf("%s over %s: %s", c.target, c.proto, r.Head)
		}
	}
}

func TestRewrite(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, application(t, m[0].Address(), key("rewrite: {host: \"internal.example:81\"}"), key("routes:"),
		key(`  - {path: /api, rewrite: {strip_prefix: /api, add_prefix: /v1}, runtime: {type: proxy, upstream: {pool: p}}}`),
		key(`  - {path: /u, rewrite: {replace: {regex: "^/u/([0-9]+)$", with: "/users/$1/x"}}, runtime: {type: proxy, upstream: {pool: p}}}`),
	))
	for i, c := range []struct{ target, want string }{
		{"/%7e/./x?%zz", "/%7e/./x?%zz internal.example:81"},
		{"/api/x?y=%2F", "/v1/x?y=%2F example.com"},
		{"/api", "/v1/ example.com"},
		{"/z/../api/../api/%78", "/v1/x example.com"},
		{"/u/17?y", "/users/17/x?y example.com"},
		{"/u/%7e", "/u/%7e example.com"},
	} {
		d.Get(c.target)
		got := m[0].WaitRequests(i + 1)[i]
		if text := got.Target + " " + got.Host; text != c.want {
			t.Errorf("%s became %s, want %s", c.target, text, c.want)
		}
		if l := d.Lines(i + 1)[i]; l["path"] != c.target || l["host"] != "example.com" {
			t.Errorf("the log has %v for %s", l["path"], c.target)
		}
	}
}

func TestHeaderEdits(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Answer{Header: []string{"Server: secret", "X-Frame-Options: ALLOW", "Vary: Cookie"},
		Interim: []servertest.Answer{{Status: 103, Header: []string{"Link: </a>", "Server: secret"}}}})
	d := servertest.Start(t, application(t, m[0].Address(),
		key("headers:"),
		key("  request: {remove: [cookie], set: [{name: X-User, value: nobody}], add: [{name: X-Tag, value: b}]}"),
		key("  response: {remove: [Server], set: [{name: X-Frame-Options, value: DENY}], add: [{name: Vary, value: X-Tag}]}"),
	))
	c := servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\nHost: a\r\nCookie: a=b\r\nX-USER: root\r\nx-user: admin\r\nX-Tag: a\r\n\r\n")
	early, r := c.Response("GET"), c.Final("GET")
	if early.Status != 103 || early.Header.Get("Server") != "" || early.Header.Get("Link") == "" {
		t.Errorf("interim: %s", early.Head)
	}
	got := m[0].WaitRequests(1)[0]
	edited := map[string][]string{
		"Cookie": got.Fields("Cookie"), "X-User": got.Fields("X-User"), "X-Tag": got.Fields("X-Tag"),
		"Server": r.Fields("Server"), "X-Frame-Options": r.Fields("X-Frame-Options"), "Vary": r.Fields("Vary"),
	}
	want := map[string][]string{
		"Cookie": nil, "X-User": {"nobody"}, "X-Tag": {"a", "b"},
		"Server": nil, "X-Frame-Options": {"DENY"}, "Vary": {"Cookie", "X-Tag"},
	}
	if diff := cmp.Diff(want, edited); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A policy holds over HTTP/2 as it does over HTTP/1.1: the exchange is the same.
func TestPoliciesOverHTTP2(t *testing.T) {
	m := named(t, "a")
	s := application(t, m[0].Address(),
		key("cors: {origins: [\"https://a.example\"], credentials: true}"), key("rewrite: {strip_prefix: /api}"),
		key("headers: {response: {set: [{name: X-Front, value: here}]}}"), key("routes:"),
		key("  - {path: /no, deny: [127.0.0.1], runtime: {type: proxy, upstream: {pool: p}}}"),
		key("  - {path: /small, max_body: 3, runtime: {type: proxy, upstream: {pool: p}}}"),
	)
	d := servertest.Start(t, s)
	c := servertest.HTTP2(t, d.Address, nil)
	r := newRequest(t, "GET", "http://a.example/api/x", nil)
	r.Header.Set("Origin", "https://a.example")
	answer, _ := ask(t, c, r)
	got := fmt.Sprint(answer.StatusCode, " ", answer.Header.Get("X-Front"), " ", answer.Header.Get("Access-Control-Allow-Origin"))
	if got != "200 here https://a.example" || m[0].WaitRequests(1)[0].Target != "/x" {
		t.Errorf("%s, %v", got, m[0].Requests())
	}
	preflight := newRequest(t, "OPTIONS", "http://a.example/", nil)
	preflight.Header = http.Header{"Origin": {"https://a.example"}, "Access-Control-Request-Method": {"POST"}}
	if answer, body := ask(t, c, preflight); answer.StatusCode != 204 || body != "" || answer.Header.Get("Access-Control-Allow-Credentials") != "true" {
		t.Errorf("preflight: %v", answer)
	}
	if answer, _ := ask(t, c, newRequest(t, "GET", "http://a.example/no", nil)); answer.StatusCode != 403 {
		t.Errorf("deny: %v", answer)
	}
	if answer, _ := ask(t, c, newRequest(t, "POST", "http://a.example/small", strings.NewReader("four"))); answer.StatusCode != 413 {
		t.Errorf("max_body: %v", answer)
	}
	if l := d.Lines(4)[2]; l["protocol"] != "HTTP/2.0" || l["tenant"] != "t" || l["status"] != float64(403) {
		t.Errorf("log: %v", l)
	}
}

// Policies hold for runtimes that answer here as well, and clients that are not allowed are in no limit.
func TestPoliciesOfAnswersMadeHere(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, application(t, m[0].Address(), key("routes:"),
		key("  - path: /away"),
		key("    runtime: {type: respond, status: 503, body: back soon}"),
		key("    cors: {origins: [\"*\"]}"),
		key("    headers: {response: {set: [{name: Content-Type, value: text/x-away}, {name: X-Front, value: here}]}}"),
		key("  - path: /counted"),
		key("    runtime: {type: respond, body: x}"),
		key("    deny: [192.0.2.1]"),
		key("    quota: {requests: 1, per: 366d}"),
	))
	r := d.Get("/away", "Origin: https://a.example")
	got := fmt.Sprint(r.Status, r.Fields("Content-Type"), r.Fields("X-Front"), r.Fields("Access-Control-Allow-Origin"), r.Body)
	if want := "503 [text/x-away] [here] [*]back soon"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, c := range []struct {
		client string
		want   int
	}{{"192.0.2.1", 403}, {"192.0.2.2", 200}, {"192.0.2.2", 429}, {"192.0.2.1", 403}} {
		if r := d.Get("/counted", "X-Forwarded-For: "+c.client); r.Status != c.want {
			t.Errorf("%s: %s", c.client, r.Head)
		}
	}
}
