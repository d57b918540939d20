package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/scalws/scalws/pkg/api"
)

// query reads the query parameters of a call that takes those of the names. Any other, and one that is given
// twice, is refused: it asks for something that the answer would not be.
func query(r *http.Request, names ...string) (map[string]string, error) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	if len(names) == 0 {
		return nil, invalidQuery("this call takes no parameters")
	}
	all, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, invalidQuery("not readable: " + cut(err.Error()))
	}
	values := make(map[string]string, len(all))
	for name, given := range all {
		switch {
		case !slices.Contains(names, name):
			return nil, invalidQuery("unknown parameter " + escaped(name) + ": this call takes " + strings.Join(names, ", "))
		case len(given) > 1:
			return nil, invalidQuery(name + " is given twice")
		}
		values[name] = given[0]
	}
	return values, nil
}

// boolean is a parameter that is true or false, which an absent one is.
func boolean(values map[string]string, name string) (bool, error) {
	switch value, given := values[name]; {
	case !given, value == "false":
		return false, nil
	case value == "true":
		return true, nil
	}
	return false, invalidQuery(name + " must be true or false")
}

func invalidQuery(what string) *api.Problem {
	return refuse(api.CodeInvalidQuery, "query: %s", what)
}
