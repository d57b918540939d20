package server_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// What follows from each way in which a connection to a member can fail: for the client if there is nobody else, for
// the member's health, and that another member gets the request whatever its method is, for nothing was written.
func TestConnectFailures(t *testing.T) {
	a, stranger := servertest.NewAuthority(t), servertest.NewAuthority(t)
	cert := a.Issue("127.0.0.1")
	good := servertest.NewMember(t)
	goodTLS := servertest.NewTLSMember(t, &tls.Config{Certificates: []tls.Certificate{cert}})
	down := servertest.NewMember(t)
	down.Down()
	mute := servertest.NewNames(t)
	mute.Silence()
	tlsMember := func(c *tls.Config) string { return servertest.NewTLSMember(t, c).Address() }

	for name, c := range map[string]struct {
		address string
		names   *servertest.Names // nil: one that knows no name
		https   bool
		status  int
		cause   string
	}{
		"refused":              {down.Address(), nil, false, 502, "connect_refused"},
		"refused, https":       {down.Address(), nil, true, 502, "connect_refused"},
		"name not found":       {"absent.test:80", nil, false, 502, "connect_failed"},
		"name server is mute":  {"a.test:80", mute, false, 504, "connect_timeout"},
		"backlog is full":      {servertest.FullBacklog(t, "127.0.0.1:0"), nil, false, 504, "connect_timeout"},
		"handshake is mute":    {servertest.RawPeer(t, func(net.Conn) {}), nil, true, 504, "connect_timeout"},
		"handshake is cut off": {servertest.RawPeer(t, func(c net.Conn) { c.(*net.TCPConn).CloseWrite() }), nil, true, 502, "tls_failed"},
		"no TLS": {servertest.RawPeer(t, func(c net.Conn) { c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }),
			nil, true, 502, "tls_failed"},
		"wrong name":        {tlsMember(&tls.Config{Certificates: []tls.Certificate{a.Issue("api.internal")}}), nil, true, 502, "tls_failed"},
		"unknown authority": {tlsMember(&tls.Config{Certificates: []tls.Certificate{stranger.Issue("127.0.0.1")}}), nil, true, 502, "tls_failed"},
		"expired":           {tlsMember(&tls.Config{Certificates: []tls.Certificate{a.IssueExpired("127.0.0.1")}}), nil, true, 502, "tls_failed"},
		"TLS 1.1": {tlsMember(&tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}),
			nil, true, 502, "tls_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			names := c.names
			if names == nil {
				names = servertest.NewNames(t)
			}
			other, settings := good, ""
			if c.https {
				other, settings = goodTLS, fmt.Sprintf("scheme: https, tls: {ca_file: %q}, ", a.File)
			}
			wait := "20s"
			if c.status == 504 {
				wait = "150ms"
			}
			d := servertest.Start(t, servertest.Setup{Resolver: names.Resolver(), Rest: fmt.Sprintf(`upstreams:
  alone: {%[1]smembers: [{address: %[2]q}]}
  both: {%[1]smembers: [{address: %[2]q}, {address: %[3]q}]}
tenants: [{name: t, applications: [
  {name: alone, domains: [alone], runtime: {type: proxy, upstream: {pool: alone}, connect_timeout: %[4]s}},
  {name: both, domains: [both], runtime: {type: proxy, upstream: {pool: both}, connect_timeout: %[4]s}}]}]
`, settings, c.address, other.Address(), wait)})
			other.Default(servertest.Digest())

			if r := post(t, d, "alone"); r.Status != c.status {
				t.Errorf("alone: %d, want %d", r.Status, c.status)
			}
			if r := post(t, d, "both"); r.Status != 200 || !strings.HasSuffix(r.Body, " 4\n") {
				t.Errorf("with another member: %s%s", r.Head, r.Body)
			}
			for _, pool := range []string{"alone", "both"} {
				u, err := d.Admin.Upstream(t.Context(), pool)
				if err != nil {
					t.Fatal(err)
				}
				if m := u.Members[0]; m.LastFailure != c.cause || m.ConsecutiveFailures != 1 {
					t.Errorf("%s: last failure %q, %d in a row; want %q, 1", pool, m.LastFailure, m.ConsecutiveFailures, c.cause)
				}
			}
			if got := d.Metric(`scalws_upstream_pool_retries_total{pool="both"}`); got != "1" {
				t.Errorf("%s retries, want 1", got)
			}
		})
	}
}

// post sends four bytes to a host.
func post(t *testing.T, d *servertest.Daemon, host string) servertest.Response {
	t.Helper()
	c := servertest.Dial(t, d.Address)
	defer c.Close()
	c.Send("POST / HTTP/1.1\r\nHost: ", host, "\r\nContent-Length: 4\r\n\r\ntest")
	return c.Final("POST")
}

// D01: every new connection resolves the name. Kept ones live on at the old address, and when they fail there the
// request that met the failure is at the new address already.
func TestD01NameMoves(t *testing.T) {
	m := servertest.NewMembers(t, "127.0.0.2", "127.0.0.3")
	m[0].Default(servertest.Answer{Body: "old"})
	m[1].Default(servertest.Answer{Body: "new"})
	_, port, _ := net.SplitHostPort(m[0].Address())
	names := servertest.NewNames(t)
	names.Set("member.test", "127.0.0.2")
	d := servertest.Start(t, servertest.Setup{Members: []string{"member.test:" + port}, Resolver: names.Resolver()})
	if got, want := d.Sequence(2), "old old"; got != want {
		t.Errorf("before: %q, want %q", got, want)
	}
	names.Set("member.test", "127.0.0.3")
	if got, want := d.Sequence(2), "old old"; got != want {
		t.Errorf("over the kept connection: %q, want %q", got, want)
	}
	m[0].CloseIdle()
	m[0].WaitOpen(0)
	if got, want := d.Sequence(2), "new new"; got != want {
		t.Errorf("after it was closed: %q, want %q", got, want)
	}
	names.Set("member.test", "127.0.0.2")
	m[0].Down()
	m[1].Kill()
	m[1].WaitOpen(0)
	if r := d.Get("/"); r.Status != 502 {
		t.Errorf("nobody at the new address: %d", r.Status)
	}
	names.Set("member.test", "127.0.0.2", "127.0.0.3")
	m[1].Up()
	if got, want := d.Sequence(1), "new"; got != want {
		t.Errorf("one of two addresses refuses: %q, want %q", got, want)
	}
}

// D01: a name that does not resolve, then does.
func TestD01NameAppears(t *testing.T) {
	m := named(t, "a")
	_, port, _ := net.SplitHostPort(m[0].Address())
	names := servertest.NewNames(t)
	d := servertest.Start(t, servertest.Setup{Members: []string{"member.test:" + port}, Resolver: names.Resolver()})
	if r := d.Get("/"); r.Status != 502 {
		t.Errorf("got %s", r.Head)
	}
	if s := show(t, d).Members[0]; s.ConsecutiveFailures != 1 || s.LastFailure != "connect_failed" {
		t.Errorf("%+v", s)
	}
	names.Set("member.test", "127.0.0.1", "::1")
	if r := d.Get("/"); r.Body != "a" {
		t.Errorf("got %s", r.Head)
	}
	if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 {
		t.Errorf("%+v", s)
	}
}

// keepalive bounds what is kept, not what is used.
func TestKeepaliveOfAPool(t *testing.T) {
	const clients = 8
	for _, keep := range []int{0, 3, 20} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			m := named(t, "a")
			d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{fmt.Sprintf("keepalive: %d", keep)}})
			m[0].Default(servertest.Hold(servertest.Answer{Body: "a"}))
			var conns []*servertest.Conn
			for range clients {
				c := servertest.Dial(t, d.Address)
				c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				conns = append(conns, c)
			}
			m[0].WaitRequests(clients)
			m[0].Release()
			for _, c := range conns {
				c.Final("GET")
			}
			m[0].WaitOpen(min(keep, clients))
		})
	}
}

// upstream_client.idle_timeout closes what nobody used, and not before.
func TestIdleMemberConnectionsAreClosed(t *testing.T) {
	const timeout = 300 * time.Millisecond
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"upstream_client: {idle_timeout: 300ms}"}})
	began := time.Now()
	d.Get("/")
	m[0].WaitOpen(0)
	if took := time.Since(began); took < timeout {
		t.Errorf("closed after %v", took)
	}
}

// Removing a member closes its idle connections with the PUT and lets the others finish. When its address returns
// nothing is left of it.
func TestRemovedMemberFinishesAndReturnsClean(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{Pool: []string{"passive_health: {failures: 5}"}})
	setMembers(t, d, m[0])
	m[0].Script(servertest.Status(503), servertest.Answer{Body: "a"}, servertest.Hold(servertest.Answer{Body: "held"}), servertest.Answer{Body: "a"})
	d.Get("/") // one failure
	d.Get("/")
	m[0].Script() // what follows holds
	busy := servertest.Dial(t, d.Address)
	busy.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(3)
	d.Get("/")
	m[0].WaitOpen(2) // one is busy, one idle

	setMembers(t, d, m[1])
	m[0].WaitOpen(1)
	m[0].Release()
	if r := busy.Final("GET"); r.Body != "held" {
		t.Errorf("in flight: %s%s", r.Head, r.Body)
	}
	m[0].WaitOpen(0)

	before := m[0].Connections()
	setMembers(t, d, m[0])
	d.Until("it is clean", func() bool {
		s := show(t, d).Members[0]
		return s.ConsecutiveFailures == 0 && s.InFlight == 0 && s.LastFailure == ""
	})
	if d.Get("/"); m[0].Connections() != before+1 {
		t.Errorf("%d connections, want a new one after %d", m[0].Connections(), before)
	}
}

// Over TLS: one connection for many requests, the sessions of those that follow it, the client's certificate, and
// ca_file as it was when the pool was built.
func TestTLSMembers(t *testing.T) {
	a, rotated := servertest.NewAuthority(t), servertest.NewAuthority(t)
	certFile, keyFile := a.IssueFiles("scalws")
	resumed := make(chan bool, 100)
	config := func(by *servertest.Authority) *tls.Config {
		return &tls.Config{
			Certificates: []tls.Certificate{by.Issue("127.0.0.1")}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.Pool,
			VerifyConnection: func(s tls.ConnectionState) error {
				resumed <- s.DidResume
				return nil
			},
		}
	}
	start := func(t *testing.T, pool ...string) *servertest.Daemon {
		t.Helper()
		return servertest.Start(t, servertest.Setup{
			Server: []string{fmt.Sprintf("upstream_client: {cert_file: %q, key_file: %q}", certFile, keyFile)},
			Pool:   append([]string{"scheme: https"}, pool...),
		})
	}
	trust := fmt.Sprintf("tls: {ca_file: %q}", a.File)

	t.Run("50 requests over one connection", func(t *testing.T) {
		m := servertest.NewTLSMember(t, config(a))
		d := start(t, trust)
		setMembers(t, d, m)
		for range 50 {
			if r := d.Get("/"); r.Status != 200 {
				t.Fatalf("got %s", r.Head)
			}
		}
		if got := m.Connections(); got != 1 {
			t.Errorf("%d connections, want 1", got)
		}
		<-resumed

		m.CloseIdle()
		m.WaitOpen(0)
		if r := d.Get("/"); r.Status != 200 || !<-resumed {
			t.Errorf("the next connection: %s", r.Head)
		}
		if s := show(t, d).Members[0]; s.LastFailure != "" {
			t.Errorf("the member is blamed: %+v", s)
		}
	})
	t.Run("fresh connections resume", func(t *testing.T) {
		m := servertest.NewTLSMember(t, config(a))
		d := start(t, trust, "keepalive: 0")
		setMembers(t, d, m)
		for i := range 5 {
			if d.Get("/"); <-resumed != (i > 0) {
				t.Errorf("connection %d: resumed %v", i+1, i == 0)
			}
		}
	})
	t.Run("ca_file is read with the pool", func(t *testing.T) {
		before, after := servertest.NewTLSMember(t, config(a)), servertest.NewTLSMember(t, config(rotated))
		file := servertest.Replace(t, filepath.Join(t.TempDir(), "ca.pem"), a.PEM())
		d := start(t, fmt.Sprintf("tls: {ca_file: %q}", file), "keepalive: 0")
		setMembers(t, d, before)
		servertest.Replace(t, file, rotated.PEM())
		if r := d.Get("/"); r.Status != 200 {
			t.Errorf("signed by the old one: %s", r.Head)
		}
		setMembers(t, d, after)
		if r := d.Get("/"); r.Status != 502 {
			t.Errorf("signed by the new one: %s", r.Head)
		}
		if got := show(t, d).Members[0].LastFailure; got != "tls_failed" {
			t.Errorf("last failure %q", got)
		}
	})
}

// B05: least_conn goes by requests in flight for each unit of weight, until their bodies are finished; equal ones
// take turns. Connections that are kept do not count.
func TestB05RequestsInFlightByWeight(t *testing.T) {
	m := named(t, "a", "b", "c")
	d := servertest.Start(t, servertest.Setup{Pool: []string{"balance: least_conn"}})
	held := func(name string) servertest.Step { return servertest.HoldBody(0, servertest.Answer{Body: name}) }
	open := func(n int) (conns []*servertest.Conn) {
		for range n {
			all := 0
			for _, member := range m {
				all += len(member.Requests())
			}
			c := servertest.Dial(t, d.Address)
			c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			d.Until("the request to arrive", func() bool {
				now := 0
				for _, member := range m {
					now += len(member.Requests())
				}
				return now > all
			})
			conns = append(conns, c)
		}
		return conns
	}
	finish := func(conns []*servertest.Conn) string {
		for _, member := range m {
			member.Release()
		}
		var names []string
		for _, c := range conns {
			names = append(names, c.Final("GET").Body)
		}
		return strings.Join(names, " ")
	}
	hold := func() {
		for i, name := range []string{"a", "b", "c"} {
			m[i].Default(held(name))
		}
	}

	set := func(weights ...int) {
		t.Helper()
		var list []api.SetMember
		for i, w := range weights {
			list = append(list, api.SetMember{Address: m[i].Address(), Weight: weight(w)})
		}
		if _, err := d.Admin.SetMembers(t.Context(), "p", list); err != nil {
			t.Fatal(err)
		}
	}
	hold()
	set(2)
	first := open(2) // both at a, whose share is twice that of b or c
	set(2, 1, 1)
	next := open(9)
	if got := finish(first); got != "a a" {
		t.Errorf("with one member: %q", got)
	}
	if got, want := finish(next), "b c a b c a b c a"; got != want {
		t.Errorf("with two open at a of weight 2: %q, want %q", got, want)
	}

	// The three have up to five idle connections each now. A new member has none and gets no more for it.
	for i, name := range []string{"a", "b", "c"} {
		m[i].Default(servertest.Answer{Body: name})
	}
	set(1, 1, 1)
	if got, want := d.Sequence(6), "b c a b c a"; got != want {
		t.Errorf("idle: %q, want %q", got, want)
	}
}
