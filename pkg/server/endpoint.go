package server

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"
)

// endpoint is a listener for operators and the HTTP server behind it: the admin socket, the remote admin listener, the metrics. Each
// is replaced as a whole.
type endpoint struct {
	net.Listener
	http *http.Server
}

func newEndpoint(l net.Listener, h *http.Server) *endpoint { return &endpoint{Listener: l, http: h} }

// serve answers until the endpoint is stopped.
func (e *endpoint) serve() error {
	l := limit(e.Listener, adminConnections)
	if e.http.TLSConfig != nil {
		l = tls.NewListener(l, e.http.TLSConfig)
	}
	err := e.http.Serve(l)
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// adminStopTime is how long a stop waits for calls that are under way.
const adminStopTime = time.Second

// stopEndpoints ends endpoints, nil ones left out, but lets calls that are under way finish first: a change
// that was made is also answered.
func (s *Server) stopEndpoints(endpoints ...*endpoint) {
	ctx, cancel := s.unlessKilled(adminStopTime)
	defer cancel()
	for _, e := range endpoints {
		if e == nil {
			continue
		}
		if e.http.Shutdown(ctx) != nil {
			e.http.Close()
		}
	}
}

// carryOutEndpoints serves the endpoints that are new and stops those that are gone. One of them may be what the
// order to reload came through, so that it is stopped in the background.
func (s *Server) carryOutEndpoints(before, next *generation) {
	for _, pair := range [][2]*endpoint{{before.metrics, next.metrics}, {before.admin, next.admin}, {before.remote, next.remote}} {
		old, fresh := pair[0], pair[1]
		if old == fresh {
			continue
		}
		if fresh != nil {
			s.serve(fresh.serve)
		}
		if old != nil {
			s.running.Go(func() {
				s.stopEndpoints(old)
				closer(old)() // a unix socket's file goes too, if it is still its own
			})
		}
	}
}
