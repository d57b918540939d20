package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scalws/scalws/internal/strict"
)

// Bounds of lists.
const (
	maxTenants      = 10_000
	maxApplications = 10_000
	maxDomains      = 10_000
	maxRoutes       = 10_000
)

// tenantFields are the keys of a tenant. base is the upstream_client of the server.
func tenantFields(t *Tenant, base *Client) []strict.Field {
	return []strict.Field{
		{Name: "name", Need: true, Kind: strict.Scalar(&t.Name, name()),
			Meaning: "What logs call it; unique."},
		{Name: "applications", Otherwise: "none", Kind: strict.List(&t.Applications, 0, maxApplications, func(a *Application) strict.Kind {
			return strict.Section(applicationFields(a, base)).Also(applicationRules()...)
		}), Meaning: "What the tenant serves."},
	}
}

func applicationFields(a *Application, base *Client) []strict.Field {
	return append([]strict.Field{
		{Name: "name", Need: true, Kind: strict.Scalar(&a.Name, name()),
			Meaning: "What logs call it; unique in its tenant."},
		{Name: "domains", Need: true, Kind: strict.List(&a.Domains, 1, maxDomains, strict.ScalarOf(domain())),
			Meaning: "Hosts that it answers; each belongs to one application. * takes every host that no other does."},
		{Name: "runtime", Otherwise: "404 where no route fits", Kind: strict.Pointer(&a.Runtime, func(r *Runtime) strict.Kind {
			return anyRuntime(r, base)
		}), Meaning: "What answers a request that no route takes."},
		{Name: "routes", Otherwise: "none", Kind: strict.List(&a.Routes, 0, maxRoutes, func(r *Route) strict.Kind {
			return strict.Section(routeFields(r, base)).Also(routeRules()...)
		}), Meaning: "Parts of the application that something else answers; the longest path wins."},
		{Name: "max_body", Otherwise: "server.max_body", Kind: strict.Optional(&a.MaxBody, strict.Size(0, maxBody)),
			Meaning: "Longest body of a request; 0 is no limit."},
	}, slices.Concat(limitFields(&a.RateLimit, &a.Quota, "none"), policyFields(&a.Policies))...)
}

// checkTenants holds names, domains and routes against each other, and checks every runtime.
func (d checker) checkTenants(c *Config, pools poolNames, domains claims) {
	names := make(claims)
	if c.Sites != "" {
		names[siteTenant] = claim{"sites", d.File, d.Place("sites").Node.Line}
	}
	for i, t := range c.Tenants {
		tenant := strict.Index("tenants", i)
		d.unique(names, t.Name, strict.Join(tenant, "name"), codeDuplicateName, "")
		inTenant := make(claims)
		for j := range t.Applications {
			a, at := &t.Applications[j], strict.Index(strict.Join(tenant, "applications"), j)
			d.unique(inTenant, a.Name, strict.Join(at, "name"), codeDuplicateName, "names are unique in their tenant")
			d.checkApplication(at, a, strict.Join(at, "runtime"), pools, domains)
		}
	}
}

// checkApplication checks the application at a path; the runtime may stand under another name.
func (d checker) checkApplication(at string, a *Application, runtime string, pools poolNames, domains claims) {
	for i, name := range a.Domains {
		d.unique(domains, name, strict.Index(strict.Join(at, "domains"), i), codeDuplicateDomain, "a domain belongs to one application")
	}
	routes := strict.Join(at, "routes")
	if a.Runtime == nil && len(a.Routes) == 0 && a.Redirect == nil && d.Sound(at, runtime, routes, strict.Join(at, "redirect")) {
		d.FailKey(d.Place(at), &strict.Fault{Code: codeNothingToServe,
			Message: "an application needs a runtime, routes or a redirect", Hint: "add runtime: {type: proxy, upstream: {pool: name}}"})
	}
	if a.Runtime != nil {
		d.checkRuntime(runtime, a.Runtime, pools)
	}
	d.checkRateLimit(strict.Join(at, "rate_limit"), a.RateLimit)
	d.checkPolicies(at, &a.Policies)
	d.checkShared(at, a.Policies)
	d.checkRoutes(routes, a.Routes, pools)
	for i := range a.Routes {
		d.checkShared(strict.Index(routes, i), a.Routes[i].Effective(a.Policies))
	}
}

// claims are texts that can be had once, and where each was first.
type claims map[string]claim

type claim struct {
	path, file string
	line       int
}

// unique reports a text that another path had first. Texts that are empty or broken are passed over.
func (d checker) unique(seen claims, text, path, code, hint string) {
	if text == "" || !d.Sound(path) {
		return
	}
	first, ok := seen[text]
	if !ok {
		seen[text] = claim{path, d.File, d.Place(path).Node.Line}
		return
	}
	where := ""
	if first.file != d.File {
		where = " of " + first.file
	}
	d.FailValue(d.Place(path), &strict.Fault{Code: code, Hint: hint, Message: fmt.Sprintf("%s is taken by %s on line %d%s",
		strict.Shorten(text), first.path, first.line, where)})
}

// poolNames are the pools that runtimes can name.
type poolNames struct {
	known map[string]bool
	all   []string
	asked map[string]asked
	// broken is set where the pools could not be read: what is missing may be among them.
	broken bool
}

func (d checker) poolNames(c *Config) poolNames {
	p := poolNames{known: make(map[string]bool, len(c.Upstreams)), asked: make(map[string]asked, len(c.Upstreams)), broken: !d.Sound("upstreams")}
	for i, u := range c.Upstreams {
		p.known[u.Name] = true
		p.asked[u.Name] = d.askedOf(&c.Upstreams[i])
		p.all = append(p.all, u.Name)
	}
	return p
}

// checkPool reports a pool that does not exist.
func (d checker) checkPool(path, name string, pools poolNames) {
	if !d.Given(path) || !d.Sound(path) || pools.broken || pools.known[name] {
		return
	}
	hint, _ := strict.Suggest(name, pools.all, "pools")
	if strings.TrimSpace(hint) == "" {
		hint = "define it in upstreams"
	}
	d.FailValue(d.Place(path), &strict.Fault{Code: codeUnknownPool,
		Message: fmt.Sprintf("there is no pool %q", strict.Shorten(name)), Hint: hint})
}
