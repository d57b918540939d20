// Package route finds what answers a request: its Host leads to an application, its path to a route.
package route

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/scalws/scalws/internal/config"
)

// Place is where a runtime stands in the configuration.
type Place struct {
	Tenant      string
	Application string
	// Path of the route; empty for what answers where no route does.
	Path string
	// MaxBody that holds there in bytes; 0 is no limit.
	MaxBody int64
}

// Table maps hosts and paths to targets. It is immutable; T is whatever the owner makes of a runtime.
type Table[T any] struct {
	exact    map[string]*application[T]
	wildcard map[string]*application[T] // by the suffix behind "*", with its dot
	fallback *application[T]
}

type application[T any] struct {
	routes []entry[T] // longest path first
	rest   T
	closed bool // nothing answers what no route takes
}

type entry[T any] struct {
	path   string
	target T
}

// New builds the table. Domains are unique over all applications: the configuration's check saw to it.
// build is called once for each runtime.
func New[T any](tenants []config.Tenant, maxBody int64, build func(config.Runtime, Place) (T, error)) (*Table[T], error) {
	t := &Table[T]{exact: map[string]*application[T]{}, wildcard: map[string]*application[T]{}}
	for _, tenant := range tenants {
		for _, app := range tenant.Applications {
			a, err := newApplication(app, Place{Tenant: tenant.Name, Application: app.Name, MaxBody: override(maxBody, app.MaxBody)}, build)
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

func newApplication[T any](app config.Application, p Place, build func(config.Runtime, Place) (T, error)) (*application[T], error) {
	a := &application[T]{closed: app.Runtime == nil}
	if app.Runtime != nil {
		var err error
		if a.rest, err = build(*app.Runtime, p); err != nil {
			return nil, err
		}
	}
	for _, r := range app.Routes {
		rp := p
		rp.Path, rp.MaxBody = r.Path, override(p.MaxBody, r.MaxBody)
		target, err := build(r.Runtime, rp)
		if err != nil {
			return nil, err
		}
		a.routes = append(a.routes, entry[T]{r.Path, target})
	}
	sort.SliceStable(a.routes, func(i, j int) bool { return len(a.routes[i].path) > len(a.routes[j].path) })
	return a, nil
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

// Lookup finds the target for a Host as it came (port and case do not matter) and a path with its query.
// Exact domains win over wildcards, the longest wildcard over shorter ones, all over "*"; the longest
// path prefix on segment borders wins. ok is false where nothing answers. It allocates nothing.
func (t *Table[T]) Lookup(host, path []byte) (target T, ok bool) {
	a := t.application(host)
	if a == nil {
		return target, false
	}
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	for i := range a.routes {
		if under(path, a.routes[i].path) {
			return a.routes[i].target, true
		}
	}
	return a.rest, !a.closed
}

func (t *Table[T]) application(host []byte) *application[T] {
	var folded [maxHost]byte
	name := withoutPort(host)
	if len(name) > maxHost {
		return t.fallback
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		folded[i] = c
	}
	low := bytes.TrimSuffix(folded[:len(name)], []byte(".")) // the root's dot, RFC 1034 section 3.1
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

// under is true if path is prefix or lies below it, on a segment border.
func under(path []byte, prefix string) bool {
	if len(path) < len(prefix) || string(path[:len(prefix)]) != prefix {
		return false
	}
	return len(path) == len(prefix) || prefix[len(prefix)-1] == '/' || path[len(prefix)] == '/'
}
