package server_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// remoteAdmin is a daemon with a remote admin listener and what its clients are made of.
type remoteAdmin struct {
	*servertest.Daemon
	t     *testing.T
	ca    *servertest.Authority
	dir   string
	setup servertest.Setup
}

// startRemote starts one with these pools, empty for one, whose admin.remote section has more lines.
func startRemote(t *testing.T, pools string, lines ...string) *remoteAdmin {
	t.Helper()
	r := &remoteAdmin{t: t, ca: servertest.NewNamedAuthority(t, "clients"), dir: t.TempDir()}
	cert, key := servertest.WriteCertificate(t, r.dir, "daemon", r.ca.IssueLeaf(servertest.Leaf{CommonName: "daemon", Hosts: []string{"127.0.0.1", "admin.example.com"}}))
	r.setup = r.section(append([]string{
		"address: 127.0.0.1:0", "cert_file: " + cert, "key_file: " + key, "client_ca_file: " + r.ca.File,
	}, lines...))
	r.setup.Rest = pools
	r.Daemon = servertest.Start(t, r.setup)
	return r
}

func (r *remoteAdmin) section(lines []string) servertest.Setup {
	s := servertest.Setup{Admin: []string{"remote:"}}
	for _, l := range lines {
		s.Admin = append(s.Admin, "  "+l)
	}
	return s
}

// with is the setup with another value of a key of admin.remote, which may be new.
func (r *remoteAdmin) with(line string) servertest.Setup {
	key, _, _ := strings.Cut(line, ":")
	var lines []string
	for _, l := range r.setup.Admin[1:] {
		if l = strings.TrimSpace(l); !strings.HasPrefix(l, key+":") {
			lines = append(lines, l)
		}
	}
	return r.section(append(lines, line))
}

// client is one with a certificate of this common name.
func (r *remoteAdmin) client(name string) *client.Client {
	r.t.Helper()
	cert, key := servertest.WriteCertificate(r.t, r.dir, name, r.ca.IssueLeaf(servertest.Leaf{CommonName: name}))
	return &client.Client{Server: "https://" + r.Remote, Cert: cert, Key: key, CA: r.ca.File}
}

// dial is a connection with a certificate.
func (r *remoteAdmin) dial(c tls.Certificate) *servertest.Conn {
	r.t.Helper()
	conn, err := tls.Dial("tcp", r.Remote, &tls.Config{Certificates: []tls.Certificate{c}, RootCAs: r.ca.Pool})
	if err != nil {
		r.t.Fatal(err)
	}
	return servertest.NewConn(r.t, conn)
}

// transport is one with a certificate of this name.
func (r *remoteAdmin) transport(name string) *http.Transport {
	transport := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{r.ca.Issue(name)}, RootCAs: r.ca.Pool}}
	r.t.Cleanup(transport.CloseIdleConnections)
	return transport
}

const getStatus = "GET /v1/status HTTP/1.1\r\nHost: admin.example.com\r\n\r\n"

func status(err error) int {
	var problem *api.Problem
	if errors.As(err, &problem) {
		return problem.Status
	}
	return 0
}

func TestRemoteAdmin(t *testing.T) {
	r := startRemote(t, "", "allow: [{name: boss, role: admin}, {name: guest, role: viewer}]")
	boss, guest, stranger := r.client("boss"), r.client("guest"), r.client("stranger")
	list := []api.SetMember{{Address: "192.0.2.5:80"}}

	u, err := boss.SetMembers(t.Context(), "p", list)
	if err != nil || len(u.Members) != 1 {
		t.Fatalf("an administrator sets members: %+v, %v", u, err)
	}
	if got, err := guest.Upstream(t.Context(), "p"); err != nil || !cmp.Equal(got, u) {
		t.Errorf("a viewer sees %+v, %v", got, err)
	}
	for name, call := range map[string]func() error{
		"a viewer sets members":      func() error { _, err := guest.SetMembers(t.Context(), "p", nil); return err },
		"a viewer and no such pool":  func() error { _, err := guest.SetMembers(t.Context(), "none", nil); return err },
		"a viewer reloads":           func() error { _, err := guest.Reload(t.Context()); return err },
		"a stranger looks":           func() error { _, err := stranger.Status(t.Context()); return err },
		"a stranger sets members":    func() error { _, err := stranger.SetMembers(t.Context(), "p", nil); return err },
		"a stranger plans a reload":  func() error { _, err := stranger.Plan(t.Context(), []byte("x")); return err },
		"a stranger and no such one": func() error { _, err := stranger.Upstream(t.Context(), "none"); return err },
	} {
		if err := call(); status(err) != 403 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := show(t, r.Daemon); len(got.Members) != 1 {
		t.Errorf("the members are %+v", got.Members)
	}
	if _, err := guest.Plan(t.Context(), []byte(r.Text(r.setup))); err != nil {
		t.Errorf("a viewer plans: %v", err)
	}

	done := 0
	for _, line := range r.Audit() {
		who := line["who"].(map[string]any)
		from, _, err := net.SplitHostPort(line["from"].(string))
		if who["serial"] == "" || from != "127.0.0.1" || err != nil {
			t.Errorf("audit: %v", line)
		}
		if want := map[bool]string{true: "done", false: "refused"}[who["certificate"] == "boss"]; line["result"] != want {
			t.Errorf("audit: %v, want %s", line, want)
		}
		done++
	}
	if done != 5 { // four sets of members and a reload; who looks or plans changes nothing
		t.Errorf("%d lines in the audit log: %v", done, r.Audit())
	}
}

// Nothing is served to a client without a valid certificate.
func TestRemoteAdminLetsNobodyElseIn(t *testing.T) {
	r := startRemote(t, "")
	other := servertest.NewNamedAuthority(t, "clients")
	good := r.ca.Issue("good")
	for name, c := range map[string]*tls.Config{
		"no certificate":    {},
		"of another CA":     {Certificates: []tls.Certificate{other.Issue("good")}},
		"expired":           {Certificates: []tls.Certificate{r.ca.IssueExpired("good")}},
		"TLS 1.2":           {Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS12},
		"of another daemon": {Certificates: []tls.Certificate{other.Issue("daemon")}},
	} {
		t.Run(name, func(t *testing.T) {
			c.RootCAs = r.ca.Pool
			if len(c.Certificates) > 0 { // without a look at the CAs that the daemon asks for
				cert := c.Certificates[0]
				c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
				c.Certificates = nil
			}
			_, err := (&client.Client{Server: "https://" + r.Remote, TLS: c}).Status(t.Context())
			var unreachable *client.Unreachable
			if !errors.As(err, &unreachable) || unreachable.Server != "https://"+r.Remote {
				t.Errorf("error %v, want that the daemon is unreachable", err)
			}
		})
	}
	t.Run("without TLS", func(t *testing.T) {
		c := servertest.Dial(t, r.Remote)
		c.Send(getStatus)
		if text, _ := c.Rest(); strings.Contains(text, "version") || !strings.HasPrefix(text, "HTTP/1.0 400 ") {
			t.Errorf("got %q", text)
		}
	})
	t.Run("HTTP/2 is not spoken", func(t *testing.T) {
		conn, err := tls.Dial("tcp", r.Remote, &tls.Config{Certificates: []tls.Certificate{good}, RootCAs: r.ca.Pool, NextProtos: []string{"h2", "http/1.1"}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if s := conn.ConnectionState(); s.NegotiatedProtocol != "http/1.1" || s.Version != tls.VersionTLS13 {
			t.Errorf("%q over TLS %x", s.NegotiatedProtocol, s.Version)
		}
	})
}

// A connection of a client whose certificate was revoked meanwhile is of no use any more.
func TestRemoteAdminRevoked(t *testing.T) {
	crl := filepath.Join(t.TempDir(), "crl.pem")
	r := &remoteAdmin{t: t, ca: servertest.NewNamedAuthority(t, "clients"), dir: t.TempDir()}
	cert, key := servertest.WriteCertificate(t, r.dir, "daemon", r.ca.Issue("127.0.0.1", "admin.example.com"))
	due := time.Now().Add(time.Hour)
	servertest.Replace(t, crl, r.ca.CRL(due))
	r.setup = r.section([]string{"address: 127.0.0.1:0", "cert_file: " + cert, "key_file: " + key, "client_ca_file: " + r.ca.File, "crl_file: " + crl})
	r.Daemon = servertest.Start(t, r.setup)

	lost, kept := r.ca.Issue("lost"), r.ca.Issue("kept")
	connections := map[string]*servertest.Conn{"lost": r.dial(lost), "kept": r.dial(kept)}
	ask := func(name string) servertest.Response {
		connections[name].Send(getStatus)
		return connections[name].Final("GET")
	}
	for name := range connections {
		if got := ask(name); got.Status != 200 {
			t.Errorf("%s: %s", name, got.Head)
		}
	}
	servertest.Replace(t, crl, r.ca.CRL(due, lost))
	r.Reload() // looks at the files, as the housekeeping does
	if got := ask("lost"); got.Status != 403 || !strings.Contains(got.Body, "is not accepted any more") {
		t.Errorf("on a connection that was there: %s%s", got.Head, got.Body)
	}
	if got := ask("kept"); got.Status != 200 {
		t.Errorf("the other one: %s%s", got.Head, got.Body)
	}
	if _, err := (&client.Client{Server: "https://" + r.Remote, TLS: &tls.Config{Certificates: []tls.Certificate{lost}, RootCAs: r.ca.Pool}}).Status(t.Context()); err == nil {
		t.Error("on a new connection it is let in")
	}
}

// An event stream ends once its client is not let in any more.
func TestRemoteAdminStreamEnds(t *testing.T) {
	r := startRemote(t, "")
	transport := r.transport("ops")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", "https://"+r.Remote+"/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	r.Change(r.with("allow: [{name: somebody else, role: admin}]")) // an event, which wakes the stream
	if text, err := io.ReadAll(res.Body); res.StatusCode != 200 || err != nil || strings.Contains(string(text), "event: reload") {
		t.Errorf("%s, %v: %s", res.Status, err, text)
	}
}

// Who may do what, and the certificate, change by a reload while connections stay.
func TestRemoteAdminReload(t *testing.T) {
	r := startRemote(t, "")
	conn := r.dial(r.ca.Issue("ops"))
	put := func() int {
		conn.Send("PUT /v1/upstreams/p HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 15\r\n\r\n{\"members\": []}")
		return conn.Final("PUT").Status
	}
	if got := put(); got != 200 {
		t.Fatalf("before: %d", got)
	}
	address := r.Remote
	r.Change(r.with("allow: [{name: ops, role: viewer}]"))
	if got := put(); got != 403 {
		t.Errorf("as a viewer: %d", got)
	}

	next := r.ca.IssueLeaf(servertest.Leaf{CommonName: "renewed", Hosts: []string{"127.0.0.1"}})
	servertest.WriteCertificate(t, r.dir, "daemon", next)
	r.Reload()
	fresh, err := tls.Dial("tcp", address, &tls.Config{RootCAs: r.ca.Pool, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		c := r.ca.Issue("ops")
		return &c, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if got := fresh.ConnectionState().PeerCertificates[0]; !got.Equal(next.Leaf) {
		t.Errorf("the certificate is that of %s", got.Subject)
	}

	r.Change(servertest.Setup{})
	r.Until("nobody listens without admin.remote", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	if _, err := r.Admin.Status(t.Context()); err != nil {
		t.Errorf("on the socket: %v", err)
	}
}

// A browser that has the client certificate gets nothing, unless the console has asked it.
func TestRemoteAdminBrowser(t *testing.T) {
	r := startRemote(t, "")
	for head, want := range map[string]int{
		"Host: admin.example.com": 200,
		"Host: 127.0.0.1:1":       200,
		"Host: evil.example":      403,
		"Host: localhost":         403,
		"Host: admin.example.com\r\nOrigin: https://evil.example":                                403,
		"Host: admin.example.com\r\nSec-Fetch-Site: cross-site":                                  403,
		"Host: admin.example.com\r\nOrigin: null\r\nAccept: */*":                                 403,
		"Host: admin.example.com\r\nSec-Fetch-Site: same-site":                                   403,
		"Host: admin.example.com\r\nSec-Fetch-Site: none":                                        403,
		"Host: admin.example.com\r\nSec-Fetch-Site: same-origin":                                 200,
		"Host: evil.example\r\nSec-Fetch-Site: same-origin":                                      403,
		"Host: admin.example.com\r\nSec-Fetch-Site: same-origin\r\nOrigin: https://evil.example": 403,
		"Host: admin.example.com\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site":   403,
		"Host: admin.example.com\r\nReferer: https://evil.example/x":                             200,
	} {
		c := r.dial(r.ca.Issue("ops"))
		c.Send("GET /v1/upstreams HTTP/1.1\r\n" + head + "\r\n\r\n")
		if got := c.Final("GET"); got.Status != want {
			t.Errorf("%q: %s%s, want %d", head, got.Head, got.Body, want)
		}
		c.Close()
	}
}

// Files that do not fit keep the daemon from starting and a reload from being made.
func TestRemoteAdminBroken(t *testing.T) {
	r := startRemote(t, "")
	strange := servertest.NewNamedAuthority(t, "strange")
	foreign := servertest.Replace(t, filepath.Join(r.dir, "foreign.crl"), strange.CRL(time.Now().Add(time.Hour)))
	r.Configure(r.with("crl_file: " + foreign))
	p := r.Refused()
	if !strings.Contains(p.Detail, "admin.remote") || !strings.Contains(p.Detail, "foreign.crl") {
		t.Errorf("%+v", p)
	}
	if _, err := r.client("ops").Status(t.Context()); err != nil {
		t.Errorf("after the refused reload: %v", err)
	}
}
