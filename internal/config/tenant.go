package config

import (
	"fmt"
	"strings"
)

// Bounds of lists.
const (
	maxTenants      = 10_000
	maxApplications = 10_000
	maxDomains      = 10_000
	maxRoutes       = 10_000
)

// tenantFields are the keys of a tenant. base is the upstream_client of the server.
func tenantFields(t *Tenant, base *Client) []field {
	return []field{
		{name: "name", need: true, kind: scalar(&t.Name, name()),
			meaning: "What logs call it; unique."},
		{name: "applications", otherwise: "none", kind: list(&t.Applications, 0, maxApplications, func(a *Application) kind {
			return section(applicationFields(a, base))
		}), meaning: "What the tenant serves."},
	}
}

func applicationFields(a *Application, base *Client) []field {
	return []field{
		{name: "name", need: true, kind: scalar(&a.Name, name()),
			meaning: "What logs call it; unique in its tenant."},
		{name: "domains", need: true, kind: list(&a.Domains, 1, maxDomains, scalarOf(domain())),
			meaning: "Hosts that it answers; each belongs to one application. * takes every host that no other does."},
		{name: "runtime", otherwise: "404 where no route fits", kind: pointer(&a.Runtime, func(r *Runtime) kind {
			return proxyRuntime(r, base)
		}), meaning: "What answers a request that no route takes."},
		{name: "routes", otherwise: "none", kind: list(&a.Routes, 0, maxRoutes, func(r *Route) kind {
			return section(routeFields(r, base))
		}), meaning: "Parts of the application that something else answers; the longest path wins."},
		{name: "max_body", otherwise: "server.max_body", kind: optional(&a.MaxBody, size(0, maxBody)),
			meaning: "Longest body of a request; 0 is no limit."},
	}
}

func routeFields(r *Route, base *Client) []field {
	return []field{
		{name: "path", need: true, kind: scalar(&r.Path, routePath()),
			meaning: "Prefix on segment borders: /api takes /api and /api/x, not /apis. Unique in the application."},
		{name: "runtime", need: true, kind: proxyRuntime(&r.Runtime, base),
			meaning: "What answers."},
		{name: "max_body", otherwise: "the application's", kind: optional(&r.MaxBody, size(0, maxBody)),
			meaning: "Longest body of a request; 0 is no limit."},
	}
}

// checkTenants holds names, domains and routes against each other, and checks every runtime.
func (d *decoder) checkTenants(c *Config) {
	pools := newPoolNames(c)
	names, domains := make(map[string]string), make(map[string]string)
	for i, t := range c.Tenants {
		tenant := index("tenants", i)
		d.unique(names, t.Name, join(tenant, "name"), codeDuplicateName, "")
		inTenant := make(map[string]string)
		for j := range t.Applications {
			a, at := &t.Applications[j], index(join(tenant, "applications"), j)
			d.unique(inTenant, a.Name, join(at, "name"), codeDuplicateName, "names are unique in their tenant")
			for k, name := range a.Domains {
				d.unique(domains, name, index(join(at, "domains"), k), codeDuplicateDomain, "a domain belongs to one application")
			}
			d.checkApplication(at, a, pools)
		}
	}
}

func (d *decoder) checkApplication(at string, a *Application, pools poolNames) {
	runtime, routes := join(at, "runtime"), join(at, "routes")
	if a.Runtime == nil && len(a.Routes) == 0 && d.sound(at, runtime, routes) {
		d.add(Error, d.places[at].at(), at, &fault{code: codeNothingToServe,
			message: "an application needs a runtime or routes", hint: "add runtime: {type: proxy, upstream: {pool: name}}"})
	}
	if a.Runtime != nil {
		d.checkRuntime(runtime, a.Runtime, pools)
	}
	paths := make(map[string]string)
	for i := range a.Routes {
		route := index(routes, i)
		d.unique(paths, a.Routes[i].Path, join(route, "path"), codeDuplicateRoute, "")
		d.checkRuntime(join(route, "runtime"), &a.Routes[i].Runtime, pools)
	}
}

// unique reports a text that another path had first. Texts that are empty or broken are passed over.
func (d *decoder) unique(seen map[string]string, text, path, code, hint string) {
	if text == "" || !d.sound(path) {
		return
	}
	first, ok := seen[text]
	if !ok {
		seen[text] = path
		return
	}
	d.failValue(d.places[path], &fault{code: code, hint: hint, message: fmt.Sprintf("%s is taken by %s on line %d",
		shorten(text), first, d.places[first].node.Line)})
}

// poolNames are the pools that runtimes can name.
type poolNames struct {
	known map[string]bool
	all   []string
}

func newPoolNames(c *Config) poolNames {
	p := poolNames{known: make(map[string]bool, len(c.Upstreams))}
	for _, u := range c.Upstreams {
		p.known[u.Name] = true
		p.all = append(p.all, u.Name)
	}
	return p
}

// checkPool reports a pool that does not exist.
func (d *decoder) checkPool(path, name string, pools poolNames) {
	if !d.given(path) || !d.sound("upstreams", path) || pools.known[name] {
		return
	}
	hint, _ := hintFor(name, pools.all, "pools")
	if strings.TrimSpace(hint) == "" {
		hint = "define it in upstreams"
	}
	d.failValue(d.places[path], &fault{code: codeUnknownPool,
		message: fmt.Sprintf("there is no pool %q", shorten(name)), hint: hint})
}
