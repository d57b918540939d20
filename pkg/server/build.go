package server

import (
	"fmt"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/pkg/server/internal/http1"
	"github.com/scalws/scalws/pkg/server/internal/proxy"
	"github.com/scalws/scalws/pkg/server/internal/route"
)

// buildData makes what the data plane serves by.
func (b *builder) buildData() error {
	srv := b.next.config.Server
	routes, err := route.New(b.next.config.Tenants, srv.MaxBody, b.runtime)
	if err != nil {
		return err
	}
	b.next.data = &proxy.Config{
		Routes:          routes,
		TrustedProxies:  srv.TrustedProxies,
		Forwarded:       forwarded(srv.Forwarded),
		Limits:          http1.Limits{Head: srv.MaxHeader, Fields: srv.MaxHeaders, Target: srv.MaxURI},
		HeaderTimeout:   srv.HeaderTimeout,
		BodyReadTimeout: srv.BodyReadTimeout,
		IdleTimeout:     srv.IdleTimeout,
		MaxConnections:  maxConnections(srv.MaxConnections),
	}
	return nil
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

// runtimeKey is where a runtime stands: of an application's own, route is empty.
type runtimeKey struct{ tenant, application, route string }

// runtime builds what answers in one place: a runtime, or without one only a policy.
func (b *builder) runtime(rt *config.Runtime, p route.Place) (*proxy.Runtime, error) {
	key := runtimeKey{p.Tenant, p.Application, p.Route}
	r := proxy.Runtime{Tenant: p.Tenant, Application: p.Application, Limits: b.next.limits.of(key), Policy: p.Policy}
	if p.Policy != nil && p.Policy.Login != nil {
		var err error
		if r.Logins, err = b.logins(p.Policy.Login.HtpasswdFile); err != nil {
			return nil, err
		}
	}
	if rt == nil {
		return proxy.NewRuntime(r), nil
	}
	return b.complete(*rt, key, p.MaxBody, r)
}

// complete completes a runtime. A split goes on where the one of the generation before is.
func (b *builder) complete(rt config.Runtime, key runtimeKey, maxBody int64, r proxy.Runtime) (*proxy.Runtime, error) {
	r.PreserveHost, r.WebSocket, r.MaxBody = rt.PreserveHost, rt.WebSocket, maxBody
	r.ConnectTimeout, r.ResponseTimeout = rt.ConnectTimeout, rt.ResponseTimeout
	r.BodyTimeout = b.next.config.Server.UpstreamClient.BodyTimeout
	r.Resends = b.next.resends.of(key.tenant, key.application, b.before.resends)
	switch {
	case rt.Type == config.RuntimeStatic:
		r.Static = &proxy.Static{Root: rt.Static.Root, Index: rt.Static.Index}
	case rt.Type == config.RuntimeRespond, rt.Type == config.RuntimeRedirect:
		r.Fixed = &proxy.Fixed{Status: rt.Answer.Status, ContentType: rt.Answer.ContentType, Body: []byte(rt.Answer.Body), Location: rt.Answer.To}
	case rt.Address != nil:
		single, err := b.next.pools.addSingle(rt, b.before.pools, b.poolParts())
		if err != nil {
			return nil, err
		}
		r.BodyTimeout = rt.Client.BodyTimeout
		r.Backends = []proxy.Backend{{Pool: single.data, Weight: 1}}
	case rt.Pool != "":
		named, err := b.named(rt.Pool)
		if err != nil {
			return nil, err
		}
		r.Backends = []proxy.Backend{{Pool: named.data, Weight: 1}}
	default:
		for _, entry := range rt.Backends {
			backend := proxy.Backend{Status: entry.Status, Weight: entry.Weight}
			if entry.Pool != "" {
				named, err := b.named(entry.Pool)
				if err != nil {
					return nil, err
				}
				backend.Pool = named.data
			}
			r.Backends = append(r.Backends, backend)
		}
	}
	built := proxy.NewRuntime(r)
	if before := b.before.runtimes[key]; before != nil {
		built.Follow(before)
	}
	b.next.runtimes[key] = built
	return built, nil
}

func (b *builder) named(name string) (*pool, error) {
	p := b.next.pools.byName[name]
	if p == nil {
		return nil, fmt.Errorf("pool %s is not defined", name) // the configuration's check refuses this first
	}
	return p, nil
}
