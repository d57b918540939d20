package route

import (
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/config"
)

// fields are those of a request.
type fields map[string]string

func (f fields) Field(name string) ([]byte, bool) {
	v, ok := f[name]
	return []byte(v), ok
}

// Among routes with the same path the one with more conditions is looked at first, and then the first of the file; where
// none holds, shorter paths, expressions and the application follow.
func TestConditions(t *testing.T) {
	tab := newTable(t, []config.Tenant{{Applications: []config.Application{{Domains: []string{"*"}, Runtime: to("rest"), Routes: []config.Route{
		{Path: "/api", Runtime: to("all")},
		{Path: "/api", Methods: []string{"GET", "HEAD"}, Runtime: to("read")},
		{Path: "/api", MatchHeaders: []config.MatchHeader{{Name: "X-Canary"}}, Runtime: to("canary")},
		{Path: "/api", Methods: []string{"PUT"}, MatchHeaders: []config.MatchHeader{{Name: "X-Canary", Value: "2"}}, Runtime: to("canary-put")},
		{Path: "/api/deep", Methods: []string{"DELETE"}, Runtime: to("delete")},
		{Exact: "/api/deep/down", MatchHeaders: []config.MatchHeader{{Name: "User-Agent", Regex: "(?i)bot.*"}}, Runtime: to("bot")},
		{Regex: "/x.*", Methods: []string{"POST"}, Runtime: to("post")},
		{Regex: "/.*x", Runtime: to("x")},
		{Regex: "/x.*", Runtime: to("plain")},
		{Regex: "/x.*", MatchHeaders: []config.MatchHeader{{Name: "a"}, {Name: "b"}}, Runtime: to("both")},
	}}}}})
	for _, c := range []struct{ method, path, fields, want string }{
		{"GET", "/api", "", "read"},
		{"POST", "/api", "", "all"},
		{"get", "/api", "", "all"},
		{"GET", "/api", "x-canary=", "read"},
		{"POST", "/api", "x-canary=", "canary"},
		{"PUT", "/api", "x-canary=1", "canary"},
		{"PUT", "/api", "x-canary=2", "canary-put"},
		{"DELETE", "/api/deep/x", "", "delete"},
		{"GET", "/api/deep/x", "", "read"},
		{"POST", "/api/deep/down", "user-agent=BOT/1", "bot"},
		{"POST", "/api/deep/down", "user-agent=Robot", "all"},
		{"POST", "/xx", "", "post"},
		{"GET", "/xx", "", "plain"},
		{"GET", "/yx", "", "x"},
		{"GET", "/xy", "", "plain"},
		{"GET", "/xy", "a=1", "plain"},
		{"POST", "/xy", "a=1 b=2", "both"},
		{"GET", "/y", "", "rest"},
	} {
		t.Run(c.method+" "+c.path+" "+c.fields, func(t *testing.T) {
			sent := fields{}
			for f := range strings.FieldsSeq(c.fields) {
				name, value, _ := strings.Cut(f, "=")
				sent[name] = value
			}
			got, ok := tab.Lookup(&Request{Host: []byte("a"), Path: []byte(c.path), Method: []byte(c.method), Fields: sent})
			if !ok || got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
