package config

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkCompare plans a reload of many pools and applications that changes one of them.
func BenchmarkCompare(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := func(retries int) []byte {
				var t strings.Builder
				t.WriteString("server: {listeners: [{name: http, address: \"127.0.0.1:80\"}]}\nupstreams:\n")
				for i := range n {
					fmt.Fprintf(&t, "  p%d: {retries: %d, members: [{address: \"192.0.2.1:80\"}]}\n", i, retries)
					retries = 1
				}
				t.WriteString("tenants:\n  - name: t\n    applications:\n")
				for i := range n {
					fmt.Fprintf(&t, "      - {name: a%d, domains: [d%d.example], runtime: {type: proxy, upstream: {pool: p%d}}}\n", i, i, i)
				}
				return []byte(t.String())
			}
			from, problems := Parse("a.yaml", text(1))
			to, more := Parse("b.yaml", text(2))
			if from == nil || to == nil {
				b.Fatal(problems, more)
			}
			for b.Loop() {
				plan, err := Compare(from, to, nil)
				if err != nil || plan.Pool("p0").Action != Rebuilt {
					b.Fatal(plan, err)
				}
			}
		})
	}
}
