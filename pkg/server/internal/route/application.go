package route

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/scalws/scalws/internal/config"
)

// application finds what answers a request among the routes of one application.
type application[T any] struct {
	exact    map[string]choices[T]
	prefixes prefixes[T]
	patterns []pattern[T] // in the order of the file
	rest     T            // answers what no route takes
}

type pattern[T any] struct {
	text    string
	fits    *regexp.Regexp
	choices choices[T]
}

func newApplication[T any](app *config.Application, p Place, same map[string]string, build func(*config.Runtime, Place) (T, error)) (*application[T], error) {
	a := &application[T]{}
	var err error
	if p.Policy, err = newPolicy(&app.Policies, ""); err != nil {
		return nil, err
	}
	if a.rest, err = build(app.Runtime, p); err != nil {
		return nil, err
	}
	prefixes := make(map[string]choices[T])
	for i := range app.Routes {
		r := &app.Routes[i]
		c, err := newCandidate(r, app, p, build)
		if err != nil {
			return nil, fmt.Errorf("building route %s: %w", r.Key(), err)
		}
		switch {
		case r.Path != "":
			prefixes[r.Path] = prefixes[r.Path].with(c)
		case r.Exact != "":
			if a.exact == nil {
				a.exact = make(map[string]choices[T])
			}
			a.exact[r.Exact] = a.exact[r.Exact].with(c)
		default:
			if err := a.addPattern(r.Regex, c); err != nil {
				return nil, fmt.Errorf("building route %s: %w", r.Key(), err)
			}
		}
	}
	a.prefixes = newPrefixes(prefixes, same)
	return a, nil
}

func newCandidate[T any](r *config.Route, app *config.Application, p Place, build func(*config.Runtime, Place) (T, error)) (c candidate[T], err error) {
	policies, path := r.Effective(app.Policies), ""
	if r.Redirect != nil {
		path = cmp.Or(r.Path, r.Exact)
	}
	if p.Policy, err = newPolicy(&policies, path); err != nil {
		return c, err
	}
	p.Route, p.MaxBody = r.Key(), override(p.MaxBody, r.MaxBody)
	if c.conditions, err = newConditions(r); err != nil {
		return c, err
	}
	c.target, err = build(r.Runtime, p)
	return c, err
}

// addPattern puts a candidate at an expression. The same one given again is one place in the order.
func (a *application[T]) addPattern(text string, c candidate[T]) error {
	i := slices.IndexFunc(a.patterns, func(p pattern[T]) bool { return p.text == text })
	if i < 0 {
		fits, err := whole(text)
		if err != nil {
			return err
		}
		i = len(a.patterns)
		a.patterns = append(a.patterns, pattern[T]{text: text, fits: fits})
	}
	a.patterns[i].choices = a.patterns[i].choices.with(c)
	return nil
}

// whole is a regular expression that has to fit a text from one end to the other.
func whole(text string) (*regexp.Regexp, error) { return regexp.Compile(`\A(?:` + text + `)\z`) }

// lookup holds the order of docs/configuration.md#routes: an exact path, the longest prefix, the first expression.
func (a *application[T]) lookup(r *Request) T {
	if len(a.exact) > 0 {
		if c := a.exact[string(r.Clean)].pick(r); c != nil {
			return c.target
		}
	}
	if c := a.prefixes.find(r); c != nil {
		return c.target
	}
	for i := range a.patterns {
		if p := &a.patterns[i]; p.fits.Match(r.Clean) {
			if c := p.choices.pick(r); c != nil {
				return c.target
			}
		}
	}
	return a.rest
}
