package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scalws/scalws/internal/strict"
)

// maxRedirect is how long the place that a redirect leads to may be, in bytes.
const maxRedirect = 2 << 10

// Placeholder is a part of a request in the place that it is redirected to.
type Placeholder string

// The placeholders. All but Scheme and Host are empty or begin with the character that separates them from what
// stands in front, so that no request can reach out of the part that it is in.
const (
	Scheme Placeholder = "scheme"
	Host   Placeholder = "host"  // less its port
	Path   Placeholder = "path"  // as the client has sent it
	Rest   Placeholder = "rest"  // of the path, behind that of the route
	Query  Placeholder = "query" // with its question mark
)

// LocationPart is a text, or a placeholder where the text is empty.
type LocationPart struct {
	Text string
	Of   Placeholder
}

// Location are the parts of Redirect.To.
func Location(to string) []LocationPart {
	parts, _ := splitLocation(to)
	return parts
}

func splitLocation(to string) (parts []LocationPart, unknown string) {
	for to != "" {
		text, rest, found := strings.Cut(to, "{")
		if text != "" {
			parts = append(parts, LocationPart{Text: text})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		switch p := Placeholder(name); p {
		case Scheme, Host, Path, Rest, Query:
			if !closed {
				return nil, "{" + name
			}
			parts = append(parts, LocationPart{Of: p})
		default:
			return nil, "{" + name
		}
		to = after
	}
	return parts, ""
}

// location takes the place that a redirect leads to, with placeholders or without. What stands in front of the path must be
// certain: a request that could choose the host would make of the daemon a way to every other place.
func location(placeholders bool) strict.Form[string] {
	scheme, bound, hint := "[Hh][Tt][Tt][Pp][Ss]?", "", ""
	if placeholders {
		scheme, bound, hint = scheme+`|\{scheme\}`, ", with placeholders", "write {host} for that of the request"
	}
	bound = fmt.Sprintf("/path or https://host/path%s, 1 to %d bytes", bound, maxRedirect)
	schema := append(strict.Pattern(`^(/([!-.0-[\]-z|}~]|$)|(`+scheme+`)://[^/?#])[!-~]*$`), strict.Entry{Key: "maxLength", Value: maxRedirect})
	return strict.Form[string]{Wants: "a text", Bound: bound, Schema: schema, Parse: func(text string) (string, *strict.Fault) {
		invalid := func(message, hint string) (string, *strict.Fault) {
			return "", &strict.Fault{Code: codeInvalidRedirect, Message: message, Hint: hint}
		}
		if text == "" || len(text) > maxRedirect {
			return "", strict.OutOfRange("1", fmt.Sprintf("%d bytes", maxRedirect))
		}
		if !isVisible(text, "") {
			return invalid("must have visible ASCII characters only", "write others percent-encoded")
		}
		if !placeholders && strings.Contains(text, "{") {
			return invalid("must not hold {", "write it percent-encoded; a policy redirect has placeholders")
		}
		if _, unknown := splitLocation(text); unknown != "" {
			return invalid(fmt.Sprintf("%s is no placeholder", strict.Shorten(unknown)), "they are {scheme}, {host}, {path}, {rest} and {query}")
		}
		if strings.HasPrefix(text, "/") {
			if second := strings.TrimPrefix(text, "/"); second != "" && strings.ContainsAny(second[:1], "/{\\") {
				return invalid("a path goes on with a text of its own behind the first /", "else it could lead to another host")
			}
			return text, nil
		}
		scheme, rest, _ := strings.Cut(text, "://")
		scheme = lowerASCII(scheme)
		switch {
		case scheme == "http", scheme == "https", placeholders && scheme == "{scheme}":
		case placeholders:
			return invalid("must begin with /, http://, https:// or {scheme}://", "")
		default:
			return invalid("must begin with /, http:// or https://", "")
		}
		host := rest
		if i := strings.IndexAny(strings.NewReplacer("{path}", "/_____", "{rest}", "/_____", "{query}", "?______").Replace(rest), "/?#"); i >= 0 {
			host = rest[:i]
		}
		if !endsHost(rest[len(host):]) {
			return invalid("what follows {rest} or {query}, which may be empty, would go on with the host", "write a / behind the host")
		}
		if host == "" || strings.ContainsAny(host, "@\\") {
			return invalid("there is no host behind ://, or a user in front of it", hint)
		}
		if _, fault := authority().Parse(strings.ReplaceAll(host, "{host}", "host")); fault != nil {
			return invalid(fmt.Sprintf("%s: %s", strict.Shorten(host), fault.Message), hint)
		}
		return scheme + "://" + rest, nil
	}}
}

// endsHost is true for what can follow a host and is no part of it, whatever the request is.
func endsHost(text string) bool {
	for {
		after, empty := strings.CutPrefix(text, "{rest}")
		if !empty {
			after, empty = strings.CutPrefix(text, "{query}")
		}
		if !empty {
			return text == "" || strings.ContainsAny(text[:1], "/?#") || strings.HasPrefix(text, "{path}")
		}
		text = after
	}
}

// redirectStatuses are those that lead to a Location (RFC 9110 section 15.4).
func redirectStatuses() []int { return []int{301, 302, 303, 307, 308} }

// checkRedirectStatus holds the status of the redirect at a path against them.
func (d checker) checkRedirectStatus(at string, status int) {
	path := strict.Join(at, "status")
	if d.Given(path) && d.Sound(path) && !slices.Contains(redirectStatuses(), status) {
		d.FailValue(d.Place(path), &strict.Fault{Code: codeInvalidRedirect, Message: "must be 301, 302, 303, 307 or 308",
			Hint: "307 and 308 keep the method, 301 and 308 are for good"})
	}
}
