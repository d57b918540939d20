package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
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
	// adminConnections is how many there are at once on each of the listeners. Streams leave half of them to calls
	// that end.
	adminConnections = 2 * api.MaxStreams
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
	h := s.httpServer(s.adminHandler())
	h.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		peer, err := peerOf(c)
		if err != nil {
			return ctx
		}
		return admin.WithPeer(ctx, peer)
	}
	return h
}

// adminHandler answers the admin API, on the socket and on the remote listener.
func (s *Server) adminHandler() http.Handler {
	return admin.Handler(admin.Options{
		Runtime: runtime{s}, Journal: s.journal, Metrics: s.metricsHandler(), Audit: s.audit, Log: s.log,
	})
}

// runtime is the daemon as the admin API sees it.
type runtime struct{ s *Server }

func (r runtime) Pools() []admin.PoolView {
	all := r.s.current.Load().pools.sorted
	views := make([]admin.PoolView, 0, len(all))
	for _, p := range all {
		views = append(views, p.view())
	}
	return views
}

func (r runtime) Pool(name string) (admin.PoolView, bool) {
	p := r.s.current.Load().pools.byName[name]
	if p == nil {
		return admin.PoolView{}, false
	}
	return p.view(), true
}

// Changes is held over every change, a reload included.
func (r runtime) Changes() sync.Locker { return &r.s.changes }

// SetMembers is called with Changes held.
func (r runtime) SetMembers(_ context.Context, name string, members []lb.Member, actor string) (admin.PoolView, error) {
	p := r.s.current.Load().pools.byName[name]
	switch {
	case p == nil:
		return admin.PoolView{}, admin.ErrNoPool
	case !p.config.FromAPI:
		return admin.PoolView{}, admin.ErrFromFile
	}
	p.set(members, actor)
	return p.view(), nil
}

func (r runtime) RuntimeMembers() bool { return r.s.current.Load().config.Admin.RuntimeMembers }

func (r runtime) SaveMembers() { r.s.current.Load().keeper.save() }

func (r runtime) Config() ([]byte, error) {
	served := r.s.current.Load()
	c := *served.config
	c.Admin.Socket.Path = r.s.adminListener().path
	return json.Marshal(c.Show())
}

func (r runtime) Plan(text []byte) (*api.Plan, error) { return refusable(r.s.Plan(text)) }

func (r runtime) Reload(actor string) (*api.Plan, error) { return refusable(r.s.Reload(actor)) }

// refusable makes the API's answer of why a configuration was not taken.
func refusable(plan *api.Plan, err error) (*api.Plan, error) {
	var bad *ConfigError
	switch {
	case err == nil:
		return plan, nil
	case errors.As(err, &bad):
		return nil, admin.InvalidConfig(bad.Error(), problemsOf(err))
	default:
		return nil, admin.ReloadRefused(err.Error(), problemsOf(err))
	}
}

func (r runtime) Status() api.Status {
	s, served := r.s, r.s.current.Load()
	st := api.Status{
		Version:    s.options.Version,
		PID:        os.Getpid(),
		Started:    s.started,
		Boot:       s.boot,
		Config:     api.ConfigInfo{Source: s.source, Digest: served.config.Digest, LoadedAt: served.loaded},
		LastReload: s.lastReload.Load(),
		Draining:   s.draining.Load(),
	}
	for _, l := range served.listeners {
		st.Listeners = append(st.Listeners, api.Listener{Name: l.name, Address: l.Addr().String()})
	}
	st.RateLimits, st.Quotas = served.limits.status(time.Now())
	return st
}
