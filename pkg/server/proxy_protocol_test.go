package server_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// v2 writes a PROXY header of version 2: the part behind the signature, in hex.
func v2(t *testing.T, rest string) string {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(rest, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return "\r\n\r\n\x00\r\nQUIT\n" + string(b)
}

func TestProxyProtocol(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Listener: "proxy_protocol: true",
		Server: []string{`trusted_proxies: ["127.0.0.0/8", "192.0.2.1/32"]`, "header_timeout: 200ms"}})
	const get = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	for _, row := range []struct {
		name, header string
		client       string // in X-Forwarded-For; empty: not served
	}{
		{"v1 IPv4", "PROXY TCP4 203.0.113.9 192.0.2.1 4711 80\r\n", "203.0.113.9"},
		{"v1 IPv6", "PROXY TCP6 2001:db8::1 2001:db8::2 4711 80\r\n", "2001:db8::1"},
		{"v1 unknown", "PROXY UNKNOWN\r\n", "127.0.0.1"},
		{"v2 IPv4", v2(t, "21 11 000c cb007109 c0000201 1267 0050"), "203.0.113.9"},
		{"v2 IPv6", v2(t, "21 21 0024 20010db8000000000000000000000001 20010db8000000000000000000000002 1267 0050"), "2001:db8::1"},
		{"v2 IPv4 in IPv6", v2(t, "21 21 0024 00000000000000000000ffffcb007109 20010db8000000000000000000000002 1267 0050"), "203.0.113.9"},
		{"v2 local", v2(t, "20 00 0000"), "127.0.0.1"},
		{"v2 with fields", v2(t, "21 11 0013 cb007109 c0000201 1267 0050 04 0004 00000000"), "203.0.113.9"},
		{"none", "", ""},
		{"v1 without end", "PROXY TCP4 203.0.113.9 192.0.2.1 4711 80 " + strings.Repeat("x", 200), ""},
		{"v1 bad address", "PROXY TCP4 203.0.113.900 192.0.2.1 4711 80\r\n", ""},
		{"v1 bare LF", "PROXY TCP4 203.0.113.9 192.0.2.1 4711 80\n", ""},
		{"v2 bad version", v2(t, "31 11 000c cb007109 c0000201 1267 0050"), ""},
		{"v2 short", v2(t, "21 11 0004 cb007109"), ""},
		{"v2 too long", v2(t, "21 11 ffff"), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := len(m[0].Requests())
			c := servertest.Dial(t, d.Address)
			c.TrySend(row.header + get)
			rest, _ := c.Rest()
			if row.client == "" {
				if rest != "" || len(m[0].Requests()) != before {
					t.Errorf("served: %q", rest)
				}
				return
			}
			if !strings.HasPrefix(rest, "HTTP/1.1 200") {
				t.Fatalf("got %q", rest)
			}
			r := m[0].Requests()[before]
			if got := r.Header.Get("X-Forwarded-For"); got != row.client {
				t.Errorf("X-Forwarded-For %q, want %q", got, row.client)
			}
		})
	}

	// The address in the header is the peer: a trusted one is believed what it says of others.
	c := servertest.Dial(t, d.Address)
	before := len(m[0].Requests())
	c.Send("PROXY TCP4 192.0.2.1 192.0.2.2 4711 80\r\nGET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.7\r\n\r\n")
	c.Final("GET")
	if got := m[0].Requests()[before].Header.Get("X-Forwarded-For"); got != "198.51.100.7, 192.0.2.1" {
		t.Errorf("X-Forwarded-For %q", got)
	}
}

// Who is no trusted proxy is not served, whatever it sends.
func TestProxyProtocolFromStrangers(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Listener: "proxy_protocol: true",
		Server: []string{`trusted_proxies: ["192.0.2.0/24"]`}})
	c := servertest.Dial(t, d.Address)
	c.TrySend("PROXY TCP4 192.0.2.9 192.0.2.1 4711 80\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if rest, _ := c.Rest(); rest != "" || len(m[0].Requests()) > 0 {
		t.Errorf("served: %q", rest)
	}
}

// A PROXY header in front of HTTP/2.
func TestProxyProtocolWithH2C(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Listener: "proxy_protocol: true, h2c: true",
		Server: []string{`trusted_proxies: ["127.0.0.0/8"]`}})
	c := servertest.Dial(t, d.Address)
	// Preface, empty SETTINGS, and HEADERS of GET / with :authority x.
	c.Send("PROXY TCP4 203.0.113.9 192.0.2.1 4711 80\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
		"\x00\x00\x00\x04\x00\x00\x00\x00\x00" + "\x00\x00\x06\x01\x05\x00\x00\x00\x01" + "\x82\x86\x84\x41\x01x")
	if r := m[0].WaitRequests(1)[0]; r.Header.Get("X-Forwarded-For") != "203.0.113.9" || r.Host != "x" {
		t.Errorf("at the member: %q", r.Head)
	}
}
