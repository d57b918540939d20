// Package route finds what answers a request: its Host leads to an application, its path to a route.
package route

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/scalws/scalws/internal/config"
)

// Place is where a runtime stands in the configuration.
type Place struct {
	Tenant      string
	Application string
	// Route is its key (config.Route.Key); empty for what answers where no route does.
	Route string
	// MaxBody that holds there in bytes; 0 is no limit.
	MaxBody int64
	// Policy that holds there; nil: none.
	Policy *Policy
}

// Table maps requests to targets. It is immutable; T is whatever the owner makes of a runtime. What a lookup costs
// depends neither on how many domains there are nor on how many paths, but on the length of what is looked up, and on
// the regular expressions of the application.
type Table[T any] struct {
	exact    map[string]*application[T]
	wildcard map[string]*application[T] // by the suffix behind "*", with its dot
	fallback *application[T]
}

// New builds the table. Domains are unique over all applications: the configuration's check saw to it. build is
// called once for each place: each route, and each application for what its routes do not take. Its runtime is nil where
// there is none; what else holds there holds all the same.
func New[T any](tenants []config.Tenant, maxBody int64, build func(*config.Runtime, Place) (T, error)) (*Table[T], error) {
	t := &Table[T]{exact: map[string]*application[T]{}, wildcard: map[string]*application[T]{}}
	same := make(map[string]string)
	for i := range tenants {
		tenant := &tenants[i]
		for j := range tenant.Applications {
			app := &tenant.Applications[j]
			a, err := newApplication(app, Place{Tenant: tenant.Name, Application: app.Name, MaxBody: override(maxBody, app.MaxBody)}, same, build)
			if err != nil {
				return nil, fmt.Errorf("building application %s of tenant %s: %w", app.Name, tenant.Name, err)
			}
			for _, d := range app.Domains {
				t.add(d, a)
			}
		}
	}
	return t, nil
}

func (t *Table[T]) add(domain string, a *application[T]) {
	switch {
	case domain == "*":
		t.fallback = a
	case strings.HasPrefix(domain, "*."):
		t.wildcard[domain[1:]] = a
	default:
		t.exact[domain] = a
	}
}

func override(outer int64, inner *int64) int64 {
	if inner != nil {
		return *inner
	}
	return outer
}

// maxHost is the longest host that can match: a name has at most 253 characters (RFC 1035 section 3.1).
const maxHost = 253

// Lookup finds the target of a request, and its clean path. Exact domains win over wildcards, the longest wildcard over
// shorter ones, all over "*". ok is false for a host that no application has. It allocates nothing but the space of the clean path.
func (t *Table[T]) Lookup(r *Request) (target T, ok bool) {
	r.clean()
	a := t.application(r.Host)
	if a == nil {
		return target, false
	}
	return a.lookup(r), true
}

func (t *Table[T]) application(host []byte) *application[T] {
	var folded [maxHost]byte
	name := bytes.TrimSuffix(withoutPort(host), []byte(".")) // the root's dot, RFC 1034 section 3.1
	if len(name) > maxHost {
		return t.fallback
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		folded[i] = c
	}
	low := folded[:len(name)]
	if a := t.exact[string(low)]; a != nil {
		return a
	}
	if len(t.wildcard) > 0 {
		for i := bytes.IndexByte(low, '.'); i >= 0; {
			if a := t.wildcard[string(low[i:])]; a != nil && i > 0 {
				return a
			}
			next := bytes.IndexByte(low[i+1:], '.')
			if next < 0 {
				break
			}
			i += 1 + next
		}
	}
	return t.fallback
}

// withoutPort cuts ":port"; brackets of an IPv6 address stay.
func withoutPort(host []byte) []byte {
	i := bytes.LastIndexByte(host, ':')
	if i < 0 || bytes.IndexByte(host[i:], ']') >= 0 {
		return host
	}
	return host[:i]
}
