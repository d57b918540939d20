package upstream_test

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// What reusing a connection costs beside the request: the look at the socket, and the place among the idle ones.
func BenchmarkGetPut(b *testing.B) {
	a := servertest.NewAuthority(b)
	for name, m := range map[string]*upstream.Member{
		"plain": upstream.NewMember(servertest.NewMember(b).Address(), upstream.Options{Keepalive: 1, IdleTimeout: time.Minute}),
		"tls": upstream.NewMember(servertest.NewTLSMember(b, &tls.Config{Certificates: []tls.Certificate{a.Issue("127.0.0.1")}}).Address(),
			options(b, a, "", "", "")),
	} {
		b.Run(name, func(b *testing.B) {
			c := dial(b, m)
			ask(b, c)
			now := time.Now()
			m.Put(c, now)
			b.ReportAllocs()
			for b.Loop() {
				if c = m.Get(now, nil); c == nil {
					b.Fatal("it is stale")
				}
				m.Put(c, now)
			}
		})
	}
}

// A new connection over TLS with one request, with a session to take up and without.
func BenchmarkDialTLS(b *testing.B) {
	a := servertest.NewAuthority(b)
	for name, tickets := range map[string]bool{"full": false, "resumed": true} {
		b.Run(name, func(b *testing.B) {
			peer := servertest.NewTLSMember(b, &tls.Config{Certificates: []tls.Certificate{a.Issue("127.0.0.1")}, SessionTicketsDisabled: !tickets})
			m := upstream.NewMember(peer.Address(), options(b, a, "", "", ""))
			for b.Loop() {
				c, err := m.Dial(b.Context(), onLoop(b), patience)
				if err != nil {
					b.Fatal(err)
				}
				ask(b, c)
				c.Close()
			}
		})
	}
}
