package upstream_test

import (
	"crypto/tls"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// handshakes remembers the handshakes of a server.
type handshakes struct {
	mu  sync.Mutex
	all []tls.ConnectionState
}

// watch makes c tell h.
func (h *handshakes) watch(c *tls.Config) *tls.Config {
	c.VerifyConnection = func(s tls.ConnectionState) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.all = append(h.all, s)
		return nil
	}
	return c
}

// resumed says of each handshake whether it took up an earlier session.
func (h *handshakes) resumed() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for _, s := range h.all {
		all = append(all, map[bool]string{true: "resumed", false: "full"}[s.DidResume])
	}
	return strings.Join(all, " ")
}

func (h *handshakes) last() tls.ConnectionState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[len(h.all)-1]
}

// options are those of a pool that trusts the authority.
func options(t testing.TB, a *servertest.Authority, serverName, certFile, keyFile string) upstream.Options {
	t.Helper()
	c, err := upstream.TLSConfig(a.File, serverName, certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	return upstream.Options{TLS: c, Keepalive: 8}
}

func TestTLSErrors(t *testing.T) {
	trusted, stranger := servertest.NewAuthority(t), servertest.NewAuthority(t)
	good := trusted.Issue("127.0.0.1")
	tlsPeer := func(c *tls.Config) string { return servertest.NewTLSMember(t, c).Address() }
	for name, c := range map[string]struct {
		address    string
		serverName string
		stage      upstream.Stage
		says       string
	}{
		"wrong address": {tlsPeer(&tls.Config{Certificates: []tls.Certificate{trusted.Issue("192.0.2.1")}}), "",
			upstream.TLSFailed, "the certificate is not for 127.0.0.1"},
		"the address has a name alone": {tlsPeer(&tls.Config{Certificates: []tls.Certificate{trusted.Issue("api.internal")}}), "",
			upstream.TLSFailed, "the certificate is not for 127.0.0.1"},
		"wrong name": {tlsPeer(&tls.Config{Certificates: []tls.Certificate{good}}), "api.internal",
			upstream.TLSFailed, "the certificate is not for api.internal"},
		"unknown authority": {tlsPeer(&tls.Config{Certificates: []tls.Certificate{stranger.Issue("127.0.0.1")}}), "",
			upstream.TLSFailed, "signed by unknown authority"},
		"expired": {tlsPeer(&tls.Config{Certificates: []tls.Certificate{trusted.IssueExpired("127.0.0.1")}}), "",
			upstream.TLSFailed, "certificate has expired"},
		"TLS 1.1": {tlsPeer(&tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}), "",
			upstream.TLSFailed, "protocol version"},
		"no HTTP/1.1": {tlsPeer(&tls.Config{Certificates: []tls.Certificate{good}, NextProtos: []string{"spdy/3"}}), "",
			upstream.TLSFailed, "application protocol"},
		"plain HTTP": {servertest.RawPeer(t, func(c net.Conn) { c.Write([]byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")) }), "",
			upstream.TLSFailed, "no TLS at that port"},
		"closes": {servertest.RawPeer(t, func(c net.Conn) { c.(*net.TCPConn).CloseWrite() }), "", upstream.TLSFailed, "closed by the member"},
		"resets": {servertest.RawPeer(t, func(c net.Conn) {
			c.Read(make([]byte, 1))
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}), "", upstream.TLSFailed, "reset"},
		"is mute": {servertest.RawPeer(t, func(net.Conn) {}), "", upstream.Timeout, "deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			timeout := patience
			if c.stage == upstream.Timeout {
				timeout = short
			}
			e := failure(t, upstream.NewMember(c.address, options(t, trusted, c.serverName, "", "")), timeout)
			const kept = 200 // bytes of a detail in an event
			if text := e.Error(); e.Stage != c.stage || !strings.Contains(text[:min(len(text), kept)], c.says) {
				t.Errorf("stage %d, want %d: %v, want %q in it", e.Stage, c.stage, e, c.says)
			}
		})
	}
}

func TestServerName(t *testing.T) {
	a := servertest.NewAuthority(t)
	var seen handshakes
	peer := servertest.NewTLSMember(t, seen.watch(&tls.Config{Certificates: []tls.Certificate{a.Issue("127.0.0.1", "member.test", "api.internal")}}))
	names := servertest.NewNames(t)
	names.Set("member.test", "127.0.0.1")
	_, port, _ := net.SplitHostPort(peer.Address())
	for name, c := range map[string]struct{ host, serverName, sni string }{
		"a name":                  {"member.test", "", "member.test"},
		"an address has no SNI":   {"127.0.0.1", "", ""},
		"server_name for a name":  {"member.test", "api.internal", "api.internal"},
		"server_name for an IP":   {"127.0.0.1", "api.internal", "api.internal"},
		"server_name is one's IP": {"member.test", "127.0.0.1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, a, c.serverName, "", "")
			o.Resolver = names.Resolver()
			ask(t, dial(t, upstream.NewMember(net.JoinHostPort(c.host, port), o)))
			if got := seen.last().ServerName; got != c.sni {
				t.Errorf("SNI %q, want %q", got, c.sni)
			}
		})
	}
}

// Of all protocols HTTP/1.1 alone is offered, and a member without ALPN is fine.
func TestProtocol(t *testing.T) {
	a := servertest.NewAuthority(t)
	for name, c := range map[string]struct {
		offers []string
		want   string
	}{
		"HTTP/2 preferred": {[]string{"h2", "http/1.1"}, "http/1.1"},
		"none":             {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var seen handshakes
			peer := servertest.NewTLSMember(t, seen.watch(&tls.Config{Certificates: []tls.Certificate{a.Issue("127.0.0.1")}, NextProtos: c.offers}))
			ask(t, dial(t, upstream.NewMember(peer.Address(), options(t, a, "", "", ""))))
			if got := seen.last().NegotiatedProtocol; got != c.want {
				t.Errorf("negotiated %q, want %q", got, c.want)
			}
		})
	}
}

func TestClientCertificate(t *testing.T) {
	a := servertest.NewAuthority(t)
	certFile, keyFile := a.IssueFiles("scalws")
	for name, c := range map[string]struct {
		asks tls.ClientAuthType
		want string
	}{
		"asked for":     {tls.RequireAndVerifyClientCert, "scalws"},
		"not asked for": {tls.NoClientCert, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var seen handshakes
			peer := servertest.NewTLSMember(t, seen.watch(&tls.Config{
				Certificates: []tls.Certificate{a.Issue("127.0.0.1")}, ClientAuth: c.asks, ClientCAs: a.Pool,
			}))
			ask(t, dial(t, upstream.NewMember(peer.Address(), options(t, a, "", certFile, keyFile))))
			got := ""
			if certs := seen.last().PeerCertificates; len(certs) > 0 {
				got = certs[0].Subject.CommonName
			}
			if got != c.want {
				t.Errorf("the member got %q, want %q", got, c.want)
			}
		})
	}
}

var versions = map[string]uint16{"TLS 1.2": tls.VersionTLS12, "TLS 1.3": tls.VersionTLS13}

// A fresh connection takes up the session of the one before it.
func TestResumption(t *testing.T) {
	a := servertest.NewAuthority(t)
	for name, version := range versions {
		t.Run(name, func(t *testing.T) {
			var seen handshakes
			peer := servertest.NewTLSMember(t, seen.watch(&tls.Config{Certificates: []tls.Certificate{a.Issue("127.0.0.1")}, MaxVersion: version}))
			m := upstream.NewMember(peer.Address(), options(t, a, "", "", ""))
			for range 4 {
				ask(t, dial(t, m))
			}
			if got, want := seen.resumed(), "full resumed resumed resumed"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Members with one server_name do not drop each other's sessions.
func TestResumptionWithEachMember(t *testing.T) {
	a := servertest.NewAuthority(t)
	o := options(t, a, "api.internal", "", "")
	var seen [2]handshakes
	var members []*upstream.Member
	for i := range seen {
		peer := servertest.NewTLSMember(t, seen[i].watch(&tls.Config{Certificates: []tls.Certificate{a.Issue("api.internal")}}))
		members = append(members, upstream.NewMember(peer.Address(), o))
	}
	for range 3 {
		for _, m := range members {
			ask(t, dial(t, m))
		}
	}
	for i := range seen {
		if got, want := seen[i].resumed(), "full resumed resumed"; got != want {
			t.Errorf("member %d: got %q, want %q", i, got, want)
		}
	}
}

// A session with one host is not taken up under the name of another one, though the same server would let it.
func TestNoResumptionUnderAnotherName(t *testing.T) {
	a := servertest.NewAuthority(t)
	names := servertest.NewNames(t)
	o := options(t, a, "", "", "")
	o.Resolver = names.Resolver()
	var seen handshakes
	peer := servertest.NewTLSMember(t, seen.watch(&tls.Config{Certificates: []tls.Certificate{a.Issue("a.test", "b.test")}}))
	_, port, _ := net.SplitHostPort(peer.Address())
	for _, host := range []string{"a.test", "b.test"} {
		names.Set(host, "127.0.0.1")
		ask(t, dial(t, upstream.NewMember(host+":"+port, o)))
	}
	if got, want := seen.resumed(), "full full"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Session tickets come after the handshake, before an answer or behind it. They are no reason to make a new
// connection.
func TestOneConnectionForManyRequests(t *testing.T) {
	a := servertest.NewAuthority(t)
	certFile, keyFile := a.IssueFiles("scalws")
	for name, c := range map[string]*tls.Config{
		"TLS 1.2": {MaxVersion: tls.VersionTLS12},
		"TLS 1.3": {MinVersion: tls.VersionTLS13},
		// The ticket is not part of the first flight then: it follows the client's certificate.
		"TLS 1.3 with a client certificate": {MinVersion: tls.VersionTLS13, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.Pool},
	} {
		t.Run(name, func(t *testing.T) {
			c.Certificates = []tls.Certificate{a.Issue("127.0.0.1")}
			peer := servertest.NewTLSMember(t, c)
			m := upstream.NewMember(peer.Address(), options(t, a, "", certFile, keyFile))
			for range 50 {
				u, _ := take(t, m, time.Now())
				ask(t, u)
				m.Put(u, time.Now())
			}
			if got := peer.Connections(); got != 1 {
				t.Errorf("%d connections for 50 requests, want 1", got)
			}
		})
	}
}

// What ca_file names is trusted in addition to the system's roots. Those are read once a process, so this takes
// one of its own.
func TestSystemRoots(t *testing.T) {
	const alone = "UPSTREAM_TEST_ALONE"
	if os.Getenv(alone) == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestSystemRoots$", "-test.v")
		child.Env = append(slices.Clone(os.Environ()), alone+"=1")
		if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: TestSystemRoots") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	system, ours, stranger := servertest.NewAuthority(t), servertest.NewAuthority(t), servertest.NewAuthority(t)
	t.Setenv("SSL_CERT_FILE", system.File)
	t.Setenv("SSL_CERT_DIR", t.TempDir())
	for name, c := range map[string]struct {
		caFile   string
		signedBy *servertest.Authority
		trusted  bool
	}{
		"by the system":                  {"", system, true},
		"by the system, with a file too": {ours.File, system, true},
		"by the file":                    {ours.File, ours, true},
		"by nobody without a file":       {"", ours, false},
		"by nobody":                      {ours.File, stranger, false},
	} {
		config, err := upstream.TLSConfig(c.caFile, "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		peer := servertest.NewTLSMember(t, &tls.Config{Certificates: []tls.Certificate{c.signedBy.Issue("127.0.0.1")}})
		u, err := upstream.NewMember(peer.Address(), upstream.Options{TLS: config}).Dial(t.Context(), onLoop(t), patience)
		if err == nil {
			u.Cut()
		}
		if (err == nil) != c.trusted {
			t.Errorf("trusted %s: %v", name, err)
		}
	}
}

func TestTLSConfigErrors(t *testing.T) {
	a := servertest.NewAuthority(t)
	certFile, keyFile := a.IssueFiles("scalws")
	for name, c := range map[string]struct{ ca, cert, key, says string }{
		"no CA file":            {"/nowhere/ca.pem", "", "", "reading CA file"},
		"nothing in it":         {keyFile, "", "", "no certificate in it"},
		"no client certificate": {"", "/nowhere/cert.pem", keyFile, "reading client certificate"},
		"not its key":           {"", a.File, keyFile, "reading client certificate"},
		"good":                  {a.File, certFile, keyFile, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := upstream.TLSConfig(c.ca, "", c.cert, c.key)
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q in it", err, c.says)
			}
		})
	}
}
