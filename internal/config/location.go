package config

import (
	"fmt"
	"strings"

	"github.com/scalws/scalws/internal/strict"
)

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

// location takes the place that a redirect leads to. What stands in front of the path must be certain: a request that
// could choose the host would make of the daemon a way to every other place.
func location() strict.Form[string] {
	bound := fmt.Sprintf("/path or https://host/path, with placeholders, 1 to %d bytes", maxRedirect)
	schema := append(strict.Pattern(`^(/|https?://|\{scheme\}://)[!-~]*$`), strict.Entry{Key: "maxLength", Value: maxRedirect})
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
		if _, unknown := splitLocation(text); unknown != "" {
			return invalid(fmt.Sprintf("%s is no placeholder", strict.Shorten(unknown)), "they are {scheme}, {host}, {path}, {rest} and {query}")
		}
		if strings.HasPrefix(text, "/") {
			if second := strings.TrimPrefix(text, "/"); second != "" && strings.ContainsAny(second[:1], "/{\\") {
				return invalid("a path goes on with a text of its own behind the first /", "else a request could lead to another host")
			}
			return text, nil
		}
		scheme, rest, _ := strings.Cut(text, "://")
		if scheme != "http" && scheme != "https" && scheme != "{scheme}" {
			return invalid("must begin with /, http://, https:// or {scheme}://", "")
		}
		host := rest
		if i := strings.IndexAny(strings.NewReplacer("{path}", "/_____", "{rest}", "/_____", "{query}", "?______").Replace(rest), "/?#"); i >= 0 {
			host = rest[:i]
		}
		if host == "" || strings.ContainsAny(host, "@\\") {
			return invalid("there is no host behind ://, or a user in front of it", "write {host} for that of the request")
		}
		if _, fault := authority().Parse(strings.ReplaceAll(host, "{host}", "host")); fault != nil {
			return invalid(fmt.Sprintf("%s: %s", strict.Shorten(host), fault.Message), "write {host} for that of the request")
		}
		return text, nil
	}}
}
