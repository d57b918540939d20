package server

import (
	"fmt"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/pkg/server/internal/certs"
	"github.com/scalws/scalws/pkg/server/internal/http1"
	"github.com/scalws/scalws/pkg/server/internal/proxy"
	"github.com/scalws/scalws/pkg/server/internal/route"
)

// proxyConfig makes what the data plane serves by.
func (s *Server) proxyConfig() (*proxy.Config, error) {
	srv := s.config.Server
	routes, err := route.New(s.config.Tenants, srv.MaxBody, s.runtime)
	if err != nil {
		return nil, err
	}
	return &proxy.Config{
		Routes:          routes,
		TrustedProxies:  srv.TrustedProxies,
		Forwarded:       forwarded(srv.Forwarded),
		Limits:          http1.Limits{Head: srv.MaxHeader, Fields: srv.MaxHeaders, Target: srv.MaxURI},
		HeaderTimeout:   srv.HeaderTimeout,
		BodyReadTimeout: srv.BodyReadTimeout,
		IdleTimeout:     srv.IdleTimeout,
		MaxConnections:  maxConnections(srv.MaxConnections),
	}, nil
}

// terms are how the connections of a listener are served; source is nil without TLS.
func terms(l config.Listener, source *certs.Source) proxy.Terms {
	t := proxy.Terms{Name: l.Name, H2C: l.H2C, ProxyProtocol: l.ProxyProtocol}
	if source != nil {
		t.TLS = source.TLS()
	}
	return t
}

func forwarded(way config.Forwarded) proxy.Forwarded {
	switch way {
	case config.ForwardedRFC7239:
		return proxy.ForwardRFC7239
	case config.ForwardedBoth:
		return proxy.ForwardBoth
	default:
		return proxy.ForwardX
	}
}

// runtime builds one proxy runtime.
func (s *Server) runtime(rt config.Runtime, p route.Place) (*proxy.Runtime, error) {
	r := proxy.Runtime{
		Tenant:          p.Tenant,
		Application:     p.Application,
		PreserveHost:    rt.PreserveHost,
		WebSocket:       rt.WebSocket,
		MaxBody:         p.MaxBody,
		ConnectTimeout:  rt.ConnectTimeout,
		ResponseTimeout: rt.ResponseTimeout,
		BodyTimeout:     s.config.Server.UpstreamClient.BodyTimeout,
		Resends:         s.resends.of(p.Tenant, p.Application),
	}
	switch {
	case rt.Address != nil:
		single, err := s.pools.addSingle(rt, s.started)
		if err != nil {
			return nil, err
		}
		r.BodyTimeout = rt.Client.BodyTimeout
		r.Backends = []proxy.Backend{{Pool: single.data, Weight: 1}}
	case rt.Pool != "":
		named, err := s.named(rt.Pool)
		if err != nil {
			return nil, err
		}
		r.Backends = []proxy.Backend{{Pool: named.data, Weight: 1}}
	default:
		for _, b := range rt.Backends {
			entry := proxy.Backend{Status: b.Status, Weight: b.Weight}
			if b.Pool != "" {
				named, err := s.named(b.Pool)
				if err != nil {
					return nil, err
				}
				entry.Pool = named.data
			}
			r.Backends = append(r.Backends, entry)
		}
	}
	return proxy.NewRuntime(r), nil
}

func (s *Server) named(name string) (*pool, error) {
	p := s.pools.byName[name]
	if p == nil {
		return nil, fmt.Errorf("pool %s is not defined", name) // the configuration's check refuses this first
	}
	return p, nil
}
