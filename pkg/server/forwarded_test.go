package server_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server"
)

// tells are the fields about the client that a member got, by name.
func tells(r servertest.Request) map[string]string {
	fields := map[string]string{}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"} {
		if v := r.Fields(name); len(v) > 0 {
			fields[name] = strings.Join(v, " & ")
		}
	}
	return fields
}

// server.forwarded says which fields members get; whom they tell of depends on who is trusted.
func TestServerForwarded(t *testing.T) {
	type fields = map[string]string
	sent := []string{`Forwarded: for="[2001:db8::17]:4711";proto=https;host="shop.example.com:8443"`}
	for _, c := range []struct {
		name, way, trusted string
		want               fields
	}{
		{"default", "", "127.0.0.1", fields{
			"X-Forwarded-For": "2001:db8::17, 127.0.0.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "shop.example.com:8443", "Forwarded": strings.TrimPrefix(sent[0], "Forwarded: "),
		}},
		{"x", "x", "192.0.2.0/24", fields{"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "example.com"}},
		{"rfc7239", "rfc7239", "127.0.0.1", fields{
			"Forwarded": strings.TrimPrefix(sent[0], "Forwarded: ") + ", for=127.0.0.1;host=example.com;proto=http",
		}},
		{"rfc7239 untrusted", "rfc7239", "192.0.2.0/24", fields{"Forwarded": "for=127.0.0.1;host=example.com;proto=http"}},
		{"both untrusted", "both", "192.0.2.0/24", fields{
			"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "example.com", "Forwarded": "for=127.0.0.1;host=example.com;proto=http",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := named(t, "a")
			lines := []string{"trusted_proxies: [" + c.trusted + "]"}
			if c.way != "" {
				lines = append(lines, "forwarded: "+c.way)
			}
			d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: lines, Pool: []string{"balance: hash", "hash: {by: cookie}"}})
			answer := d.Get("/", sent...)
			if diff := cmp.Diff(c.want, tells(m[0].WaitRequests(1)[0])); diff != "" {
				t.Error(diff)
			}
			client := "127.0.0.1"
			if c.trusted == client {
				client = "2001:db8::17"
			}
			if got := d.Lines(1)[0]["client_ip"]; got != client {
				t.Errorf("client_ip %v, want %s", got, client)
			}
			cookie := answer.Header.Get("Set-Cookie")
			if secure := strings.HasSuffix(cookie, "; Secure"); secure != (client != "127.0.0.1") {
				t.Errorf("cookie of a client whose protocol is told by %s: %s", c.trusted, cookie)
			}
		})
	}
}

// X01: Forwarded is read from the right, in every form that proxies write, to the same client and member as an
// X-Forwarded-For of the client alone.
func TestX01ClientAddressInForwarded(t *testing.T) {
	m := named(t, "a", "b", "c", "d")
	d := servertest.Start(t, servertest.Setup{
		Members: addresses(m), Server: []string{"trusted_proxies: [127.0.0.0/8, 10.0.0.0/8]"},
		Pool: []string{"balance: hash", "hash: {by: client_ip}"},
	})
	lines := 0
	for _, c := range []struct{ forwarded, client string }{
		{`for=198.51.100.7`, "198.51.100.7"},
		{`For="198.51.100.7:4711"`, "198.51.100.7"},
		{`for=198.51.100.7:4711`, "198.51.100.7"},
		{`for="198.51.100.7:_port"`, "198.51.100.7"},
		{`for="[::ffff:198.51.100.7]:80"`, "198.51.100.7"},
		{`for=203.0.113.66, proto=http;FOR="\198.51.100.7";by=_x`, "198.51.100.7"},
		{`for=203.0.113.66, for=198.51.100.7,for=10.1.2.3;x="a,b;for=1.2.3.4"`, "198.51.100.7"},
		{"for=203.0.113.66\r\nForwarded: for=198.51.100.7\r\nForwarded: for=10.1.2.3", "198.51.100.7"},
		{`for="[2001:db8::17]"`, "2001:db8::17"},
		{`for="[2001:DB8:0::17]:4711"`, "2001:db8::17"},
		{`for="2001:db8::17"`, "2001:db8::17"},
		{`for=[2001:db8::17]:4711`, "2001:db8::17"},
		{`for="[2001:db8::17%eth0]"`, "2001:db8::17"},
		{`for=unknown`, "127.0.0.1"},
		{`for=198.51.100.7, for=_hidden, for=10.1.2.3`, "10.1.2.3"},
		{`for=198.51.100.7, proto=https, for=10.1.2.3`, "10.1.2.3"},
		{`for=198.51.100.7, , for=10.1.2.3`, "10.1.2.3"},
		{`for=198.51.100.7;for=203.0.113.66, for=10.1.2.3`, "10.1.2.3"},
		{`for=203.0.113.66;x=", for=198.51.100.7`, "198.51.100.7"},
		{`for="198.51.100.7`, "127.0.0.1"},
		{`for=10.9.9.9`, "10.9.9.9"},
		// Where both fields came, the preferred one decides.
		{"for=203.0.113.66\r\nX-Forwarded-For: 198.51.100.7", "198.51.100.7"},
		{"for=203.0.113.66\r\nX-Forwarded-For: junk", "127.0.0.1"},
	} {
		t.Run(c.forwarded, func(t *testing.T) {
			first := d.Get("/", "Forwarded: "+c.forwarded).Body
			direct := d.Get("/", "X-Forwarded-For: "+c.client).Body
			lines += 2
			l := d.Lines(lines)[lines-2]
			if l["client_ip"] != c.client {
				t.Errorf("client_ip %v, want %s", l["client_ip"], c.client)
			}
			if first != direct {
				t.Errorf("%s went to %s, %s to %s", c.forwarded, first, c.client, direct)
			}
		})
	}
}

// X03: a client over a unix socket is one that nobody knows the address of.
func TestX03ForwardedOfUnixClient(t *testing.T) {
	m := named(t, "a")
	dir := servertest.SocketDir(t)
	path := filepath.Join(dir, "http.sock")
	s, err := server.New(server.Options{File: "x.yaml", AdminSocket: filepath.Join(dir, "admin.sock"), Text: fmt.Appendf(nil, `
server: {listeners: [{name: unix, address: "unix:%s"}], forwarded: both}
access_log: {output: "off"}
upstreams: {p: {members: [{address: %q}]}}
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, upstream: {pool: p}}}]}]
`, path, m[0].Address())})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	c := servertest.Dial(t, "unix:"+path)
	c.Send("GET / HTTP/1.1\r\nHost: example.com:80\r\nForwarded: for=192.0.2.1\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
	c.Final("GET")
	c.Close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	want := map[string]string{
		"Forwarded": `for=unknown;host="example.com:80";proto=http`, "X-Forwarded-Proto": "http", "X-Forwarded-Host": "example.com:80",
	}
	if diff := cmp.Diff(want, tells(m[0].WaitRequests(1)[0])); diff != "" {
		t.Error(diff)
	}
}
