package admin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
)

// ops is a client certificate with a name of each kind.
func ops() *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(0x1a2b), Subject: pkix.Name{CommonName: "Ops"},
		DNSNames: []string{"ops.example.com"}, EmailAddresses: []string{"ops@example.com"},
		URIs: []*url.URL{{Scheme: "spiffe", Host: "example.com", Path: "/ops"}},
	}
}

// listenerNames are the certificate of the listener.
func listenerNames() []*x509.Certificate {
	return []*x509.Certificate{{DNSNames: []string{"admin.example.com", "*.admin.example.com"}, IPAddresses: []net.IP{net.IPv4(192, 0, 2, 9)}}}
}

// remoteCall is a request over TLS.
func (f *fixture) remoteCall(m *Remote, leaf *x509.Certificate, method, target string, change func(*http.Request)) *http.Response {
	r := httptest.NewRequest(method, "https://admin.example.com:9443"+target, strings.NewReader(`{"members": []}`))
	r.RemoteAddr = "198.51.100.7:4711"
	ctx := WithRemote(r.Context(), func() *Remote { return m })
	local := &net.TCPAddr{IP: net.ParseIP("::ffff:198.51.100.1"), Port: 9443}
	r = r.WithContext(context.WithValue(ctx, http.LocalAddrContextKey, net.Addr(local)))
	r.TLS = &tls.ConnectionState{}
	if leaf != nil {
		r.TLS.PeerCertificates = []*x509.Certificate{leaf}
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w.Result()
}

// everyone lets all certificates of the CA in.
func everyone() *Remote {
	return &Remote{Admits: func(tls.ConnectionState) error { return nil }, Certificates: listenerNames}
}

func TestRemoteRoles(t *testing.T) {
	only := func(name string, role Role) map[string]Role {
		return map[string]Role{name: role, "else": Administrator}
	}
	for name, c := range map[string]struct {
		allow map[string]Role
		want  string // of GET, PUT and PUT to a pool that there is not
		who   string
	}{
		"no list":               {nil, "200 200 404", "Ops"},
		"common name":           {only("Ops", Administrator), "200 200 404", "Ops"},
		"DNS name":              {only("ops.example.com", Administrator), "200 200 404", "ops.example.com"},
		"e-mail address":        {only("ops@example.com", Administrator), "200 200 404", "ops@example.com"},
		"URI":                   {only("spiffe://example.com/ops", Administrator), "200 200 404", "spiffe://example.com/ops"},
		"viewer":                {only("Ops", Viewer), "200 403 403", "Ops"},
		"the highest role wins": {map[string]Role{"Ops": Viewer, "ops@example.com": Administrator}, "200 200 404", "ops@example.com"},
		"other names":           {only("ops", Administrator), "403 403 403", "Ops"}, // case matters
		"an empty list":         {map[string]Role{}, "403 403 403", "Ops"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			m := everyone()
			m.Allow = c.allow
			var got []string
			for _, call := range []string{"GET /v1/upstreams/api", "PUT /v1/upstreams/api", "PUT /v1/upstreams/none"} {
				method, target, _ := strings.Cut(call, " ")
				got = append(got, f.remoteCall(m, ops(), method, target, nil).Status[:3])
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
			lines := f.lines()
			who := `"who":{"certificate":"` + c.who + `","serial":"1a2b"},"from":"198.51.100.7:4711"`
			if len(lines) != 2 || !strings.Contains(lines[0], who) || !strings.Contains(lines[1], who) {
				t.Errorf("audit: %q, want two lines with %s", lines, who)
			}
		})
	}
}

// What a viewer may not do is refused before it is said what there is.
func TestViewer(t *testing.T) {
	m := everyone()
	m.Allow = map[string]Role{"Ops": Viewer}
	for call, want := range map[string]int{
		"GET /v1/status":          200,
		"HEAD /v1/upstreams":      200,
		"GET /v1/config":          200,
		"GET /v1/upstreams/none":  404,
		"GET /v1/none":            404,
		"POST /v1/config/plan":    200,
		"POST /v1/reload":         403,
		"POST /v1/none":           403,
		"DELETE /v1/upstreams":    403,
		"PUT /v1/upstreams/file":  403,
		"PUT /v1/upstreams/api":   403,
		"PUT /v1/upstreams/api?x": 403,

		"PUT /v1/upstreams/api?dry_run=true":               200,
		"PUT /v1/upstreams/none?dry_run=true":              404,
		"PUT /v1/upstreams/api?dry_run=false":              403,
		"PUT /v1/upstreams/api?dry_run=true&dry_run=false": 403,
		"PUT /v1/upstreams/api?dry_run=true&x=1":           403,
		"POST /v1/reload?dry_run=true":                     403,
		"POST /v1/upstreams/header/preview":                200,
		"GET /v1/upstreams/header/explain":                 200,
	} {
		t.Run(call, func(t *testing.T) {
			f := newFixture(t)
			method, target, _ := strings.Cut(call, " ")
			if res := f.remoteCall(m, ops(), method, target, nil); res.StatusCode != want {
				t.Errorf("got %s, want %d", res.Status, want)
			}
			f.expectUnchanged(t)
		})
	}
}

// Nobody is let in whom the handshake of this moment would not let in.
func TestRemoteIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		leaf   *x509.Certificate
		change func(*Remote)
		want   string
	}{
		"revoked": {ops(), func(m *Remote) { m.Admits = func(tls.ConnectionState) error { return errors.New("revoked") } },
			`certificate "Ops" with serial number 1a2b is not accepted any more`},
		"no certificate": {nil, func(*Remote) {}, "a client certificate is needed"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, call := range []string{"GET /v1/upstreams", "PUT /v1/upstreams/api", "GET /none"} {
				f := newFixture(t)
				m := everyone()
				c.change(m)
				method, target, _ := strings.Cut(call, " ")
				res := f.remoteCall(m, c.leaf, method, target, nil)
				p := decode[api.Problem](t, res)
				if res.StatusCode != 403 || p.Code != api.CodeForbidden || !strings.HasPrefix(p.Detail, c.want) {
					t.Errorf("%s: %s %+v", call, res.Status, p)
				}
				f.expectUnchanged(t)
			}
		})
	}
}

// A browser adds its user's certificate to whatever a page asks for: neither such a page nor a name that
// somebody else has led here gets anything.
func TestRemoteBrowser(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"its name":              {func(*http.Request) {}, 200},
		"without a port":        {func(r *http.Request) { r.Host = "admin.example.com" }, 200},
		"a wildcard's":          {func(r *http.Request) { r.Host = "a.admin.example.com:1" }, 200},
		"an address it is for":  {func(r *http.Request) { r.Host = "192.0.2.9:9443" }, 200},
		"the address connected": {func(r *http.Request) { r.Host = "198.51.100.1" }, 200},
		"the same as IPv6":      {func(r *http.Request) { r.Host = "[::ffff:198.51.100.1]:9443" }, 200},
		"another name":          {func(r *http.Request) { r.Host = "evil.example" }, 403},
		"another address":       {func(r *http.Request) { r.Host = "198.51.100.2" }, 403},
		"localhost":             {func(r *http.Request) { r.Host = "localhost" }, 403},
		"no name":               {func(r *http.Request) { r.Host = "" }, 403},
		"Origin":                {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"Sec-Fetch-Site":        {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if res := f.remoteCall(everyone(), ops(), "GET", "/v1/upstreams", c.change); res.StatusCode != c.want {
				t.Errorf("GET: %s, want %d", res.Status, c.want)
			}
			f = newFixture(t)
			res := f.remoteCall(everyone(), ops(), "PUT", "/v1/upstreams/api", c.change)
			if res.StatusCode != c.want || len(f.runtime.calls) != map[int]int{200: 1, 403: 0}[c.want] {
				t.Errorf("PUT: %s, want %d; %d calls", res.Status, c.want, len(f.runtime.calls))
			}
		})
	}
}

func TestNamesOf(t *testing.T) {
	want := []string{"Ops", "ops.example.com", "ops@example.com", "spiffe://example.com/ops"}
	if diff := cmp.Diff(want, namesOf(ops())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{""}, namesOf(&x509.Certificate{})); diff != "" {
		t.Errorf("without a name: %s", diff)
	}
}
