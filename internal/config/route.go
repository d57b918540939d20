package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scalws/scalws/internal/strict"
)

// Route is a part of an application. Exactly one of Path, Exact and Regex is set; paths are in the form that
// uripath.Clean gives them.
type Route struct {
	// Path is a prefix on segment borders: "/api" takes "/api" and "/api/x", not "/apis".
	Path string
	// Exact is a whole path.
	Exact string
	// Regex fits a whole path.
	Regex string
	// Methods and MatchHeaders are conditions, which all must hold. No Methods are all methods.
	Methods      []string
	MatchHeaders []MatchHeader
	// Runtime answers; nil: 404, where a redirect does not.
	Runtime *Runtime
	// MaxBody overrides the application's; nil does not.
	MaxBody *int64
	// RateLimit and Quota take the place of the application's; nil do not.
	RateLimit *RateLimit
	Quota     *Quota
	// Inherit takes the policies of the application that the route has none of its own for.
	Inherit bool
	Policies
}

// MatchHeader is a condition on a header field. With neither Value nor Regex the field has to be there.
type MatchHeader struct {
	Name string
	// Value is what the field has to have, Regex what it has to fit as a whole.
	Value, Regex string
}

// Conditions is how many there are: of two routes with the same path the one with more is looked at first.
func (r *Route) Conditions() int { return min(len(r.Methods), 1) + len(r.MatchHeaders) }

// Key tells the routes of an application apart: two with the same key would take the same requests.
func (r *Route) Key() string {
	headers := make([]string, len(r.MatchHeaders))
	for i, h := range r.MatchHeaders {
		headers[i] = fmt.Sprintf("%s=%q~%q", lowerASCII(h.Name), h.Value, h.Regex)
	}
	slices.Sort(headers)
	key := cmp.Or(r.Path, "exact "+r.Exact)
	if r.Regex != "" {
		key = "regex " + r.Regex
	}
	return strings.Join(slices.Concat([]string{key}, slices.Sorted(slices.Values(r.Methods)), slices.Compact(headers)), " ")
}

func routeFields(r *Route, base *Client) []strict.Field {
	return append([]strict.Field{
		{Name: "path", Otherwise: "exact or regex", Kind: strict.Scalar(&r.Path, routePath()),
			Meaning: "Prefix on segment borders: /api takes /api and /api/x, not /apis. Exactly one of path, exact and regex."},
		{Name: "exact", Otherwise: "path or regex", Kind: strict.Scalar(&r.Exact, routePath()),
			Meaning: "The whole path."},
		{Name: "regex", Otherwise: "path or exact", Kind: strict.Scalar(&r.Regex, regex()),
			Meaning: "Fits the whole path."},
		{Name: "methods", Otherwise: "all", Kind: strict.List(&r.Methods, 1, maxMethods, strict.ScalarOf(method())),
			Meaning: "Methods of requests that the route takes."},
		{Name: "match_headers", Otherwise: "none", Kind: strict.List(&r.MatchHeaders, 1, maxMatchHeaders, func(h *MatchHeader) strict.Kind {
			return strict.Section(matchHeaderFields(h)).Also(matchHeaderRules()...)
		}), Meaning: "Header fields that requests must have, all of them."},
		{Name: "runtime", Otherwise: "redirect", Kind: strict.Pointer(&r.Runtime, func(r *Runtime) strict.Kind {
			return anyRuntime(r, base)
		}), Meaning: "What answers."},
		{Name: "max_body", Otherwise: "the application's", Kind: strict.Optional(&r.MaxBody, strict.Size(0, maxBody)),
			Meaning: "Longest body of a request; 0 is no limit."},
		{Name: "inherit", Def: "true", Kind: strict.Scalar(&r.Inherit, strict.Truth()),
			Meaning: "Takes the policies of the application where the route has none of the same kind; false takes none."},
	}, slices.Concat(limitFields(&r.RateLimit, &r.Quota, "the application's"), policyFields(&r.Policies))...)
}

func matchHeaderFields(h *MatchHeader) []strict.Field {
	return []strict.Field{
		{Name: "name", Need: true, Kind: strict.Scalar(&h.Name, matchedField()),
			Meaning: "Name of the field."},
		{Name: "value", Otherwise: "any value", Kind: strict.Scalar(&h.Value, fieldValue()),
			Meaning: "What it must be; several fields of the name are one, joined with a comma and a space."},
		{Name: "regex", Otherwise: "any value", Kind: strict.Scalar(&h.Regex, regex()),
			Meaning: "What it must fit as a whole; not with value."},
	}
}

// checkRoutes checks the routes at a path of an application.
func (d checker) checkRoutes(at string, routes []Route, pools poolNames) {
	taken := make(claims)
	for i := range routes {
		r, route := &routes[i], strict.Index(at, i)
		d.checkMatch(route, r)
		runtime, redirect := strict.Join(route, "runtime"), strict.Join(route, "redirect")
		if r.Runtime != nil {
			d.checkRuntime(runtime, r.Runtime, pools)
		} else if !d.Given(redirect) && !d.Given(runtime) && d.Sound(route, runtime, redirect) && d.Given(route) {
			d.FailKey(d.Place(route).As(runtime), &strict.Fault{Code: codeNothingToServe,
				Message: "a route needs a runtime or a redirect", Hint: "add runtime: {type: proxy, upstream: {pool: name}}"})
		}
		d.checkRateLimit(strict.Join(route, "rate_limit"), r.RateLimit)
		d.checkPolicies(route, &r.Policies)
		for _, key := range []string{"path", "exact", "regex"} {
			if d.Given(strict.Join(route, key)) && d.Sound(route, strict.Join(route, "methods"), strict.Join(route, "match_headers")) {
				d.unique(taken, r.Key(), strict.Join(route, key), codeDuplicateRoute, "")
				break
			}
		}
	}
}

// checkMatch holds what a route takes against itself.
func (d checker) checkMatch(at string, r *Route) {
	var given []string
	sound := d.Given(at)
	for _, key := range []string{"path", "exact", "regex"} {
		path := strict.Join(at, key)
		sound = sound && d.Sound(path)
		if d.Given(path) {
			given = append(given, path)
		}
	}
	switch {
	case !sound || !d.Place(at).IsSection() || len(given) == 1:
	case len(given) == 0:
		d.FailKey(d.Place(at).As(strict.Join(at, "path")), &strict.Fault{Code: codeRouteMatch,
			Message: "a route needs path, exact or regex", Hint: "path: / takes every path"})
	default:
		d.FailKey(d.later(given[0], given[1]), &strict.Fault{Code: codeRouteMatch,
			Message: "path, exact and regex exclude each other", Hint: "remove all but one"})
	}
	for i := range r.MatchHeaders {
		h := strict.Index(strict.Join(at, "match_headers"), i)
		value, regex := strict.Join(h, "value"), strict.Join(h, "regex")
		if d.Given(value) && d.Given(regex) {
			d.FailKey(d.later(value, regex), &strict.Fault{Code: codeRouteMatch,
				Message: "value and regex exclude each other", Hint: "remove one of the two"})
		}
	}
}
