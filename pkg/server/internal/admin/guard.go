package admin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"

	"github.com/scalws/scalws/pkg/api"
)

// Role is what a caller may do.
type Role uint8

// The roles. The zero value is that of a stranger, who may do nothing.
const (
	// Viewer may look, rehearse, preview, plan and explain.
	Viewer Role = iota + 1
	// Administrator may do everything.
	Administrator
)

// Remote says who is let in over TLS (docs/admin-api.md#over-the-network). The listener has asked for a
// certificate already and verified it.
type Remote struct {
	// Admits holds the client of a connection against the CAs and revocation lists of this moment: those of
	// the handshake may be long past.
	Admits func(tls.ConnectionState) error
	// Certificates are those of the listener. A request must be addressed to one of their names.
	Certificates func() []*x509.Certificate
	// Allow has the role of a certificate by its names. nil makes everyone an administrator.
	Allow map[string]Role
}

type remoteKey struct{}

// WithRemote marks the connections of the remote listener. current is asked for each request, so that a
// change of who is let in holds for connections that are there already.
func WithRemote(ctx context.Context, current func() *Remote) context.Context {
	return context.WithValue(ctx, remoteKey{}, current)
}

// guard decides whether a request may be made, before anything else is looked at. The caller is who makes it as
// far as that is known, also where the answer is no.
func guard(r *http.Request, rt route) (Caller, error) {
	current, isRemote := r.Context().Value(remoteKey{}).(func() *Remote)
	if !isRemote {
		// Whoever may open the socket may do everything: its mode and its group decide.
		return peerOf(r), refuseBrowser(r)
	}
	caller, role, err := current().identify(r)
	if err != nil {
		return caller, err
	}
	if err := refuseBrowser(r); err != nil && !isOwnPage(r) {
		return caller, err
	}
	if role == Administrator || role == Viewer && changesNothing(r, rt) {
		return caller, nil
	}
	return caller, forbidden("%s may not do this: its role is viewer", caller)
}

type guardKey struct{}

// stillAllowed asks the guard again, for an answer that goes on for long.
func stillAllowed(r *http.Request) error {
	again, ok := r.Context().Value(guardKey{}).(func() error)
	if !ok {
		return nil
	}
	return again()
}

// withGuard lets stillAllowed ask.
func withGuard(r *http.Request, rt route) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), guardKey{}, func() error {
		_, err := guard(r, rt)
		return err
	}))
}

// identify says who the client of a request is, and refuses one who is not let in.
func (m *Remote) identify(r *http.Request) (Caller, Role, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, 0, forbidden("a client certificate is needed") // the handshake has seen to this
	}
	leaf := r.TLS.PeerCertificates[0]
	role, name := m.roleOf(leaf)
	caller := Certificate{Name: name, Serial: leaf.SerialNumber.Text(16)}
	switch {
	case m.Admits(*r.TLS) != nil:
		return caller, 0, forbidden("%s is not accepted any more: it has expired, was revoked, or its CA was changed", caller)
	case role == 0:
		return caller, 0, forbidden("%s is not on the list of admin.remote.allow", caller)
	case !m.isAddressed(r):
		return caller, 0, forbidden("this listener is not called %q: use a name of its certificate or its address", cut(r.Host))
	}
	return caller, role, nil
}

// roleOf is the highest role that a name of the certificate has, and that name.
func (m *Remote) roleOf(leaf *x509.Certificate) (role Role, name string) {
	names := namesOf(leaf)
	if m.Allow == nil {
		return Administrator, names[0]
	}
	name = names[0]
	for _, n := range names {
		if r := m.Allow[n]; r > role {
			role, name = r, n
		}
	}
	return role, name
}

// namesOf are what a certificate calls its owner, the common name first. There is at least one, which may be
// empty.
func namesOf(leaf *x509.Certificate) []string {
	var names []string
	if leaf.Subject.CommonName != "" {
		names = append(names, leaf.Subject.CommonName)
	}
	names = append(names, leaf.DNSNames...)
	names = append(names, leaf.EmailAddresses...)
	for _, u := range leaf.URIs {
		names = append(names, u.String())
	}
	if len(names) == 0 {
		names = append(names, "")
	}
	return names
}

// isAddressed tells whether the Host of a request is a name of ours: of a certificate, or the address that the
// client has connected to. A name of somebody else's that leads here is how a page in a browser would get
// around the rule of the same origin.
func (m *Remote) isAddressed(r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	for _, c := range m.Certificates() {
		if c.VerifyHostname(host) == nil {
			return true
		}
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false
	}
	asked, err := netip.ParseAddr(trimBrackets(host))
	return err == nil && asked.Unmap() == at.Addr().Unmap()
}

func trimBrackets(host string) string {
	if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
		return host[1 : n-1]
	}
	return host
}

// changesNothing tells whether a viewer may make a request. Beyond the calls that there are, a viewer is told
// what there is and what not for GET and HEAD alone.
func changesNothing(r *http.Request, rt route) bool {
	switch {
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		return true
	case rt.method == "":
		return false
	case rt.change == "":
		return true
	}
	return rt.isRehearsal(r)
}

// refuseBrowser refuses what a page in a browser sends. A browser that was led to the socket through some
// forwarded port has no say in what its user may do, and over TLS it would add the user's certificate to
// whatever a page asks for; only the console's own questions are let through there. Over the socket the Host field is not looked at: clients put anything there.
func refuseBrowser(r *http.Request) error {
	for _, name := range []string{"Origin", "Sec-Fetch-Site"} {
		if r.Header.Get(name) != "" {
			return forbidden("requests from a browser are not taken: %s is set", name)
		}
	}
	return nil
}

func forbidden(format string, args ...any) error {
	return api.NewProblem(http.StatusForbidden, api.CodeForbidden, format, args...)
}
