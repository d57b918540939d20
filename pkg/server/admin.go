package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/admin"
)

// The admin API and the metrics are for few and patient callers: these bounds only keep a broken one from
// holding a connection for ever.
const (
	adminHeadTime = 10 * time.Second
	adminTime     = time.Minute
	adminIdle     = 2 * time.Minute
	adminMaxHead  = 32 << 10
	// adminConnections is how many there are at once on each of the two listeners. Streams leave half of them
	// to calls that end.
	adminConnections = 2 * api.MaxStreams
	// adminStopTime is how long a stop waits for calls that are under way.
	adminStopTime = time.Second
)

func (s *Server) httpServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: adminHeadTime,
		ReadTimeout:       adminTime,
		WriteTimeout:      adminTime + adminHeadTime, // a request that took all its time is answered too
		IdleTimeout:       adminIdle,
		MaxHeaderBytes:    adminMaxHead,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// "OPTIONS *" is a path that there is not, like any other.
		DisableGeneralOptionsHandler: true,
	}
}

func (s *Server) adminServer() *http.Server {
	h := s.httpServer(admin.Handler(admin.Options{
		Runtime: runtime{s}, Journal: s.journal, Metrics: s.metricsHandler(), Log: s.log,
	}))
	h.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		peer, err := peerOf(c)
		if err != nil {
			return ctx
		}
		return admin.WithPeer(ctx, peer)
	}
	return h
}

// serveHTTP serves until the listener is closed.
func serveHTTP(h *http.Server, l net.Listener) error {
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// stopHTTP ends the servers, but lets calls that are under way finish first: a change that was made is also
// answered.
func (s *Server) stopHTTP(servers ...*http.Server) {
	ctx, cancel := s.unlessKilled(adminStopTime)
	defer cancel()
	for _, h := range servers {
		if h.Shutdown(ctx) != nil {
			h.Close()
		}
	}
}

// runtime is the daemon as the admin API sees it.
type runtime struct{ s *Server }

func (r runtime) Pools() []admin.PoolView {
	views := make([]admin.PoolView, 0, len(r.s.pools.sorted))
	for _, p := range r.s.pools.sorted {
		views = append(views, p.view())
	}
	return views
}

func (r runtime) Pool(name string) (admin.PoolView, bool) {
	p := r.s.pools.byName[name]
	if p == nil {
		return admin.PoolView{}, false
	}
	return p.view(), true
}

func (r runtime) SetMembers(_ context.Context, name string, members []lb.Member, actor string) (admin.PoolView, error) {
	p := r.s.pools.byName[name]
	switch {
	case p == nil:
		return admin.PoolView{}, admin.ErrNoPool
	case !p.config.FromAPI:
		return admin.PoolView{}, admin.ErrFromFile
	}
	p.replace(members, actor)
	return p.view(), nil
}

func (r runtime) Status() api.Status {
	s := r.s
	st := api.Status{
		Version:  s.options.Version,
		PID:      os.Getpid(),
		Started:  s.started,
		Boot:     s.boot,
		Config:   api.ConfigInfo{Source: s.source, Digest: s.config.Digest, LoadedAt: s.started},
		Draining: s.draining.Load(),
	}
	for _, l := range s.listeners {
		st.Listeners = append(st.Listeners, api.Listener{Name: l.name, Address: l.Addr().String()})
	}
	return st
}
