package proxy

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/server/internal/http1"
)

// asked is an exchange whose head was read from a peer; peers and proxies in 10.0.0.0/8 are trusted.
func asked(t testing.TB, way Forwarded, peer string, fields ...string) *exchange {
	t.Helper()
	x := &exchange{
		c:       &conn{},
		config:  &Config{Forwarded: way, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}},
		runtime: &Runtime{PreserveHost: true},
	}
	if peer != "" {
		x.c.peer = netip.MustParseAddr(peer)
	}
	x.client = x.c.peer
	head := "GET / HTTP/1.1\r\nHost: example.com\r\n" + strings.Join(append(fields, ""), "\r\n") + "\r\n"
	if n, err := x.req.Parse([]byte(head), http1.Limits{Head: 1 << 20, Fields: 1000, Target: 1 << 10}); err != nil || n != len(head) {
		t.Fatalf("parsing %q: %d, %v", head, n, err)
	}
	x.identify()
	return x
}

// told are the fields about the client that the member gets.
func told(x *exchange) (fields []string) {
	for line := range strings.SplitSeq(string(x.appendRequestHead(nil, "192.0.2.5:80")), "\r\n") {
		if name, _, _ := strings.Cut(strings.ToLower(line), ":"); name == "forwarded" || strings.HasPrefix(name, "x-forwarded-") {
			fields = append(fields, line)
		}
	}
	return fields
}

func TestForwardedToMembers(t *testing.T) {
	const forged, proxy = "198.51.100.66", "10.0.0.1"
	type want struct {
		client string
		secure bool
		fields []string
	}
	for _, c := range []struct {
		name   string
		way    Forwarded
		peer   string
		fields []string
		want   want
	}{
		{"x untrusted", ForwardX, forged, []string{"Forwarded: for=192.0.2.1;proto=https", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "X-Forwarded-Port: 1"}, want{forged, false, []string{
			"X-Forwarded-Port: 1", "X-Forwarded-For: 198.51.100.66", "X-Forwarded-Proto: http", "X-Forwarded-Host: example.com"}}},
		{"x nothing sent", ForwardX, proxy, nil, want{proxy, false, []string{
			"X-Forwarded-For: 10.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: example.com"}}},
		{"x only X-Forwarded", ForwardX, proxy, []string{"X-Forwarded-For: junk, 192.0.2.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: a.example"}, want{"192.0.2.1", true, []string{
			"X-Forwarded-Proto: https", "X-Forwarded-Host: a.example", "X-Forwarded-For: junk, 192.0.2.1, 10.0.0.1"}}},
		{"x only Forwarded", ForwardX, proxy, []string{`Forwarded: for="[2001:db8::1]:80";proto=https;host="a.example:8443", for=_hidden`, "Forwarded: for=10.9.9.9"}, want{"10.9.9.9", false, []string{
			"X-Forwarded-For: 2001:db8::1, unknown, 10.9.9.9, 10.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: example.com",
			`Forwarded: for="[2001:db8::1]:80";proto=https;host="a.example:8443", for=_hidden, for=10.9.9.9`}}},
		{"x only Forwarded, to the client", ForwardX, proxy, []string{`Forwarded: for=192.0.2.7;proto=http, for=192.0.2.1;host=a.example;proto=HTTPS, for=10.9.9.9;proto=http`}, want{"192.0.2.1", true, []string{
			"X-Forwarded-For: 192.0.2.7, 192.0.2.1, 10.9.9.9, 10.0.0.1", "X-Forwarded-Proto: HTTPS", "X-Forwarded-Host: a.example",
			`Forwarded: for=192.0.2.7;proto=http, for=192.0.2.1;host=a.example;proto=HTTPS, for=10.9.9.9;proto=http`}}},
		{"x only Forwarded, with X-Forwarded-Proto", ForwardX, proxy, []string{`Forwarded: for=192.0.2.1;proto=http`, "X-Forwarded-Proto: https"}, want{"192.0.2.1", true, []string{
			"X-Forwarded-Proto: https", "X-Forwarded-For: 192.0.2.1, 10.0.0.1", "X-Forwarded-Host: example.com", "Forwarded: for=192.0.2.1;proto=http"}}},
		{"x both sent", ForwardX, proxy, []string{"Forwarded: for=192.0.2.66;proto=https;host=evil", "X-Forwarded-For: 192.0.2.1"}, want{"192.0.2.1", false, []string{
			"X-Forwarded-For: 192.0.2.1, 10.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: example.com", "Forwarded: for=192.0.2.66;proto=https;host=evil"}}},
		{"x junk in Forwarded", ForwardX, proxy, []string{`Forwarded: for="192.0.2.66, for=10.2.2.2, for=10.1.1.1`, "Connection: x"}, want{"10.2.2.2", false, []string{
			"X-Forwarded-For: 10.2.2.2, 10.1.1.1, 10.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: example.com", "Forwarded: for=10.2.2.2, for=10.1.1.1"}}},
		{"x nothing but junk in Forwarded", ForwardX, proxy, []string{"Forwarded: for=192.0.2.1", "Forwarded: nonsense"}, want{proxy, false, []string{
			"X-Forwarded-For: 10.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: example.com"}}},
		{"x named in Connection", ForwardX, proxy, []string{"Connection: Forwarded", "Forwarded: for=192.0.2.1"}, want{proxy, false, []string{
			"X-Forwarded-For: 10.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: example.com"}}},
		{"x over a unix socket", ForwardX, "", []string{"Forwarded: for=192.0.2.1", "X-Forwarded-For: 192.0.2.1"}, want{"invalid IP", false, []string{
			"X-Forwarded-Proto: http", "X-Forwarded-Host: example.com"}}},

		{"rfc7239 untrusted", ForwardRFC7239, "2001:db8::66", []string{"Forwarded: for=192.0.2.1;proto=https", "X-Forwarded-For: 192.0.2.1", "X-FORWARDED-proto: https", "X-Forwarded-Port: 1"}, want{"2001:db8::66", false, []string{
			`Forwarded: for="[2001:db8::66]";host=example.com;proto=http`}}},
		{"rfc7239 only Forwarded", ForwardRFC7239, proxy, []string{"Forwarded: for=192.0.2.1;proto=https", "Forwarded: for=10.9.9.9"}, want{"192.0.2.1", true, []string{
			"Forwarded: for=192.0.2.1;proto=https, for=10.9.9.9, for=10.0.0.1;host=example.com;proto=http"}}},
		{"rfc7239 only X-Forwarded", ForwardRFC7239, proxy, []string{"X-Forwarded-For: [2001:db8::1]:80, unknown", "X-Forwarded-For: 10.9.9.9:80", "X-Forwarded-Proto: https", "X-Forwarded-Host: a.example:8443", "X-Forwarded-Prefix: /a"}, want{"10.9.9.9", true, []string{
			`Forwarded: for="[2001:db8::1]";host="a.example:8443";proto=https, for=unknown, for=10.9.9.9, for=10.0.0.1;host=example.com;proto=http`}}},
		{"rfc7239 only X-Forwarded, with junk", ForwardRFC7239, proxy, []string{"X-Forwarded-For: 192.0.2.1, for=x, 10.9.9.9", `X-Forwarded-Proto: https, http`, `X-Forwarded-Host: "a b"`}, want{"10.9.9.9", false, []string{
			`Forwarded: for=10.9.9.9, for=10.0.0.1;host=example.com;proto=http`}}},
		{"rfc7239 only X-Forwarded-Proto", ForwardRFC7239, proxy, []string{"X-Forwarded-Proto: https"}, want{proxy, true, []string{
			`Forwarded: for=10.0.0.1;host=example.com;proto=https`}}},
		{"rfc7239 both sent", ForwardRFC7239, proxy, []string{"Forwarded: for=192.0.2.1", "X-Forwarded-For: 192.0.2.66", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil"}, want{"192.0.2.1", false, []string{
			"Forwarded: for=192.0.2.1, for=10.0.0.1;host=example.com;proto=http"}}},
		{"rfc7239 junk in Forwarded", ForwardRFC7239, proxy, []string{"Forwarded: for=192.0.2.1,", "X-Forwarded-For: 192.0.2.66"}, want{proxy, false, []string{
			"Forwarded: for=10.0.0.1;host=example.com;proto=http"}}},
		{"rfc7239 over a unix socket", ForwardRFC7239, "", []string{"Forwarded: for=192.0.2.1", "X-Forwarded-For: 192.0.2.1"}, want{"invalid IP", false, []string{
			"Forwarded: for=unknown;host=example.com;proto=http"}}},

		{"both untrusted", ForwardBoth, forged, []string{"Forwarded: for=192.0.2.1;proto=https", "X-Forwarded-For: 192.0.2.1"}, want{forged, false, []string{
			"X-Forwarded-For: 198.51.100.66", "X-Forwarded-Proto: http", "X-Forwarded-Host: example.com", "Forwarded: for=198.51.100.66;host=example.com;proto=http"}}},
		{"both only Forwarded", ForwardBoth, proxy, []string{"Forwarded: by=_a;for=192.0.2.1;proto=https"}, want{"192.0.2.1", true, []string{
			"X-Forwarded-For: 192.0.2.1, 10.0.0.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: example.com",
			"Forwarded: by=_a;for=192.0.2.1;proto=https, for=10.0.0.1;host=example.com;proto=http"}}},
		{"both only X-Forwarded", ForwardBoth, proxy, []string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https"}, want{"192.0.2.1", true, []string{
			"X-Forwarded-Proto: https", "X-Forwarded-For: 192.0.2.1, 10.0.0.1", "X-Forwarded-Host: example.com",
			"Forwarded: for=192.0.2.1;proto=https, for=10.0.0.1;host=example.com;proto=http"}}},
		{"both sent and of one mind", ForwardBoth, proxy, []string{"Forwarded: by=_a;for=192.0.2.1", "X-Forwarded-For: 192.0.2.1"}, want{"192.0.2.1", false, []string{
			"X-Forwarded-For: 192.0.2.1, 10.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: example.com",
			"Forwarded: by=_a;for=192.0.2.1, for=10.0.0.1;host=example.com;proto=http"}}},
		{"both sent and not of one mind", ForwardBoth, proxy, []string{"Forwarded: for=192.0.2.66;proto=https", "X-Forwarded-For: 192.0.2.1"}, want{"192.0.2.1", false, []string{
			"X-Forwarded-For: 192.0.2.1, 10.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: example.com",
			"Forwarded: for=192.0.2.1, for=10.0.0.1;host=example.com;proto=http"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := asked(t, c.way, c.peer, c.fields...)
			got := want{x.client.String(), x.secure, told(x)}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Over TLS the request came by https, unless a trusted peer says how the client asked it.
func TestForwardedOverTLS(t *testing.T) {
	for _, c := range []struct {
		peer   string
		fields []string
		proto  string // of the client
		ours   string // in our element
		secure bool
	}{
		{"198.51.100.66", []string{"X-Forwarded-Proto: http", "Forwarded: proto=http"}, "https", "https", true},
		{"10.0.0.1", nil, "https", "https", true},
		{"10.0.0.1", []string{"X-Forwarded-Proto: http"}, "http", "http", false}, // ours is the client's too
		{"10.0.0.1", []string{"X-Forwarded-Proto: http", "X-Forwarded-For: 192.0.2.1"}, "http", "https", false},
		{"10.0.0.1", []string{"Forwarded: for=192.0.2.1;proto=http"}, "http", "https", false},
		{"10.0.0.1", []string{"Forwarded: for=192.0.2.1;proto=\"a b\""}, "https", "https", true},
	} {
		x := asked(t, ForwardBoth, c.peer, c.fields...)
		x.c.secure = true
		x.identify()
		text := strings.Join(told(x), "|")
		if !strings.Contains(text, "X-Forwarded-Proto: "+c.proto+"|") || !strings.HasSuffix(text, ";host=example.com;proto="+c.ours) || x.secure != c.secure {
			t.Errorf("%s %q: %s, secure %v", c.peer, c.fields, text, x.secure)
		}
	}
}

// X01: one client is one address in every form that proxies write, in both fields.
func TestX01Hops(t *testing.T) {
	for text, want := range map[string]string{
		"198.51.100.7": "198.51.100.7", "198.51.100.7:4711": "198.51.100.7", "198.51.100.7:_port": "198.51.100.7",
		"::ffff:198.51.100.7": "198.51.100.7", "[::ffff:198.51.100.7]:80": "198.51.100.7", "::ffff:198.51.100.7%eth0": "198.51.100.7",
		"2001:db8::17": "2001:db8::17", "[2001:db8::17]": "2001:db8::17", "[2001:DB8:0::17]:4711": "2001:db8::17", "2001:db8::17%eth0": "2001:db8::17",
		"[2001:db8::17%eth0]:1": "2001:db8::17", "[2001:db8::17]:_x": "2001:db8::17",
		"": "", "unknown": "", "_hidden": "", "198.51.100": "", "198.51.100.7:": "", "198.51.100.7:65536": "", "198.51.100.7:8a": "", "198.51.100.7:_": "",
		"[2001:db8::17": "", "2001:db8::17]": "", "[2001:db8::17]x": "", "[2001:db8::17]:": "", "[]": "", "[": "", ":": "", "198.51.100.7%eth0": "", "2001:db8::17%": "",
		" 198.51.100.7": "", "198.51.100.07": "",
	} {
		a, ok := parseHop([]byte(text))
		if got := a.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s, %v, want %q", text, got, ok, want)
		}
	}
}

// FuzzForwardedTwice: the next ScalWS finds the client that this one has found, out of what this one tells.
func FuzzForwardedTwice(f *testing.F) {
	for _, s := range []string{"for=192.0.2.1", `for="[2001:db8::1]:80", for=10.9.9.9`, "for=_a, for=10.1.1.1", `for="10.1.1.1`, ","} {
		f.Add([]byte(s), []byte("192.0.2.1, 10.9.9.9"), byte(0), byte(2))
		f.Add([]byte(s), []byte(`unknown, "[2001:db8::1]:80"`), byte(1), byte(1))
		f.Add([]byte(s), []byte("junk"), byte(2), byte(3))
	}
	f.Fuzz(func(t *testing.T, elements, list []byte, way, sent byte) {
		var fields []string
		for i, field := range []struct {
			name  string
			value []byte
		}{{"Forwarded: ", elements}, {"X-Forwarded-For: ", list}} {
			if sent>>i&1 == 0 {
				continue
			}
			for _, c := range field.value {
				if c < ' ' && c != '\t' || c == 0x7f {
					return // the codec refuses it
				}
			}
			fields = append(fields, field.name+string(bytes.TrimSpace(field.value)))
		}
		mode := Forwarded(way % 3)
		first := asked(t, mode, "10.0.0.1", fields...)
		second := asked(t, mode, "10.0.0.2", told(first)...)
		if first.client != second.client {
			t.Fatalf("%q: %v, and from %q %v", fields, first.client, told(first), second.client)
		}
	})
}

// In front of a member nothing is allocated for a request, whoever sent it.
func TestForwardedAllocatesNothing(t *testing.T) {
	out := make([]byte, 0, 4096)
	for _, way := range []Forwarded{ForwardX, ForwardRFC7239, ForwardBoth} {
		for _, fields := range [][]string{
			{},
			{"X-Forwarded-For: 192.0.2.1, [2001:db8::1]:80, 10.1.1.1:80", "X-Forwarded-Proto: https"},
			{`Forwarded: for=192.0.2.1;proto=https;host="a.example:80"`, `Forwarded: for="[fd00::1]:80", for=10.1.1.1`},
		} {
			x := asked(t, way, "10.0.0.1", append(fields, "X-Request-Id: 1")...)
			if n := testing.AllocsPerRun(100, func() {
				x.identify()
				out = x.appendRequestHead(out[:0], "192.0.2.5:80")
			}); n != 0 {
				t.Errorf("way %d, %q: %v allocations, want 0", way, fields, n)
			}
		}
	}
}
