package server_test

import (
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// H01: hop-by-hop fields, and all that Connection names, stay behind in both directions.
func TestH01HopByHopFields(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Answer{Header: []string{
		"Connection:", "Connection: X-Member, keep-alive", "X-Member: 1", "Keep-Alive: timeout=5", "Proxy-Connection: x", "X-Kept: yes",
	}})
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	r := d.Get("/", "Connection:", "Connection: close, X-Forwarded-For, X-Secret, Cookie", "X-Secret: 1", "Cookie: a=b",
		"Keep-Alive: 1", "Proxy-Connection: x", "TE: trailers", "Trailer: X", "X-Kept: yes")
	got := m[0].WaitRequests(1)[0]
	for _, name := range []string{"Connection", "X-Secret", "Cookie", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding"} {
		if v := got.Fields(name); len(v) > 0 {
			t.Errorf("the member got %s: %q", name, v)
		}
	}
	if v := got.Fields("X-Forwarded-For"); len(v) != 1 || v[0] != "127.0.0.1" {
		t.Errorf("X-Forwarded-For: %q", v)
	}
	if got.Header.Get("X-Kept") != "yes" {
		t.Errorf("the member lost X-Kept: %s", got.Head)
	}
	for _, name := range []string{"X-Member", "Keep-Alive", "Proxy-Connection"} {
		if v := r.Fields(name); len(v) > 0 {
			t.Errorf("the client got %s: %q", name, v)
		}
	}
	if r.Header.Get("X-Kept") != "yes" {
		t.Errorf("the client lost X-Kept: %s", r.Head)
	}
}

func TestForwardedFields(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	d.Get("/", "X-Forwarded-For: 203.0.113.9", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil", "X-Request-Id: abc-1", "Via: 1.1 edge")
	got := m[0].WaitRequests(1)[0]
	for name, want := range map[string]string{
		"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "example.com",
		"X-Request-Id": "abc-1", "Via": "1.1 edge, 1.1 scalws", "Host": "example.com",
	} {
		if v := got.Fields(name); len(v) != 1 || v[0] != want {
			t.Errorf("%s: %q, want %q", name, v, want)
		}
	}
	if l := d.Lines(1)[0]; l["client_ip"] != "127.0.0.1" || l["request_id"] != "abc-1" {
		t.Errorf("log: %v", l)
	}
}

// X01: from a trusted peer the list is read from the right, in every form that proxies write.
func TestX01ClientAddress(t *testing.T) {
	m := named(t, "a", "b", "c", "d")
	d := servertest.Start(t, servertest.Setup{
		Members: addresses(m), Server: []string{"trusted_proxies: [127.0.0.0/8, 10.0.0.0/8]"},
		Pool: []string{"balance: hash", "hash: {by: client_ip}"},
	})
	lines := 0
	for _, c := range []struct{ forwarded, client string }{
		{"198.51.100.7", "198.51.100.7"},
		{"198.51.100.7:4711", "198.51.100.7"},
		{"::ffff:198.51.100.7", "198.51.100.7"},
		{"[::ffff:198.51.100.7]:80", "198.51.100.7"},
		{"203.0.113.66, 198.51.100.7", "198.51.100.7"},
		{"203.0.113.66, 198.51.100.7, 10.1.2.3", "198.51.100.7"},
		{"2001:db8::17", "2001:db8::17"},
		{"[2001:db8::17]", "2001:db8::17"},
		{"[2001:DB8:0::17]:4711", "2001:db8::17"},
		{"2001:db8::17%eth0", "2001:db8::17"},
		{"unknown", "127.0.0.1"},
		{"198.51.100.7, unknown, 10.1.2.3", "10.1.2.3"},
		{"198.51.100.7, , 10.1.2.3", "10.1.2.3"},
		{"10.9.9.9", "10.9.9.9"},
	} {
		t.Run(c.forwarded, func(t *testing.T) {
			first := d.Get("/", "X-Forwarded-For: "+c.forwarded).Body
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
	d.Get("/", "X-Forwarded-For: 198.51.100.7", "X-Forwarded-Proto: https", "X-Forwarded-Host: shop.example.com")
	for _, member := range m {
		for _, r := range member.Requests() {
			if r.Header.Get("X-Forwarded-Proto") == "https" {
				if r.Header.Get("X-Forwarded-Host") != "shop.example.com" || r.Header.Get("X-Forwarded-For") != "198.51.100.7, 127.0.0.1" {
					t.Errorf("what a trusted peer said was lost: %s", r.Head)
				}
				return
			}
		}
	}
	t.Error("X-Forwarded-Proto of a trusted peer was lost")
}

// H09: the target reaches the member byte for byte.
func TestH09TargetIsPassedOnAsItCame(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	targets := []string{
		"/?a=1;b=2", "/?%zz", "/?a=%", "/?" + strings.Repeat("x&", 2000), "/a%2Fb", "/a/..%2fb", "//a//b", "/a;x/b", "/./a/../b", "/?", "/?a=b?c=d", "/%00",
	}
	for i, target := range targets {
		if r := d.Get(target); r.Status != 200 {
			t.Fatalf("%s: %d", target, r.Status)
		}
		if got := m[0].WaitRequests(i + 1)[i].Head; !strings.HasPrefix(got, "GET "+target+" HTTP/1.1\r\n") {
			t.Errorf("sent %q, the member got %.60q", target, got)
		}
	}
}

func TestHostTowardsMembers(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Runtime: "{type: proxy, upstream: {pool: p}, preserve_host: false}"})
	d.Get("/")
	if h := m[0].WaitRequests(1)[0].Host; h != m[0].Address() {
		t.Errorf("Host %q, want the member's address", h)
	}
}

// A01, A05, A07: the affinity cookie to the letter.
func TestAffinityCookie(t *testing.T) {
	m := named(t, "a", "b")
	for _, member := range m {
		member.Default(servertest.Answer{Header: []string{"Set-Cookie: own=1; Path=/", "Set-Cookie: own2=2"}})
	}
	d := servertest.Start(t, servertest.Setup{
		Members: addresses(m), Server: []string{"trusted_proxies: [127.0.0.1/32]"},
		Pool: []string{"balance: hash", "hash: {by: cookie, name: SHOP_NODE, cookie_max_age: 1d}"},
	})
	valid := ""
	for _, cookie := range []string{
		"", "SHOP_NODE=", "SHOP_NODE=" + strings.Repeat("a", 31), "SHOP_NODE=" + strings.Repeat("a", 32), "SHOP_NODE=" + strings.Repeat("a", 33),
		"SHOP_NODE=" + strings.Repeat("A", 32), `SHOP_NODE="` + strings.Repeat("a", 32) + `"`, "SHOP_NODE=" + strings.Repeat("x", 8000), "shop_node=x",
	} {
		r := d.Get("/", "Cookie: a=b; "+cookie, "X-Forwarded-Proto: https")
		set := r.Header.Values("Set-Cookie")
		if len(set) != 3 || set[0] != "own=1; Path=/" || set[1] != "own2=2" {
			t.Fatalf("A01 %.50q: %q", cookie, set)
		}
		value, rest, _ := strings.Cut(strings.TrimPrefix(set[2], "SHOP_NODE="), ";")
		if len(value) != 32 || strings.Trim(value, "0123456789abcdef") != "" {
			t.Errorf("value %q", value)
		}
		if want := " Path=/; HttpOnly; SameSite=Lax; Max-Age=86400; Secure"; rest != want {
			t.Errorf("A05: %q, want %q", rest, want)
		}
		valid = "SHOP_NODE=" + value
	}
	if set := d.Get("/", "Cookie: "+valid).Header.Values("Set-Cookie"); len(set) != 2 {
		t.Errorf("a valid cookie is set again: %q", set)
	}
	got := d.Get("/", "Cookie: SHOP_NODE=nobody; "+valid)
	if len(got.Header.Values("Set-Cookie")) != 2 {
		t.Errorf("the second of two cookies is not taken: %s", got.Head)
	}
	for _, member := range m {
		member.Down()
		member.Kill()
	}
	if r := d.Get("/", "X: y"); r.Status != 502 || len(r.Header.Values("Set-Cookie")) != 0 {
		t.Errorf("A07: %s", r.Head)
	}
}

// G01: whatever a client sends, a request is one line that parses.
func TestG01OneLineARequest(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	n := 0
	for _, path := range []string{"/%0d%0aFAKE", "/%1b[2J", `/"quoted"`, "/" + strings.Repeat("x", 8000)} {
		d.Get(path, "User-Agent: a\"b\\c\xff\xe2\x80\xa8\td")
		n++
	}
	lines := d.Lines(n)
	if len(lines) != n {
		t.Errorf("%d lines for %d requests", len(lines), n)
	}
	if lines[0]["path"] != "/%0d%0aFAKE" {
		t.Errorf("path %q", lines[0]["path"])
	}
}
