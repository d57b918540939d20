package route

import (
	"errors"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/config"
)

func table(t testing.TB) *Table[string] {
	t.Helper()
	// The runtime's pool stands for the target.
	rt := func(name string) *config.Runtime { return &config.Runtime{Pool: name} }
	tenants := []config.Tenant{{Name: "acme", Applications: []config.Application{
		{Name: "www", Domains: []string{"example.com", "www.example.com"}, Runtime: rt("www"), Routes: []config.Route{
			{Path: "/api", Runtime: *rt("api")},
			{Path: "/api/v2", Runtime: *rt("api-v2")},
			{Path: "/files/", Runtime: *rt("files")},
		}},
		{Name: "wild", Domains: []string{"*.example.com"}, Runtime: rt("wild")},
		{Name: "deep", Domains: []string{"*.eu.example.com"}, Runtime: rt("deep")},
		{Name: "v6", Domains: []string{"[::1]"}, Runtime: rt("v6")},
		{Name: "routes", Domains: []string{"routes.test"}, Routes: []config.Route{{Path: "/only", Runtime: *rt("only")}}},
	}}}
	tab, err := New(tenants, 0, func(r config.Runtime, _ Place) (string, error) { return r.Pool, nil })
	if err != nil {
		t.Fatal(err)
	}
	return tab
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
		{"routes.test", "/", ""},
		{"other.test", "/", ""},
		{"", "/", ""},
		{strings.Repeat("a", 300) + ".example.com", "/", ""},
	} {
		t.Run(c.host+c.path, func(t *testing.T) {
			got, ok := tab.Lookup([]byte(c.host), []byte(c.path))
			if !ok {
				got = ""
			}
			if got != c.want {
				t.Errorf("Lookup(%q, %q) = %q, want %q", c.host, c.path, got, c.want)
			}
		})
	}
}

func TestFallback(t *testing.T) {
	tenants := []config.Tenant{{Applications: []config.Application{
		{Domains: []string{"*"}, Runtime: &config.Runtime{Pool: "all"}},
	}}}
	tab, err := New(tenants, 0, func(r config.Runtime, _ Place) (string, error) { return r.Pool, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"", "a", "a.b:1", strings.Repeat("x", 1000)} {
		if got, ok := tab.Lookup([]byte(host), []byte("/")); !ok || got != "all" {
			t.Errorf("Lookup(%q) = %q, %v", host, got, ok)
		}
	}
}

func TestMaxBodyInnermostWins(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	app := config.Application{Name: "a", Domains: []string{"a"}, Runtime: &config.Runtime{Pool: "rest"}, MaxBody: n(20), Routes: []config.Route{
		{Path: "/inherits", Runtime: config.Runtime{Pool: "inherits"}},
		{Path: "/none", Runtime: config.Runtime{Pool: "none"}, MaxBody: n(0)},
	}}
	got := map[string]int64{}
	_, err := New([]config.Tenant{{Applications: []config.Application{app}}}, 10, func(r config.Runtime, p Place) (string, error) {
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
	_, err := New(tenants, 0, func(config.Runtime, Place) (int, error) { return 0, boom })
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "application www of tenant acme") {
		t.Errorf("got %v", err)
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	tab := table(t)
	host, path := []byte("A.EU.example.com:8080"), []byte("/api/v2/x?y=1")
	if n := testing.AllocsPerRun(100, func() { tab.Lookup(host, path) }); n != 0 {
		t.Errorf("%v allocations a lookup", n)
	}
}

func BenchmarkLookup(b *testing.B) {
	tab := table(b)
	host, path := []byte("www.example.com:8080"), []byte("/api/v2/x?y=1")
	b.ReportAllocs()
	for b.Loop() {
		tab.Lookup(host, path)
	}
}
