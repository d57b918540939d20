package route

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/scalws/scalws/internal/config"
)

// BenchmarkPolicy is what each policy costs a request.
func BenchmarkPolicy(b *testing.B) {
	var deny []netip.Prefix
	for i := range 1000 {
		deny = append(deny, netip.MustParsePrefix(fmt.Sprintf("10.%d.%d.0/24", i/256, i%256)))
	}
	access, client := newAccess(deny, nil), netip.MustParseAddr("192.0.2.1")
	rewrite, err := newRewrite(&config.Rewrite{StripPrefix: "/api", AddPrefix: "/v1"})
	if err != nil {
		b.Fatal(err)
	}
	replace, err := newRewrite(&config.Rewrite{Replace: &config.Replace{Regex: "^/api/([^/]+)/(.*)$", With: "/$2/$1"}})
	if err != nil {
		b.Fatal(err)
	}
	redirect := newRedirect(&config.Redirect{To: "https://{host}{path}{query}"}, "")
	cors := newCORS(&config.CORS{Origins: []string{"https://app.example.com"}, Credentials: true})
	edits := newEdits(config.HeaderEdits{Remove: []string{"Server", "X-Powered-By"}, Set: []config.HeaderField{{Name: "X-Frame-Options", Value: "DENY"}}})
	q, host, origin := asked("/api/articles/4711?x=1"), []byte("www.example.com"), []byte("https://app.example.com")
	names := [][]byte{[]byte("Content-Type"), []byte("Content-Length"), []byte("Date"), []byte("Server"), []byte("ETag"), []byte("Cache-Control")}
	space := make([]byte, 0, 1024)
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"1000 networks", func() { access.Admits(client) }},
		{"rewrite", func() { rewrite.Append(space, q) }},
		{"replace", func() { replace.Append(space, q) }},
		{"redirect", func() { redirect.Append(space, q, "http", host) }},
		{"cors", func() { cors.AppendAnswer(space, origin) }},
		{"headers", func() {
			for _, n := range names {
				edits.Drops(n)
			}
			edits.Append(space)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.do()
			}
		})
	}
}
