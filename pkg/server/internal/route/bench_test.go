package route

import (
	"fmt"
	"testing"

	"github.com/scalws/scalws/internal/config"
)

// large has 10,000 domains with 100 routes each.
func large(t testing.TB) *Table[string] {
	apps := make([]config.Application, 10_000)
	for i := range apps {
		a := &apps[i]
		a.Name, a.Domains, a.Runtime = fmt.Sprint(i), []string{fmt.Sprintf("www.shop-%d.example.com", i)}, to("rest")
		for j := range 100 {
			a.Routes = append(a.Routes, config.Route{Path: fmt.Sprintf("/api/v%d/articles", j), Runtime: to("api")})
		}
	}
	return newTable(t, []config.Tenant{{Name: "t", Applications: apps}})
}

// A lookup allocates nothing, whatever is looked up, once there is space for a clean path.
func TestLookupAllocatesNothing(t *testing.T) {
	tab := table(t)
	for _, c := range [][2]string{
		{"A.EU.example.com:8080", "/api/v2/x?y=1"}, {"forms.test", "/v1/x"}, {"forms.test", "/shop/%2e%2e/%73hop/sale"}, {"none", "/"},
	} {
		r := &Request{Host: []byte(c[0]), Path: []byte(c[1]), Method: []byte("GET"), Fields: noFields{}}
		tab.Lookup(r)
		if n := testing.AllocsPerRun(100, func() { tab.Lookup(r) }); n != 0 {
			t.Errorf("%v: %v allocations a lookup", c, n)
		}
	}
}

// BenchmarkLookup is socket-free: the bound is 1 us at 10,000 domains with 100 routes each, whichever is asked for.
func BenchmarkLookup(b *testing.B) {
	small, large := table(b), large(b)
	hosts := make([][]byte, 10_000)
	for i := range hosts {
		hosts[i] = fmt.Appendf(nil, "www.shop-%d.example.com:8080", i)
	}
	one := [][]byte{[]byte("www.example.com:8080")}
	for _, c := range []struct {
		name  string
		table *Table[string]
		hosts [][]byte
		path  string
	}{
		{"few domains", small, one, "/api/v2/x?y=1"},
		{"10000 domains", large, hosts, "/api/v57/articles/4711?y=1"},
		{"10000 domains, encoded", large, hosts, "/api/v57/%61rticles/./4711?y=1"},
		{"10000 domains, no route", large, hosts, "/index.html"},
		{"expression", small, [][]byte{[]byte("forms.test")}, "/v1/articles"},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := &Request{Path: []byte(c.path), Method: []byte("GET"), Fields: noFields{}}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.Host = c.hosts[i*7919%len(c.hosts)]
				c.table.Lookup(r)
			}
		})
	}
}
