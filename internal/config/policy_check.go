package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/scalws/scalws/internal/htpasswd"
	"github.com/scalws/scalws/internal/strict"
)

// checkPolicies holds the policies of the application or the route at a path against each other, and reads the
// files that they name.
func (d checker) checkPolicies(at string, p *Policies) {
	for _, section := range []string{"rewrite", "headers", "headers.request", "headers.response"} {
		path := at
		for name := range strings.SplitSeq(section, ".") {
			path = strict.Join(path, name)
		}
		if v := d.Place(path); d.Given(path) && v.IsSection() && len(v.Node.Content) == 0 {
			d.FailKey(v, &strict.Fault{Code: codeEmptyPolicy, Message: "there is nothing in it", Hint: "remove it"})
		}
	}
	if p.Redirect != nil {
		d.checkRedirectStatus(strict.Join(at, "redirect"), p.Redirect.Status)
	}
	if p.CORS != nil {
		d.checkCORS(strict.Join(at, "cors"), p.CORS)
	}
	if p.BasicAuth != nil {
		d.checkHtpasswd(strict.Join(strict.Join(at, "basic_auth"), "htpasswd_file"), p.BasicAuth.HtpasswdFile)
	}
	if p.Rewrite != nil && p.Rewrite.Replace != nil {
		d.checkReplace(strict.Join(strict.Join(at, "rewrite"), "replace"), p.Rewrite.Replace)
	}
	if p.Headers != nil {
		headers := strict.Join(at, "headers")
		d.checkEdits(strict.Join(headers, "request"), &p.Headers.Request)
		d.checkEdits(strict.Join(headers, "response"), &p.Headers.Response)
	}
}

// checkCORS holds what browsers would refuse, or what would let every page read what is meant for a user
// (https://fetch.spec.whatwg.org/#cors-protocol-and-credentials).
func (d checker) checkCORS(at string, c *CORS) {
	origins := strict.Join(at, "origins")
	if !slices.Contains(c.Origins, "*") || !d.Sound(origins) {
		return
	}
	if c.Credentials {
		credentials := strict.Join(at, "credentials")
		d.FailKey(d.Place(credentials), &strict.Fault{Code: codeCORSCredentials, Message: "credentials exclude the origin *",
			Hint: "list the origins that may read what is meant for a user"})
	}
	if len(c.Origins) > 1 {
		d.FailKey(d.Place(origins), &strict.Fault{Code: codeInvalidOrigin, Message: "* stands alone", Hint: "remove the others, or *"})
	}
}

// checkShared holds the policies that hold at a path against each other: of a field of CORS that stands in an answer twice
// browsers take neither.
func (d checker) checkShared(at string, p Policies) {
	headers, cors := strict.Join(at, "headers"), strict.Join(at, "cors")
	if p.CORS == nil || p.Headers == nil || !d.Given(headers) && !d.Given(cors) {
		return
	}
	response := strict.Join(headers, "response")
	for _, list := range []struct {
		name   string
		fields []HeaderField
	}{{"set", p.Headers.Response.Set}, {"add", p.Headers.Response.Add}} {
		for i, f := range list.fields {
			if !strings.HasPrefix(sameField(f.Name), "access-control-") {
				continue
			}
			fault := &strict.Fault{Code: codeReservedHeader, Message: fmt.Sprintf("cors writes %s", strict.Shorten(f.Name)), Hint: "remove one of the two"}
			if !d.Given(headers) {
				d.FailKey(d.Place(cors), fault)
				return
			}
			d.FailValue(d.Place(strict.Join(strict.Index(strict.Join(response, list.name), i), "name")), fault)
		}
	}
}

// checkHtpasswd reads the users of a basic_auth.
func (d checker) checkHtpasswd(path, file string) {
	text, ok := d.content(path, file)
	if !ok {
		return
	}
	if _, err := htpasswd.Parse(text); err != nil {
		d.FailValue(d.Place(path), &strict.Fault{Code: codeInvalidHtpasswd, Message: fmt.Sprintf("%s: %v", file, err),
			Hint: "make lines with: htpasswd -B -C 10 -c FILE USER"})
	}
}

// checkReplace holds the groups of a replacement against those of its expression. "$1x" is the group "1x".
func (d checker) checkReplace(at string, r *Replace) {
	expression, with := strict.Join(at, "regex"), strict.Join(at, "with")
	if !d.Sound(expression, with) || !d.Given(with) {
		return
	}
	re, err := regexp.Compile(r.Regex)
	if err != nil {
		return // said already
	}
	for name := range groupsIn(r.With) {
		number, err := strconv.Atoi(name)
		if err == nil && number > re.NumSubexp() || err != nil && re.SubexpIndex(name) < 0 {
			d.FailValue(d.Place(with), &strict.Fault{Code: codeInvalidReplacement,
				Message: fmt.Sprintf("the expression has no group %q", strict.Shorten(name)), Hint: "write ${1} where a letter or a digit follows, and $$ for a dollar"})
			return
		}
	}
}

// groupsIn are the names of groups in a replacement, as regexp.Expand reads them; one that it would take for a
// text is the empty name.
func groupsIn(with string) func(yield func(string) bool) {
	name := regexp.MustCompile(`^(?:\$|\{(\w+)\}|(\w+))`)
	return func(yield func(string) bool) {
		for {
			_, rest, found := strings.Cut(with, "$")
			if !found {
				return
			}
			m := name.FindStringSubmatch(rest)
			switch {
			case m == nil:
				yield("")
				return
			case m[0] != "$" && !yield(m[1]+m[2]):
				return
			}
			with = rest[len(m[0]):]
		}
	}
}

// checkEdits reports a field that two edits are about: removed and set, or set twice.
func (d checker) checkEdits(at string, e *HeaderEdits) {
	seen := make(claims)
	once := func(list string, i int, key, name string) {
		path := strict.Index(strict.Join(at, list), i)
		if key != "" {
			path = strict.Join(path, key)
		}
		d.unique(seen, sameField(name), path, codeDuplicateHeader, "set takes the place of all fields of the name")
	}
	for i, name := range e.Remove {
		once("remove", i, "", name)
	}
	for i, f := range e.Set {
		once("set", i, "name", f.Name)
	}
}
