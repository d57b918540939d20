package route

import (
	"errors"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/config"
)

// noFields are those of a request without any.
type noFields struct{}

func (noFields) Field(string) ([]byte, bool) { return nil, false }

// build makes the pool of a runtime its target.
func build(r *config.Runtime, _ Place) (string, error) {
	if r == nil {
		return "nothing", nil
	}
	return r.Pool, nil
}

func newTable(t testing.TB, tenants []config.Tenant) *Table[string] {
	t.Helper()
	tab, err := New(tenants, 0, build)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func to(pool string) *config.Runtime { return &config.Runtime{Pool: pool} }

// lookup is the target of a GET; empty where there is none.
func lookup(tab *Table[string], host, path string) string {
	got, ok := tab.Lookup(&Request{Host: []byte(host), Path: []byte(path), Method: []byte("GET"), Fields: noFields{}})
	if !ok {
		return ""
	}
	return got
}

// long is the longest name that there can be.
var long = strings.Repeat("a.", 126) + "a"

func table(t testing.TB) *Table[string] {
	t.Helper()
	return newTable(t, []config.Tenant{{Name: "acme", Applications: []config.Application{
		{Name: "www", Domains: []string{"example.com", "www.example.com"}, Runtime: to("www"), Routes: []config.Route{
			{Path: "/api", Runtime: to("api")},
			{Path: "/api/v2", Runtime: to("api-v2")},
			{Path: "/files/", Runtime: to("files")},
		}},
		{Name: "wild", Domains: []string{"*.example.com"}, Runtime: to("wild")},
		{Name: "deep", Domains: []string{"*.eu.example.com"}, Runtime: to("deep")},
		{Name: "v6", Domains: []string{"[::1]"}, Runtime: to("v6")},
		{Name: "routes", Domains: []string{"routes.test"}, Routes: []config.Route{{Path: "/only", Runtime: to("only")}}},
		{Name: "forms", Domains: []string{"forms.test"}, Runtime: to("rest"), Routes: []config.Route{
			{Regex: "/v[0-9]+/.*", Runtime: to("version")},
			{Regex: "/v1/.*", Runtime: to("never")},
			{Exact: "/shop/sale", Runtime: to("sale")},
			{Path: "/shop", Runtime: to("shop")},
			{Path: "/shop/", Runtime: to("inside")},
			{Exact: "/shop/", Runtime: to("index")},
			{Path: "/~user", Runtime: to("user")},
			{Path: "/a%2Fb", Runtime: to("escaped")},
			{Path: "/a//b", Runtime: to("double")},
			{Path: "/a:b@c", Runtime: to("colon")},
		}},
		{Name: "long", Domains: []string{long}, Runtime: to("long")},
	}}})
}

func TestLookup(t *testing.T) {
	tab := table(t)
	for _, c := range []struct{ host, path, want string }{
		{"example.com", "/", "www"},
		{"EXAMPLE.com:8080", "/", "www"},
		{"example.com.", "/", "www"},
		{"www.example.com", "/api", "api"},
		{"www.example.com", "/api?x=/y", "api"},
		{"www.example.com", "/api/", "api"},
		{"www.example.com", "/apis", "www"},
		{"www.example.com", "/api/v2/x", "api-v2"},
		{"www.example.com", "/api/v22", "api"},
		{"www.example.com", "/files", "www"},
		{"www.example.com", "/files/a", "files"},
		{"www.example.com", "*", "www"},
		{"a.example.com", "/", "wild"},
		{"a.b.example.com", "/", "wild"},
		{"a.eu.example.com", "/", "deep"},
		{"eu.example.com", "/", "wild"},
		{".example.com", "/", ""},
		{"[::1]", "/", "v6"},
		{"[::1]:80", "/", "v6"},
		{"routes.test", "/only/x", "only"},
		{"routes.test", "/", "nothing"},
		{"other.test", "/", ""},
		{"forms.test", "/shop", "shop"},
		{"forms.test", "/shop/", "index"},
		{"forms.test", "/shop/x", "inside"},
		{"forms.test", "/shop/sale", "sale"},
		{"forms.test", "/shop/sale?x=1", "sale"},
		{"forms.test", "/shop/sale/", "inside"},
		{"forms.test", "/shops", "rest"},
		{"forms.test", "/v1/x", "version"},
		{"forms.test", "/v1", "rest"},
		{"forms.test", "/x/v1/x", "rest"},
		{"forms.test", "/%7Euser/x", "user"},
		{"forms.test", "/x/%2e%2e/%73hop", "shop"},
		{"forms.test", "/shop/../v1/", "version"},
		{"forms.test", "/a%2fb", "escaped"},
		{"forms.test", "/a/b", "rest"},
		{"forms.test", "/a//b/c", "double"},
		{"forms.test", "//shop", "rest"},
		{"forms.test", "/SHOP", "rest"},
		{"forms.test", "/a:b%40c", "colon"},
		{"forms.test", "/a%3Ab@c/x", "colon"},
		{long, "/", "long"},
		{long + ".:80", "/", "long"},
		{"", "/", ""},
		{strings.Repeat("a", 300) + ".example.com", "/", ""},
	} {
		t.Run(c.host+c.path, func(t *testing.T) {
			if got := lookup(tab, c.host, c.path); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFallback(t *testing.T) {
	tab := newTable(t, []config.Tenant{{Applications: []config.Application{{Domains: []string{"*"}, Runtime: to("all")}}}})
	for _, host := range []string{"", "a", "a.b:1", strings.Repeat("x", 1000)} {
		if got := lookup(tab, host, "/"); got != "all" {
			t.Errorf("Lookup(%q) = %q", host, got)
		}
	}
}

func TestMaxBodyInnermostWins(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	app := config.Application{Name: "a", Domains: []string{"a"}, Runtime: to("rest"), MaxBody: n(20), Routes: []config.Route{
		{Path: "/inherits", Runtime: to("inherits")},
		{Path: "/none", Runtime: to("none"), MaxBody: n(0)},
	}}
	got := map[string]int64{}
	_, err := New([]config.Tenant{{Applications: []config.Application{app}}}, 10, func(r *config.Runtime, p Place) (string, error) {
		got[r.Pool] = p.MaxBody
		return "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pool, want := range map[string]int64{"rest": 20, "inherits": 20, "none": 0} {
		if got[pool] != want {
			t.Errorf("max_body of %s = %d, want %d", pool, got[pool], want)
		}
	}
}

func TestBuildErrorNamesTheApplication(t *testing.T) {
	boom := errors.New("boom")
	tenants := []config.Tenant{{Name: "acme", Applications: []config.Application{{Name: "www", Runtime: &config.Runtime{}}}}}
	_, err := New(tenants, 0, func(*config.Runtime, Place) (int, error) { return 0, boom })
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "application www of tenant acme") {
		t.Errorf("got %v", err)
	}
}
