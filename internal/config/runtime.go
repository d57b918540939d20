package config

import (
	"fmt"
	"time"

	"github.com/scalws/scalws/pkg/lb"
	"go.yaml.in/yaml/v3"
)

// A backend's weight may be 0, unlike a member's: it keeps the pool configured but idle.
const defaultBackendWeight = "1"

// proxyRuntime reads a proxy runtime. It starts from base, the upstream_client of the server, and fills in
// what depends on other keys.
func proxyRuntime(r *Runtime, base *Client) kind {
	fields := runtimeFields(r)
	return kind{
		wants: "a section",
		read: func(d *decoder, v value) {
			r.Client = *base
			d.section(v, fields)
			if r.Address == nil {
				// Pools are talked to with the client of the server, whatever the runtime's says.
				r.Client = *base
			}
			if !d.given(join(v.path, "connect_timeout")) {
				r.ConnectTimeout = r.Client.ConnectTimeout
			}
			if !d.given(join(v.path, "response_timeout")) {
				r.ResponseTimeout = r.Client.ResponseTimeout
			}
		},
		inner: func(path string) []Key { return keysOf(path, fields) },
	}
}

func runtimeFields(r *Runtime) []field {
	var proxy string
	return []field{
		{name: "type", need: true, kind: scalar(&proxy, choice(texts("proxy")...)),
			meaning: "proxy passes requests on."},
		{name: "upstream", otherwise: "backends", kind: target(r),
			meaning: "One address, or a pool. Exactly one of upstream and backends."},
		{name: "backends", otherwise: "upstream", kind: list(&r.Backends, 1, lb.MaxBackends, func(b *Backend) kind {
			return section(backendFields(b))
		}), meaning: "Splits requests by weight over pools and statuses."},
		{name: "preserve_host", def: "true", kind: scalar(&r.PreserveHost, truth()),
			meaning: "Sends the client's Host; false sends the member's address."},
		{name: "connect_timeout", otherwise: "the client's", kind: scalar(&r.ConnectTimeout, duration(0, time.Hour)),
			meaning: "As in client, for each attempt; 0 is no limit."},
		{name: "response_timeout", otherwise: "the client's", kind: scalar(&r.ResponseTimeout, duration(0, day)),
			meaning: "As in client, for each attempt; 0 is no limit."},
		{name: "websocket", def: "true", kind: scalar(&r.WebSocket, truth()),
			meaning: "Allows upgrades."},
		{name: "tls_ca_file", otherwise: "the system's roots alone", kind: namedFile(&r.TLSCAFile),
			meaning: "CA certificates to trust in addition, PEM; only for a single https:// address."},
		{name: "client", otherwise: "server.upstream_client", kind: section(clientFields(&r.Client, false)),
			meaning: "How a single address is talked to; without effect on pools."},
	}
}

func backendFields(b *Backend) []field {
	return []field{
		{name: "pool", otherwise: "status", kind: scalar(&b.Pool, freeText()),
			meaning: "A pool. Exactly one of pool and status."},
		{name: "status", otherwise: "pool", kind: scalar(&b.Status, whole(500, 599)),
			meaning: "Answers with this status and contacts nobody."},
		{name: "weight", def: defaultBackendWeight, kind: scalar(&b.Weight, whole(0, lb.MaxBackendWeight)),
			meaning: "Relative share of requests; 0 sends nothing. One at least is above 0."},
	}
}

// target reads the upstream of a runtime: the text of an address, or a section that names a pool.
func target(r *Runtime) kind {
	address := optional(&r.Address, singleAddress())
	pool := []field{{name: "pool", need: true, kind: scalar(&r.Pool, freeText()), meaning: "The pool, a key of upstreams."}}
	return kind{
		wants: "an address or {pool: name}",
		bound: address.bound,
		read: func(d *decoder, v value) {
			switch {
			case v.node.Kind == yaml.MappingNode:
				d.section(v, pool)
			case v.node.Kind == yaml.ScalarNode && !isNull(v.node):
				address.read(d, v)
			default:
				d.wrongType(v, "an address or {pool: name}", "")
			}
		},
		inner: func(path string) []Key { return keysOf(path, pool) },
	}
}

// checkRuntime holds the keys of a runtime against each other.
func (d *decoder) checkRuntime(at string, r *Runtime, pools poolNames) {
	upstream, backends := join(at, "upstream"), join(at, "backends")
	if !d.given(at) || !d.sound(at) {
		return
	}
	switch {
	case d.given(upstream) && d.given(backends):
		d.failKey(d.later(upstream, backends), &fault{code: codeUpstreamBackends,
			message: "upstream and backends exclude each other", hint: "remove one of the two"})
		return
	case !d.given(upstream) && !d.given(backends) && d.sound(upstream, backends):
		d.add(Error, d.places[at].at(), at, &fault{code: codeNoUpstream,
			message: "a proxy runtime needs upstream or backends", hint: "add upstream: {pool: name}"})
	}
	d.checkPool(join(upstream, "pool"), r.Pool, pools)
	d.checkBackends(backends, r.Backends, pools)

	caFile, client := join(at, "tls_ca_file"), join(at, "client")
	if d.given(caFile) && d.sound(upstream, caFile) {
		switch {
		case r.Address != nil && r.Address.HTTPS:
			d.checkCA(caFile, r.TLSCAFile)
		case r.Address != nil:
			d.failKey(d.places[caFile], &fault{code: codeTLSWithoutHTTPS,
				message: "tls_ca_file needs an https:// upstream", hint: "write https://, or remove tls_ca_file"})
		default:
			d.failKey(d.places[caFile], &fault{code: codeTLSWithoutHTTPS,
				message: "tls_ca_file is only for a single https:// address", hint: "a pool has tls.ca_file"})
		}
	}
	if d.given(client) && d.sound(upstream, client) {
		if r.Address != nil {
			d.checkClient(client, r.Client)
		} else {
			d.ignored(client, "on a pool", "pools use server.upstream_client")
		}
	}
}

func (d *decoder) checkBackends(at string, backends []Backend, pools poolNames) {
	weights := d.sound(at) && len(backends) > 0
	total := 0
	for i, b := range backends {
		entry := index(at, i)
		pool, status, weight := join(entry, "pool"), join(entry, "status"), join(entry, "weight")
		weights = weights && d.sound(entry, weight)
		total += b.Weight
		d.checkPool(pool, b.Pool, pools)
		if d.sound(entry) && d.sound(pool, status) && d.given(pool) == d.given(status) {
			d.failValue(d.places[entry], &fault{code: codeBackendTarget,
				message: "a backend has exactly one of pool and status"})
		}
	}
	if weights && total == 0 {
		d.failKey(d.places[at], &fault{code: codeNoBackendWeight,
			message: "one backend at least needs a weight above 0"})
	}
}

// later is the one of two given paths that comes second in the text.
func (d *decoder) later(a, b string) value {
	first, second := d.places[a], d.places[b]
	x, y := first.at(), second.at()
	if x.Line > y.Line || x.Line == y.Line && x.Column > y.Column {
		return first
	}
	return second
}

// ignored warns of a key that has no effect.
func (d *decoder) ignored(path, where, hint string) {
	d.warnKey(d.places[path], &fault{code: codeIgnoredKey,
		message: fmt.Sprintf("the key has no effect %s", where), hint: hint})
}
