package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
)

// Caller is who makes a request. Events name it as a text, the audit log as an object.
type Caller interface{ String() string }

// Peer is the process at the other end of a unix socket, as the kernel knows it.
type Peer struct {
	UID uint32 `json:"uid"`
	GID uint32 `json:"gid"`
	PID int32  `json:"pid"`
}

func (p Peer) String() string { return fmt.Sprintf("uid=%d gid=%d pid=%d", p.UID, p.GID, p.PID) }

// Certificate is a client that came over TLS.
type Certificate struct {
	// Name is the one that was allowed, or else the first that the certificate has.
	Name string `json:"certificate"`
	// Serial number in hex, as revocation lists have it.
	Serial string `json:"serial"`
}

func (c Certificate) String() string {
	return fmt.Sprintf("certificate %q with serial number %s", cut(c.Name), c.Serial)
}

// Signal is a change that no request has asked for.
type Signal struct {
	// Name of the signal, for example "SIGHUP".
	Name string `json:"signal"`
}

func (s Signal) String() string { return s.Name }

// Unknown is a caller that nobody noted.
type Unknown struct{}

func (Unknown) String() string { return "unknown" }

type peerKey struct{}

// WithPeer notes who is at the other end of a connection. The audit line of each change says it.
func WithPeer(ctx context.Context, p Peer) context.Context {
	return context.WithValue(ctx, peerKey{}, p)
}

// peerOf is the process at the other end of a request's connection.
func peerOf(r *http.Request) Caller {
	if p, ok := r.Context().Value(peerKey{}).(Peer); ok {
		return p
	}
	return Unknown{}
}

type callerKey struct{}

// withCaller notes who makes a request.
func withCaller(r *http.Request, c Caller) *http.Request {
	if c == nil {
		c = Unknown{}
	}
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
}

// who makes a request.
func who(r *http.Request) Caller {
	if c, ok := r.Context().Value(callerKey{}).(Caller); ok {
		return c
	}
	return Unknown{}
}

// from is the address that a request came from, "socket" where that has none.
func from(r *http.Request) string {
	if a, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return a.String()
	}
	return "socket"
}
