package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// A backend's weight may be 0, unlike a member's: it keeps the pool configured but idle.
const defaultBackendWeight = "1"

// proxyRuntime reads a proxy runtime. It starts from base, the upstream_client of the server, and fills in
// what depends on other keys. Keys that go without saying where it stands are left out.
func proxyRuntime(r *Runtime, base *Client, without ...string) strict.Kind {
	k := strict.Section(slices.DeleteFunc(runtimeFields(r), func(f strict.Field) bool { return slices.Contains(without, f.Name) })).Also(runtimeRules()...)
	read := k.Read
	k.Read = func(d *strict.Decoder, v strict.Value) {
		r.Client = *base
		read(d, v)
		if r.Address == nil {
			// Pools are talked to with the client of the server, whatever the runtime's says.
			r.Client = *base
		}
		if !d.Given(strict.Join(v.Path, "connect_timeout")) {
			r.ConnectTimeout = r.Client.ConnectTimeout
		}
		if !d.Given(strict.Join(v.Path, "response_timeout")) {
			r.ResponseTimeout = r.Client.ResponseTimeout
		}
	}
	k.Preset = nil
	return k
}

func runtimeFields(r *Runtime) []strict.Field {
	proxy := "proxy"
	return []strict.Field{
		{Name: "type", Need: true, Kind: strict.Scalar(&proxy, strict.Choice("proxy")),
			Meaning: "proxy passes requests on."},
		{Name: "upstream", Otherwise: "backends", Kind: target(r),
			Meaning: "One address, or a pool. Exactly one of upstream and backends."},
		{Name: "backends", Otherwise: "upstream", Kind: strict.List(&r.Backends, 1, lb.MaxBackends, func(b *Backend) strict.Kind {
			return strict.Section(backendFields(b)).Also(backendRules()...)
		}), Meaning: "Splits requests by weight over pools and statuses."},
		{Name: "preserve_host", Def: "true", Kind: strict.Scalar(&r.PreserveHost, strict.Truth()),
			Meaning: "Sends the client's Host; false sends the member's address."},
		{Name: "connect_timeout", Otherwise: "the client's", Kind: strict.Scalar(&r.ConnectTimeout, strict.Duration(0, time.Hour)),
			Meaning: "As in client, for each attempt; 0 is no limit."},
		{Name: "response_timeout", Otherwise: "the client's", Kind: strict.Scalar(&r.ResponseTimeout, strict.Duration(0, day)),
			Meaning: "As in client, for each attempt; 0 is no limit."},
		{Name: "websocket", Def: "true", Kind: strict.Scalar(&r.WebSocket, strict.Truth()),
			Meaning: "Allows upgrades."},
		{Name: "tls_ca_file", Otherwise: "the system's roots alone", Kind: namedFile(&r.TLSCAFile),
			Meaning: "CA certificates to trust in addition, PEM; only for a single https:// address."},
		{Name: "client", Otherwise: "server.upstream_client", Kind: strict.Section(clientFields(&r.Client, false)).Also(strict.Together("cert_file", "key_file")).Only(func() bool { return r.Address != nil }),
			Meaning: "How a single address is talked to; without effect on pools."},
	}
}

func backendFields(b *Backend) []strict.Field {
	return []strict.Field{
		{Name: "pool", Otherwise: "status", Kind: strict.Scalar(&b.Pool, strict.Text()),
			Meaning: "A pool. Exactly one of pool and status."},
		{Name: "status", Otherwise: "pool", Kind: strict.Scalar(&b.Status, strict.Whole(500, 599)),
			Meaning: "Answers with this status and contacts nobody."},
		{Name: "weight", Def: defaultBackendWeight, Kind: strict.Scalar(&b.Weight, strict.Whole(0, lb.MaxBackendWeight)),
			Meaning: "Relative share of requests; 0 sends nothing. One at least is above 0."},
	}
}

// target reads the upstream of a runtime: the text of an address, or a section that names a pool.
func target(r *Runtime) strict.Kind {
	address := strict.Optional(&r.Address, singleAddress())
	pool := strict.Section([]strict.Field{
		{Name: "pool", Need: true, Kind: strict.Scalar(&r.Pool, strict.Text()), Meaning: "The pool, a key of upstreams."},
	})
	const wants = "an address or {pool: name}"
	return strict.Kind{
		Wants: wants,
		Bound: address.Bound,
		Read: func(d *strict.Decoder, v strict.Value) {
			switch {
			case v.IsSection():
				pool.Read(d, v)
			case v.IsScalar():
				address.Read(d, v)
			default:
				d.WrongType(v, wants, "")
			}
		},
		Inner: pool.Inner,
		Show: func() (any, bool) {
			if r.Address != nil {
				return address.Show()
			}
			return pool.Show()
		},
		Schema: func() strict.Shown { return strict.AnyOf(address.Schema(), pool.Schema()) },
	}
}

// checkRuntime holds the keys of a runtime against each other.
func (d checker) checkRuntime(at string, r *Runtime, pools poolNames) {
	upstream, backends := strict.Join(at, "upstream"), strict.Join(at, "backends")
	if !d.Given(at) || !d.Sound(at) {
		return
	}
	switch {
	case d.Given(upstream) && d.Given(backends):
		d.FailKey(d.later(upstream, backends), &strict.Fault{Code: codeUpstreamBackends,
			Message: "upstream and backends exclude each other", Hint: "remove one of the two"})
		return
	case !d.Given(upstream) && !d.Given(backends) && d.Sound(upstream, backends):
		d.FailKey(d.Place(at), &strict.Fault{Code: codeNoUpstream,
			Message: "a proxy runtime needs upstream or backends", Hint: "add upstream: {pool: name}"})
	}
	d.checkPool(strict.Join(upstream, "pool"), r.Pool, pools)
	d.checkBackends(backends, r.Backends, pools)
	d.checkTimes(at, r, pools)

	caFile, client := strict.Join(at, "tls_ca_file"), strict.Join(at, "client")
	if d.Given(caFile) && d.Sound(upstream, caFile) {
		switch {
		case r.Address != nil && r.Address.HTTPS:
			d.checkCA(caFile, r.TLSCAFile)
		case r.Address != nil:
			d.FailKey(d.Place(caFile), &strict.Fault{Code: codeTLSWithoutHTTPS,
				Message: "tls_ca_file needs an https:// upstream", Hint: "write https://, or remove tls_ca_file"})
		default:
			d.FailKey(d.Place(caFile), &strict.Fault{Code: codeTLSWithoutHTTPS,
				Message: "tls_ca_file is only for a single https:// address", Hint: "a pool has tls.ca_file"})
		}
	}
	if d.Given(client) && d.Sound(upstream, client) {
		if r.Address != nil {
			d.checkClient(client, r.Client)
		} else {
			d.ignored(client, "on a pool", "pools use server.upstream_client")
		}
	}
}

func (d checker) checkBackends(at string, backends []Backend, pools poolNames) {
	weights := d.Sound(at) && len(backends) > 0
	total := 0
	for i, b := range backends {
		entry := strict.Index(at, i)
		pool, status, weight := strict.Join(entry, "pool"), strict.Join(entry, "status"), strict.Join(entry, "weight")
		weights = weights && d.Sound(entry, weight)
		total += b.Weight
		d.checkPool(pool, b.Pool, pools)
		if d.Sound(entry) && d.Sound(pool, status) && d.Given(pool) == d.Given(status) {
			d.FailValue(d.Place(entry), &strict.Fault{Code: codeBackendTarget,
				Message: "a backend has exactly one of pool and status"})
		}
	}
	if weights && total == 0 {
		d.FailKey(d.Place(at), &strict.Fault{Code: codeNoBackendWeight,
			Message: "one backend at least needs a weight above 0"})
	}
}

// later is the one of two given paths that comes second in the text.
func (d checker) later(a, b string) strict.Value {
	if x, y := d.Place(a), d.Place(b); y.Before(x) {
		return x
	}
	return d.Place(b)
}

// ignored warns of a key that has no effect.
func (d checker) ignored(path, where, hint string) {
	d.WarnKey(d.Place(path), &strict.Fault{Code: codeIgnoredKey,
		Message: fmt.Sprintf("the key has no effect %s", where), Hint: hint})
}
