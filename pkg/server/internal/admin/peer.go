package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
)

// Peer is the process at the other end of a unix socket, as the kernel knows it.
type Peer struct {
	UID, GID uint32
	PID      int32
}

func (p Peer) String() string { return fmt.Sprintf("uid=%d gid=%d pid=%d", p.UID, p.GID, p.PID) }

// peerKey is the key of a Peer in a context.
type peerKey struct{}

// WithPeer notes who is at the other end of a connection. The audit line of each change says it.
func WithPeer(ctx context.Context, p Peer) context.Context {
	return context.WithValue(ctx, peerKey{}, p)
}

// who is the peer of a request, "unknown" where nobody noted it.
func who(r *http.Request) string {
	if p, ok := r.Context().Value(peerKey{}).(Peer); ok {
		return p.String()
	}
	return "unknown"
}

// from is the address that a request came from, "socket" where that has none.
func from(r *http.Request) string {
	if a, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return a.String()
	}
	return "socket"
}
