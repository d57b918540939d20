package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
)

// TestCORS holds who may read what, and that preflights never reach a member.
func TestCORS(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Answer{Header: []string{"Access-Control-Allow-Origin: *", "ETag: \"1\""}})
	d := servertest.Start(t, application(t, m[0].Address(),
		key("cors: {origins: [\"https://a.example\"], methods: [PUT], headers: [X-Token], expose: [ETag], credentials: true, max_age: 10m}"),
		key("basic_auth: {htpasswd_file: "+usersFile(t, users(t, "alice", "sesame"))+"}"), key("routes:"),
		key("  - {path: /open, inherit: false, cors: {origins: [\"*\"]}, runtime: {type: proxy, upstream: {pool: p}}}"),
	))
	login := "Authorization: Basic YWxpY2U6c2VzYW1l\r\n"
	for name, c := range map[string]struct {
		method, path, fields string
		want                 string
	}{
		"preflight":            {"OPTIONS", "/", "Origin: https://a.example\r\nAccess-Control-Request-Method: PUT\r\nAccess-Control-Request-Headers: x-token\r\n", "204 https://a.example true GET, HEAD, POST, PUT X-Token 600"},
		"other origin":         {"OPTIONS", "/", "Origin: https://b.example\r\nAccess-Control-Request-Method: PUT\r\n", "403"},
		"other method":         {"OPTIONS", "/", "Origin: https://a.example\r\nAccess-Control-Request-Method: PATCH\r\n", "403 https://a.example true ETag"},
		"no preflight":         {"OPTIONS", "/", login, "200"},
		"with origin":          {"GET", "/", login + "Origin: https://a.example\r\n", "200 https://a.example true ETag"},
		"with another one":     {"GET", "/", login + "Origin: https://b.example\r\n", "200"},
		"our own refusal":      {"GET", "/", "Origin: https://a.example\r\n", "401 https://a.example true ETag"},
		"everybody":            {"GET", "/open", "Origin: https://b.example\r\n", "200 *"},
		"preflight everywhere": {"OPTIONS", "/open", "Origin: null\r\nAccess-Control-Request-Method: POST\r\n", "204 * GET, HEAD, POST"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := servertest.Dial(t, d.Address)
			conn.Send(c.method, " ", c.path, " HTTP/1.1\r\nHost: a\r\n", c.fields, "\r\n")
			r := conn.Final(c.method)
			got := fmt.Sprint(r.Status)
			for _, field := range []string{"Origin", "Credentials", "Methods", "Headers"} {
				got += " " + strings.Join(r.Fields("Access-Control-Allow-"+field), "|")
			}
			got += " " + r.Header.Get("Access-Control-Expose-Headers") + " " + r.Header.Get("Access-Control-Max-Age")
			if diff := cmp.Diff(c.want, strings.Join(strings.Fields(got), " ")); diff != "" {
				t.Errorf("(-want +got):\n%s%s", diff, r.Head)
			}
			if vary := strings.Contains(strings.Join(r.Fields("Vary"), ", "), "Origin"); vary != (c.path != "/open") {
				t.Errorf("Vary: %q", r.Fields("Vary"))
			}
		})
	}
	for _, r := range m[0].Requests() {
		if r.Method == "OPTIONS" && r.Header.Get("Access-Control-Request-Method") != "" {
			t.Errorf("a preflight reached the member: %s", r.Head)
		}
	}
}
