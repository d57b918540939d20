package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// The console is served to those who are let in over the network, wherever their browser comes from, and what it
// asks is answered. It can change nothing, and there is none on the socket.
func TestRemoteConsole(t *testing.T) {
	r := startRemote(t, "", "allow: [{name: ops, role: admin}, {name: guest, role: viewer}]")
	for name, c := range map[string]struct {
		who, request string
		status       int
	}{
		"the page":                    {"ops", "GET /console/", 200},
		"to a viewer":                 {"guest", "GET /console/", 200},
		"to HEAD":                     {"ops", "HEAD /console/", 200},
		"led there by a link":         {"ops", "GET /console/|Sec-Fetch-Site: cross-site", 200},
		"typed":                       {"ops", "GET /console/|Sec-Fetch-Site: none", 200},
		"without the slash":           {"ops", "GET /console", 301},
		"no such file":                {"ops", "GET /console/none", 404},
		"POST":                        {"ops", "POST /console/|Content-Length: 0", 405},
		"to a stranger of the CA":     {"stranger", "GET /console/", 403},
		"by another name":             {"ops", "GET /console/|Host: evil.example", 403},
		"its question":                {"guest", "GET /v1/upstreams|Sec-Fetch-Site: same-origin", 200},
		"its question for metrics":    {"guest", "GET /metrics|Sec-Fetch-Site: same-origin", 200},
		"another page's question":     {"ops", "GET /v1/upstreams|Sec-Fetch-Site: cross-site", 403},
		"a change that it asks for":   {"ops", "PUT /v1/upstreams/p|Sec-Fetch-Site: same-origin|Content-Length: 0", 403},
		"a reload that it asks for":   {"ops", "POST /v1/reload|Sec-Fetch-Site: same-origin|Content-Length: 0", 403},
		"a path that begins like it":  {"ops", "GET /consoles", 404},
		"the API's path stays strict": {"ops", "GET //v1/upstreams", 404},
	} {
		t.Run(name, func(t *testing.T) {
			lines := strings.Split(c.request, "|")
			if !strings.Contains(c.request, "|Host:") {
				lines = append(lines, "Host: admin.example.com")
			}
			line := lines[0]
			lines[0] += " HTTP/1.1"
			conn := r.dial(r.ca.Issue(c.who))
			defer conn.Close()
			conn.Send(strings.Join(lines, "\r\n") + "\r\n\r\n")
			method, _, _ := strings.Cut(line, " ")
			got := conn.Final(method)
			if got.Status != c.status {
				t.Errorf("%s%s, want %d", got.Head, got.Body, c.status)
			}
			policy := got.Header.Get("Content-Security-Policy")
			if isPage := strings.Contains(line, "/console/") && c.status != 403; isPage != strings.HasPrefix(policy, "default-src 'none'") {
				t.Errorf("Content-Security-Policy %q", policy)
			}
		})
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/console/", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := r.Admin.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("on the socket: %s", answer.Status)
	}
}
