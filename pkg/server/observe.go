package server

import (
	"context"
	"net/http"
	"time"

	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/accesslog"
	"github.com/scalws/scalws/pkg/server/internal/metrics"
	"github.com/scalws/scalws/pkg/server/internal/proxy"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// logRequest hands a finished request to the access log.
func (s *Server) logRequest(r *proxy.Record, space []byte) []byte {
	return s.current.Load().log.Write((*accesslog.Entry)(r), space)
}

func (s *Server) metricsServer() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metricsHandler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { state(w, true) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		state(w, s.ready.Load() && !s.draining.Load())
	})
	return s.httpServer(mux)
}

// metricsHandler is the same for the metrics listener and for the admin API.
func (s *Server) metricsHandler() http.Handler { return metrics.Handler(s.snapshot, s.options.Version) }

func state(w http.ResponseWriter, ok bool) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte("not ready\n"))
		return
	}
	w.Write([]byte("ok\n"))
}

// snapshot reads all counters at a scrape. What is not in a pool any more is not in it.
func (s *Server) snapshot() metrics.Snapshot {
	served := s.current.Load()
	snap := metrics.Snapshot{
		LogDropped: served.log.Dropped() + s.logs.dropped(),
		Reload:     metrics.Reload{Success: true, At: s.started},
	}
	snap.AuditFailed, snap.StateFailed = s.audit.Failed(), s.stateFailed.Load()
	if last := s.lastReload.Load(); last != nil {
		snap.Reload = metrics.Reload{Success: last.Success, At: last.Time}
	}
	for _, l := range served.listeners {
		st := l.Stats()
		snap.Listeners = append(snap.Listeners, metrics.Listener{
			Name: l.name, Connections: int(st.Connections), Accepted: st.Accepted, InFlight: int(st.InFlight),
			Requests: [metrics.Protocols]uint64{metrics.ProtocolH1: st.HTTP1, metrics.ProtocolH2: st.HTTP2},
		})
	}
	now := time.Now()
	for _, p := range served.pools.sorted {
		counts, sum := p.data.Heads.Snapshot()
		mp := metrics.Pool{
			Name:     p.config.Name,
			Size:     p.engine.Len(),
			Retries:  p.data.Retries.Load(),
			Duration: metrics.Histogram{Counts: counts, Sum: sum.Seconds()},
		}
		if served.config.Metrics.PerMember {
			mp.Members = memberCounts(p.engine.Status(now))
			mp.Size = len(mp.Members) // of the same moment
		}
		snap.Pools = append(snap.Pools, mp)
	}
	for k, n := range served.resends {
		for protocol, label := range [...]string{proxy.HTTP1: "h1", proxy.HTTP2: "h2"} {
			snap.Resends = append(snap.Resends, metrics.Resend{
				Tenant: k.tenant, Application: k.application, Protocol: label, Count: n[protocol].Load(),
			})
		}
	}
	snap.Limits = served.limits.metrics()
	return snap
}

// memberCounts are the members of a pool with what they have counted.
func memberCounts(st lb.Status) []metrics.Member {
	all := make([]metrics.Member, len(st.Members))
	for i, m := range st.Members {
		all[i] = metrics.Member{Address: m.Address, Ejected: m.State == lb.Ejected}
		attempts := &m.Attachment.(*upstream.Member).Attempts
		for class := range attempts {
			all[i].Attempts[class] = attempts[class].Load()
		}
	}
	return all
}

// houseTime is how often the house is kept: idle connections expire this late at most.
const houseTime = time.Second

// keepHouse closes connections that were idle for too long, gives back memory, and looks for changed certificates.
func (s *Server) keepHouse(ctx context.Context) {
	tick := time.NewTicker(houseTime)
	defer tick.Stop()
	certificates := time.NewTicker(certificateTime)
	defer certificates.Stop()
	peaks := newMemory()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			served := s.current.Load()
			served.pools.expire(now)
			served.limits.forget(now)
			peaks.look()
			if err := s.logs.close(now.Add(-houseTime)); err != nil {
				s.log.Warn("closing the access log that was written before", "error", err)
			}
		case <-certificates.C:
			s.refreshCertificates()
			s.current.Load().keeper.look(time.Now())
			s.refreshLogins()
		}
	}
}
