package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
)

// A path that a policy is for has no second spelling that leads to the same file: characters that may stand in a path
// encoded or not, those that may not stand there at all, dots, and whatever form the target has.
func TestPathsHaveNoSecondSpelling(t *testing.T) {
	root := folder(t, map[string]string{"a@b/x": "secret", "v:1/x": "secret", "p+q/x": "secret", "a;b/x": "secret", "c|d/x": "secret", "e!f/x": "secret", `g\h/x`: "secret"})
	rt := static(root)
	lines := []string{key("routes:")}
	for _, path := range []string{"/a@b", "/v:1", "/p+q", "/a;b", "/c%7Cd", "/e%21f", `/g\h`} {
		lines = append(lines, key(fmt.Sprintf(`  - {path: %q, deny: [127.0.0.1], runtime: %s}`, path, rt)))
	}
	s := application(t, named(t, "a")[0].Address(), lines...)
	s.Rest = strings.Replace(s.Rest, "{type: proxy, upstream: {pool: p}}", rt, 1)
	d := servertest.Start(t, s)
	c := servertest.HTTP2(t, d.Address, nil)
	for _, target := range []string{
		"/a@b/x", "/a%40b/x", "/a%40b%2Fx", "/%61%40b/x", "/z/%2e%2E/a%40b/x", "http://example.com/a%40b/x", "/v%3A1/x", "/v:1/x", "/v%3a1/x",
		"/p+q/x", "/p%2Bq/x", "/a;b/x", "/a%3bb/x", "/c|d/x", "/c%7cd/x", "/e!f/x", "/e%21f/x", `/g\h/x`, "/g%5Ch/x", "/g%5ch/x",
	} {
		r := d.Get(target)
		if r.Status != 403 && target != "/a%40b%2Fx" || strings.Contains(r.Body, "secret") {
			t.Errorf("%s: %s%s", target, r.Head, r.Body)
		}
		if target[0] == '/' {
			if r, body := ask(t, c, newRequest(t, "GET", "http://a"+target, nil)); r.StatusCode != 403 && target != "/a%40b%2Fx" || strings.Contains(body, "secret") {
				t.Errorf("%s over HTTP/2: %v", target, r)
			}
		}
	}
}

// What holds in an application holds too where none of its routes takes the request and it has no runtime: otherwise
// the answers would tell anybody which routes there are.
func TestPoliciesWithoutRuntime(t *testing.T) {
	m := named(t, "a")
	s := application(t, m[0].Address(), key("basic_auth: {htpasswd_file: "+usersFile(t, users(t, "alice", "sesame"))+"}"),
		key("deny: [192.0.2.1]"), key("quota: {requests: 4, per: 366d}"), key("routes: [{path: /in, runtime: {type: proxy, upstream: {pool: p}}}]"))
	s.Rest = strings.Replace(s.Rest, "        runtime: {type: proxy, upstream: {pool: p}}\n", "", 1)
	d := servertest.Start(t, s)
	var got []int
	for _, c := range [][]string{
		{"/out", "X-Forwarded-For: 192.0.2.1"}, {"/out"}, {"/in"}, {"/out", basic("alice:sesame")}, {"/in", basic("alice:sesame")}, {"/out", basic("alice:sesame")},
	} {
		got = append(got, d.Get(c[0], c[1:]...).Status)
	}
	if diff := cmp.Diff([]int{403, 401, 401, 404, 200, 429}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if l := d.Lines(4)[3]; l["tenant"] != "t" || l["application"] != "a" || l["status"] != 404.0 {
		t.Errorf("the log has %v", l)
	}
}

// A redirect ends: where it leads to is served, whatever of the place a client does not send, or sends in its own form.
func TestRedirectEnds(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, application(t, m[0].Address(), key("routes:"),
		key(`  - {path: /page, redirect: {to: "/page#part"}, runtime: {type: proxy, upstream: {pool: p}}}`),
		key(`  - {path: /x, redirect: {to: "/y/../x/."}, runtime: {type: proxy, upstream: {pool: p}}}`),
		key(`  - {path: /old, redirect: {to: "/new"}}`),
		key(`  - {path: /long, redirect: {to: "/l`+strings.Repeat("{path}", 20)+`"}}`),
	))
	follow := func(target string) string {
		for range 3 {
			r := d.Get(target)
			if r.Status < 300 || r.Status >= 400 {
				return fmt.Sprint(r.Status)
			}
			target, _, _ = strings.Cut(r.Header.Get("Location"), "#")
			target = strings.ReplaceAll(target, "/y/../x/.", "/x/") // as browsers do
		}
		return "no end"
	}
	for _, target := range []string{"/page", "/x"} {
		if got := follow(target); got != "200" {
			t.Errorf("%s: %s", target, got)
		}
	}
	c := servertest.Dial(t, d.Address)
	c.Send("GET /old HTTP/1.0\r\n\r\n")
	if r := c.Final("GET"); r.Status != 302 || r.Header.Get("Location") != "/new" {
		t.Errorf("a request without a host: %s", r.Head)
	}
	long := "/long/" + strings.Repeat("x", 8000)
	if r := d.Get(long); r.Status != 414 {
		t.Errorf("a place of 160 KiB: %s", r.Head)
	}
	if r, _ := ask(t, servertest.HTTP2(t, d.Address, nil), newRequest(t, "GET", "http://a"+long, nil)); r.StatusCode != 414 {
		t.Errorf("a place of 160 KiB over HTTP/2: %v", r)
	}
}

// A field that is set or removed has no second spelling either: not for members behind CGI, and not as a trailer.
func TestEditedFieldsHaveNoSecondSpelling(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Answer{Chunks: []string{"a"}, Trailer: []string{"X-Secret: 1", "X-Sum: 2"}})
	d := servertest.Start(t, application(t, m[0].Address(),
		key("headers: {request: {set: [{name: X-User, value: nobody}]}, response: {remove: [X-Secret]}}")))
	c := servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\nHost: a\r\nX_USER: root\r\nx-User: root\r\nX_Forwarded_For: root\r\nX_Request-ID: root\r\nX_Own: mine\r\n\r\n")
	r := c.Final("GET")
	if diff := cmp.Diff(http.Header{"X-Sum": {"2"}}, r.Trailer); diff != "" {
		t.Errorf("trailers (-want +got):\n%s", diff)
	}
	if head := m[0].WaitRequests(1)[0].Head; strings.Contains(head, "root") || !strings.Contains(head, "X_Own: mine") {
		t.Errorf("the member got %s", head)
	}
	over2, _ := ask(t, servertest.HTTP2(t, d.Address, nil), newRequest(t, "GET", "http://a/", nil))
	if diff := cmp.Diff(http.Header{"X-Sum": {"2"}}, over2.Trailer); diff != "" {
		t.Errorf("trailers over HTTP/2 (-want +got):\n%s", diff)
	}
}

// What somebody who is not trusted says of the client, members do not get, and nothing here goes by it either.
func TestUntrustedForwardingFieldsChooseNothing(t *testing.T) {
	m := named(t, "a")
	s := application(t, m[0].Address(), key("rate_limit: {requests: 1, per: 1h, by: header, header: X-Forwarded-For}"), key("routes:"),
		key(`  - {path: /, match_headers: [{name: X-Forwarded-Proto, value: https}], inherit: false, runtime: {type: respond, body: open}}`))
	d := servertest.Start(t, s)
	if r := d.Get("/", "X-Forwarded-Proto: https"); r.Body != "open" {
		t.Errorf("from a trusted proxy: %s%s", r.Head, r.Body)
	}
	s.Server = nil
	d = servertest.Start(t, s)
	if r := d.Get("/", "X-Forwarded-Proto: https", "X-Forwarded-For: 192.0.2.1"); r.Body == "open" {
		t.Errorf("from anybody: %s%s", r.Head, r.Body)
	}
	if r := d.Get("/", "X-Forwarded-For: 192.0.2.2"); r.Status != 429 {
		t.Errorf("another value from anybody: %s", r.Head)
	}
}

// Whatever is answered here without a look at the body, the body is never taken for another request: it is left out where
// it is there, and the connection ends where it is not.
func TestBodiesOfRequestsAnsweredHere(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, application(t, m[0].Address(), key("routes:"),
		key("  - {path: /deny, deny: [127.0.0.1], runtime: {type: respond}}"),
		key("  - {path: /limit, quota: {requests: 1, per: 366d}, runtime: {type: respond, status: 429}}"),
		key("  - {path: /login, basic_auth: {htpasswd_file: "+usersFile(t, users(t, "alice", "sesame"))+"}, runtime: {type: respond}}"),
		key("  - {path: /away, redirect: {to: /there}}"),
		key("  - {path: /cors, cors: {origins: [\"*\"]}, runtime: {type: respond}}"),
		key("  - {path: /respond, runtime: {type: respond, body: x}}"),
		key("  - {path: /to, runtime: {type: redirect, to: /there}}"),
		key("  - {path: /static, runtime: "+static(site(t))+"}"),
	))
	d.Get("/limit")
	const evil = "GET /evil HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, path := range []string{"/deny", "/limit", "/login", "/away", "/cors", "/respond", "/to", "/static"} {
		for _, c := range []struct {
			name, fields, with, later string
			keep                      bool
		}{
			{"there", fmt.Sprintf("Content-Length: %d\r\n", len(evil)), evil, "", true},
			{"later", fmt.Sprintf("Content-Length: %d\r\n", len(evil)), "", evil, false},
			{"chunked", "Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(evil), evil), "", false},
			{"asked for", fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d\r\n", len(evil)), "", evil, false},
		} {
			t.Run(path+" "+c.name, func(t *testing.T) {
				conn := servertest.Dial(t, d.Address)
				conn.Send("OPTIONS ", path, " HTTP/1.1\r\nHost: a\r\nOrigin: https://b\r\nAccess-Control-Request-Method: GET\r\n", c.fields, "\r\n", c.with)
				r := conn.Response("OPTIONS")
				if r.Status < 200 || closes(r) == c.keep {
					t.Errorf("got %s", r.Head)
				}
				if c.keep {
					conn.Send("GET /respond HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
					if r := conn.Response("GET"); r.Body != "x" {
						t.Errorf("the next one got %s", r.Head)
					}
				} else {
					conn.TrySend(c.later)
				}
				if rest, _ := conn.Rest(); rest != "" {
					t.Errorf("one answer too many: %s", rest)
				}
			})
		}
	}
	if n := len(m[0].Requests()); n != 0 {
		t.Errorf("the member got %d requests", n)
	}
}

// The fields of answers are changed in redirects too, however they are configured: Strict-Transport-Security has to be on
// the one that leads from a bare domain.
func TestHeaderEditsOfRedirects(t *testing.T) {
	d := servertest.Start(t, application(t, named(t, "a")[0].Address(),
		key("headers: {response: {set: [{name: Strict-Transport-Security, value: max-age=9}, {name: Content-Type, value: text/x-a}]}}"), key("routes:"),
		key("  - {path: /policy, redirect: {to: /there}}"),
		key("  - {path: /runtime, runtime: {type: redirect, to: /there}}"),
		key("  - {path: /docs, runtime: "+static(site(t))+"}"),
		key("  - {path: /denied, deny: [127.0.0.1], redirect: {to: /there}}"),
	))
	for path, want := range map[string]string{"/policy": "302 [max-age=9] [text/x-a]", "/runtime": "302 [max-age=9] [text/x-a]", "/docs": "301 [max-age=9] [text/x-a]", "/denied": "403 [] [text/plain; charset=utf-8]"} {
		r := d.Get(path)
		if got := fmt.Sprint(r.Status, " ", r.Fields("Strict-Transport-Security"), " ", r.Fields("Content-Type")); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// A route can take the requests for WebSocket, and those alone that ask for it as it is asked for.
func TestRouteOfUpgrades(t *testing.T) {
	d := servertest.Start(t, application(t, named(t, "a")[0].Address(), key("routes:"),
		key("  - {path: /, match_headers: [{name: Upgrade, value: websocket}], runtime: {type: respond, body: upgrades}}"),
		key("  - {path: /, runtime: {type: respond, body: others}}")))
	for fields, want := range map[string]string{"Connection: Upgrade\r\nUpgrade: websocket": "upgrades", "Upgrade: websocket": "others", "Connection: Upgrade\r\nUpgrade: h2c": "others", "X-A: b": "others"} {
		if r := d.Get("/", fields); r.Body != want {
			t.Errorf("%q: got %s, want %s", fields, r.Body, want)
		}
	}
}

// A field that is set or removed on the way to members does not reach them as a trailer either.
func TestEditedFieldsAreNoTrailers(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, application(t, m[0].Address(), key("headers: {request: {set: [{name: X-User, value: nobody}]}}")))
	c := servertest.Dial(t, d.Address)
	c.Send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX_User: root\r\nX-User: root\r\nX_Forwarded_For: 1.2.3.4\r\nX-Sum: 1\r\n\r\n")
	c.Final("POST")
	got := m[0].WaitBodies(1)[0].Trailer
	if len(got) != 1 || got.Get("X-Sum") != "1" {
		t.Errorf("the member got the trailers %v", got)
	}
}
