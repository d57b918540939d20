package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"strings"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/internal/console"
	"github.com/scalws/scalws/pkg/server/internal/admin"
	"github.com/scalws/scalws/pkg/server/internal/certs"
)

// remoteTerms say who is let in by the remote admin listener. They can change while it listens, also for the
// connections that are there: the next request on them is held against the new terms.
type remoteTerms struct {
	certificates *watched
	// tls is made of the certificates.
	tls    *tls.Config
	access *admin.Remote
}

// newRemoteTerms reads the certificates.
func (s *Server) newRemoteTerms(c config.AdminRemote) (*remoteTerms, error) {
	source, err := certs.New(certs.Options{
		Files: certs.Files{
			Pairs: []certs.Pair{certs.Pair(c.KeyPair)}, ClientCAFile: c.ClientCAFile, CRLFile: c.CRLFile,
		},
		MinVersion:    tls.VersionTLS13,
		NextProtos:    []string{"http/1.1"},
		RequireClient: true,
	})
	if err != nil {
		return nil, fmt.Errorf("preparing TLS of admin.remote: %w", err)
	}
	access := &admin.Remote{Admits: source.Admits, Certificates: source.Certificates}
	if len(c.Allow) > 0 {
		access.Allow = make(map[string]admin.Role, len(c.Allow))
	}
	for _, a := range c.Allow {
		access.Allow[a.Name] = admin.Administrator
		if a.Viewer {
			access.Allow[a.Name] = admin.Viewer
		}
	}
	return &remoteTerms{
		certificates: &watched{Source: source, log: s.log.With("listener", "admin.remote")},
		tls:          source.TLS(),
		access:       access,
	}, nil
}

// openRemote keeps the remote admin listener, on its old terms or on new ones, or opens another one.
func (b *builder) openRemote() error {
	old, c := b.before.config.Admin.Remote, b.next.config.Admin.Remote
	if c == nil {
		return nil
	}
	b.next.remoteTerms = b.before.remoteTerms
	if !reflect.DeepEqual(old, c) {
		terms, err := b.server.newRemoteTerms(*c)
		if err != nil {
			return err
		}
		b.next.remoteTerms = terms
	}
	if old != nil && old.Address == c.Address {
		b.next.remote = b.before.remote
		return nil
	}
	l, err := listen(c.Address, "admin.remote.address")
	if err != nil {
		return err
	}
	b.undo.add(closer(l))
	b.next.remote = newEndpoint(l, b.server.remoteServer())
	return nil
}

// errNoRemote is what a handshake ends with on a listener that a reload has just ended.
var errNoRemote = errors.New("there is no remote admin listener any more")

// remoteServer serves the admin API on whatever terms there are at the moment. It speaks HTTP/1.1 alone: its
// callers are few, and a second protocol would be a second thing to get right in front of what may change
// everything.
func (s *Server) remoteServer() *http.Server {
	h := s.httpServer(s.remoteHandler())
	h.TLSConfig = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		terms := s.current.Load().remoteTerms
		if terms == nil {
			return nil, errNoRemote
		}
		return terms.tls.GetConfigForClient(hello)
	}}
	h.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return admin.WithRemote(ctx, s.remoteAccess)
	}
	return h
}

// remoteHandler is the admin API, and the console beside it. It is no ServeMux, which answers some paths with a redirect
// that are the API's to refuse.
func (s *Server) remoteHandler() http.Handler {
	folder := strings.TrimSuffix(console.Path, "/")
	admins, page := s.adminHandler(), admin.LetIn(http.StripPrefix(folder, console.Handler()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == folder:
			http.Redirect(w, r, console.Path, http.StatusMovedPermanently)
		case strings.HasPrefix(r.URL.Path, console.Path):
			page.ServeHTTP(w, r)
		default:
			admins.ServeHTTP(w, r)
		}
	})
}

// remoteAccess says who is let in now.
func (s *Server) remoteAccess() *admin.Remote {
	if terms := s.current.Load().remoteTerms; terms != nil {
		return terms.access
	}
	return &admin.Remote{Admits: func(tls.ConnectionState) error { return errNoRemote }}
}

// RemoteAdminAddr is where the remote admin listener listens; nil without one.
func (s *Server) RemoteAdminAddr() net.Addr {
	if r := s.current.Load().remote; r != nil {
		return r.Addr()
	}
	return nil
}
