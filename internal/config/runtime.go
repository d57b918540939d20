package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// A backend's weight may be 0, unlike a member's: it keeps the pool configured but idle.
const defaultBackendWeight = "1"

// anyRuntime reads a runtime of any type. One of a proxy starts from base, the upstream_client of the server.
func anyRuntime(r *Runtime, base *Client) strict.Kind {
	return runtimeOf(r, base, runtimeFields(r), runtimeRules())
}

// bareProxy reads a runtime of which goes without saying that it is a proxy.
func bareProxy(r *Runtime, base *Client) strict.Kind {
	k := runtimeOf(r, base, proxyFields(r), proxyRules())
	read := k.Read
	k.Read = func(d *strict.Decoder, v strict.Value) {
		r.Type = RuntimeProxy
		read(d, v)
	}
	return k
}

// runtimeOf reads a runtime by some fields and rules, and fills in what depends on other keys.
func runtimeOf(r *Runtime, base *Client, fields []strict.Field, rules []strict.Shown) strict.Kind {
	k := strict.Section(fields).Also(rules...)
	read := k.Read
	k.Read = func(d *strict.Decoder, v strict.Value) {
		r.Client = *base
		read(d, v)
		if r.Type == RuntimeProxy {
			r.Static, r.Answer = Static{}, Answer{}
			r.completeProxy(d, v.Path, base)
		} else {
			r.completeOther(d, v.Path)
		}
	}
	k.Preset = nil
	return k
}

func (r *Runtime) completeProxy(d *strict.Decoder, at string, base *Client) {
	if r.Address == nil {
		// Pools are talked to with the client of the server, whatever the runtime's says.
		r.Client = *base
	}
	if !d.Given(strict.Join(at, "connect_timeout")) {
		r.ConnectTimeout = r.Client.ConnectTimeout
	}
	if !d.Given(strict.Join(at, "response_timeout")) {
		r.ResponseTimeout = r.Client.ResponseTimeout
	}
}

// runtimeFields are the keys of all types. Those of other types than its own are never shown of a runtime that was
// read; one without a type is that of the manual and the schema.
func runtimeFields(r *Runtime) []strict.Field {
	fields := []strict.Field{
		{Name: "type", Need: true, Kind: strict.Scalar(&r.Type, strict.Choice(RuntimeProxy, RuntimeStatic, RuntimeRespond, RuntimeRedirect)),
			Meaning: "proxy passes requests on; static answers with files, respond with what is written here, redirect with another place."},
	}
	for _, f := range ownedFields(r) {
		f.Kind = f.Kind.Only(func() bool { return r.Type == "" || slices.Contains(f.of, r.Type) })
		fields = append(fields, f.Field)
	}
	return fields
}

// ownedField is a key that runtimes of some types have.
type ownedField struct {
	strict.Field
	of []RuntimeType
}

func ownedFields(r *Runtime) []ownedField {
	var all []ownedField
	add := func(fields []strict.Field, of ...RuntimeType) {
		for _, f := range fields {
			all = append(all, ownedField{f, of})
		}
	}
	add(proxyFields(r), RuntimeProxy)
	add(staticFields(&r.Static), RuntimeStatic)
	add(statusFields(&r.Answer), RuntimeRespond, RuntimeRedirect)
	add(respondFields(&r.Answer), RuntimeRespond)
	add(redirectFields(&r.Answer), RuntimeRedirect)
	return all
}

func proxyFields(r *Runtime) []strict.Field {
	return []strict.Field{
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
	if !d.Given(at) || !d.Sound(at, strict.Join(at, "type")) || !d.checkOwned(at, r) {
		return
	}
	switch r.Type {
	case RuntimeProxy:
		d.checkProxy(at, r, pools)
	case RuntimeStatic:
		d.checkStatic(at, &r.Static)
	case RuntimeRespond:
		d.checkRespond(at, &r.Answer)
	case RuntimeRedirect:
		d.checkRedirect(at, &r.Answer)
	}
}

// checkOwned reports the keys of a runtime that belong to another type. It is false where there are some: what else
// is wrong would be said about a runtime that is not meant.
func (d checker) checkOwned(at string, r *Runtime) bool {
	ok := true
	for _, f := range ownedFields(r) {
		path := strict.Join(at, f.Name)
		if slices.Contains(f.of, r.Type) || !d.Given(path) {
			continue
		}
		ok = false
		types := make([]string, len(f.of))
		for i, t := range f.of {
			types[i] = string(t)
		}
		d.FailKey(d.Place(path), &strict.Fault{Code: codeOtherType,
			Message: fmt.Sprintf("a runtime of type %s has no such key", r.Type), Hint: "it is for type: " + strings.Join(types, " or ")})
	}
	return ok
}

func (d checker) checkProxy(at string, r *Runtime, pools poolNames) {
	upstream, backends := strict.Join(at, "upstream"), strict.Join(at, "backends")
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
