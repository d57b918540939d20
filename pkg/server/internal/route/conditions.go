package route

import (
	"regexp"
	"slices"
	"strings"

	"github.com/scalws/scalws/internal/config"
)

// choices are the candidates of one path, those with more conditions first.
type choices[T any] []candidate[T]

type candidate[T any] struct {
	*conditions // nil: none
	target      T
}

// with puts a candidate behind all that have as many conditions or more.
func (all choices[T]) with(c candidate[T]) choices[T] {
	at := slices.IndexFunc(all, func(other candidate[T]) bool { return other.number() < c.number() })
	if at < 0 {
		at = len(all)
	}
	return slices.Insert(all, at, c)
}

// pick is the first one whose conditions hold; nil: there is none.
func (all choices[T]) pick(r *Request) *candidate[T] {
	for i := range all {
		if c := &all[i]; c.hold(r) {
			return c
		}
	}
	return nil
}

// conditions are what a route asks for besides its path.
type conditions struct {
	count   int
	methods []string
	fields  []fieldCondition
}

type fieldCondition struct {
	name  string
	value string
	fits  *regexp.Regexp // nil: value is compared where there is one
}

func newConditions(r *config.Route) (*conditions, error) {
	if r.Conditions() == 0 {
		return nil, nil
	}
	c := &conditions{count: r.Conditions(), methods: r.Methods}
	for _, h := range r.MatchHeaders {
		f := fieldCondition{name: strings.ToLower(h.Name), value: h.Value}
		if h.Regex != "" {
			var err error
			if f.fits, err = whole(h.Regex); err != nil {
				return nil, err
			}
		}
		c.fields = append(c.fields, f)
	}
	return c, nil
}

func (c *conditions) number() int {
	if c == nil {
		return 0
	}
	return c.count
}

func (c *conditions) hold(r *Request) bool {
	if c == nil {
		return true
	}
	if len(c.methods) > 0 && !slices.ContainsFunc(c.methods, func(m string) bool { return m == string(r.Method) }) {
		return false
	}
	for i := range c.fields {
		f := &c.fields[i]
		value, found := r.Fields.Field(f.name)
		switch {
		case !found:
			return false
		case f.fits != nil && !f.fits.Match(value), f.value != "" && f.value != string(value):
			return false
		}
	}
	return true
}
