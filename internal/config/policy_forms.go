package config

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// method takes a request method. Methods are case-sensitive (RFC 9110 section 9.1).
func method() strict.Form[string] {
	return strict.Form[string]{Wants: "a text", Bound: "GET, POST and so on", Schema: strict.Pattern("^[A-Z0-9!#$%&'*+.^_`|~-]+$"), Parse: func(text string) (string, *strict.Fault) {
		const longest = 64 // that a request may have
		invalid := func(message, hint string) (string, *strict.Fault) {
			return "", &strict.Fault{Code: codeInvalidMethod, Message: message, Hint: hint}
		}
		switch up := strings.ToUpper(text); {
		case !isToken(text) || len(text) > longest:
			return invalid(fmt.Sprintf("%q cannot be a method", strict.Shorten(text)), tokenHint)
		case up != text:
			return invalid(fmt.Sprintf("%s is another method than %s", strict.Shorten(text), strict.Shorten(up)), "write it in capitals")
		case up == "CONNECT" || up == "TRACE":
			return invalid(up+" is never forwarded", "every such request gets 405")
		}
		return text, nil
	}}
}

// fieldName takes the name of a header field.
func fieldName() strict.Form[string] {
	return strict.Form[string]{Wants: "a text", Bound: "the name of a header field", Schema: strict.Pattern(tokenExpression), Parse: func(text string) (string, *strict.Fault) {
		if !isToken(text) || len(text) > maxName {
			return "", &strict.Fault{Code: codeInvalidHeaderName,
				Message: fmt.Sprintf("%q cannot be the name of a header", strict.Shorten(text)), Hint: tokenHint}
		}
		return text, nil
	}}
}

// fieldNameOrAll also takes "*", which is a token.
func fieldNameOrAll() strict.Form[string] {
	f := fieldName()
	f.Bound += ", or *"
	return f
}

// matchedField takes a field that a route may look at. Those of a connection end here, but for Upgrade, which says what
// the request is for.
func matchedField() strict.Form[string] {
	return withoutFields(fieldName(), "routes do not look at it, or in another way: domains, or basic_auth", "host", "authorization",
		"connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding")
}

// editedField takes a field that a policy may change. Those that say where a message ends or what becomes of a
// connection are the daemon's, and so are those that tell members about clients: a second one would contradict it.
func editedField(request bool) strict.Form[string] {
	reserved := []string{"connection", "content-length", "host", "keep-alive", "proxy-authenticate", "proxy-authentication-info",
		"proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
	if request {
		reserved = append(reserved, "expect", "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-request-id")
	} else {
		reserved = append(reserved, "date")
	}
	return withoutFields(fieldName(), "the daemon writes it, or acts by it", reserved...)
}

// sameField is the name of a field in the form that tells fields apart: a member may take "_" for "-".
func sameField(name string) string { return strings.ReplaceAll(lowerASCII(name), "_", "-") }

func withoutFields(f strict.Form[string], hint string, names ...string) strict.Form[string] {
	parse := f.Parse
	f.Parse = func(text string) (string, *strict.Fault) {
		if slices.Contains(names, sameField(text)) {
			return "", &strict.Fault{Code: codeReservedHeader, Message: fmt.Sprintf("%s cannot stand here", text), Hint: hint}
		}
		return parse(text)
	}
	return f
}

// fieldValue takes the value of a field (RFC 9110 section 5.5) in the bytes that everybody reads alike.
func fieldValue() strict.Form[string] {
	bound := fmt.Sprintf("1 to %d visible ASCII characters and spaces between", maxHeaderValue)
	schema := append(strict.Pattern("^[!-~]([ \t!-~]*[!-~])?$"), strict.Entry{Key: "maxLength", Value: maxHeaderValue})
	return strict.Form[string]{Wants: "a text", Bound: bound, Schema: schema, Parse: func(text string) (string, *strict.Fault) {
		if text == "" || len(text) > maxHeaderValue || !isVisible(text, " \t") || strings.Trim(text, " \t") != text {
			return "", &strict.Fault{Code: codeInvalidHeaderValue, Message: fmt.Sprintf("must have %s, found %q", bound, strict.Shorten(text))}
		}
		return text, nil
	}}
}

// realm takes the text of a challenge, which is written in quotes (RFC 9110 section 11.5).
func realm() strict.Form[string] {
	const most = 255
	return strict.Form[string]{Wants: "a text", Bound: "1 to 255 visible ASCII characters and spaces", Schema: strict.Pattern(`^[ !#-[\]-~]{1,255}$`), Parse: func(text string) (string, *strict.Fault) {
		switch {
		case text == "" || len(text) > most:
			return "", strict.OutOfRange("1", "255 bytes")
		case !isVisible(text, " ") || strings.ContainsAny(text, `"\`):
			return "", &strict.Fault{Code: strict.CodeInvalidText, Message: `must have visible ASCII characters and spaces, less " and \`}
		}
		return text, nil
	}}
}

// regex takes a regular expression (https://github.com/google/re2/wiki/Syntax), which needs time in proportion to
// the text that it is held against.
func regex() strict.Form[string] {
	bound := fmt.Sprintf("RE2, 1 to %d bytes", maxRegex)
	schema := strict.Shown{{Key: "type", Value: "string"}, {Key: "minLength", Value: 1}, {Key: "maxLength", Value: maxRegex}}
	return strict.Form[string]{Wants: "a text", Bound: bound, Schema: schema, Parse: func(text string) (string, *strict.Fault) {
		if text == "" || len(text) > maxRegex {
			return "", strict.OutOfRange("1", fmt.Sprintf("%d bytes", maxRegex))
		}
		if _, err := regexp.Compile(text); err != nil {
			return "", &strict.Fault{Code: codeInvalidRegex, Message: strings.TrimPrefix(err.Error(), "error parsing regexp: "),
				Hint: "RE2 has no backreferences and does not look around"}
		}
		return text, nil
	}}
}

// partialPath takes a path that is a part of another one. It does not end with a slash.
func partialPath() strict.Form[string] {
	f := routePath()
	parse := f.Parse
	f.Parse = func(text string) (string, *strict.Fault) {
		text, fault := parse(text)
		if fault == nil && strings.Trim(text, "/") == "" {
			return "", &strict.Fault{Code: codeInvalidRoutePath, Message: "must be more than /", Hint: "remove it: it changes nothing"}
		}
		return strings.TrimRight(text, "/"), fault
	}
	return f
}

// replacement takes what comes into a path.
func replacement() strict.Form[string] {
	bound := fmt.Sprintf("at most %d visible ASCII characters, less ? and #", maxReplacement)
	schema := append(strict.Pattern(`^[!"$->@-~]*$`), strict.Entry{Key: "maxLength", Value: maxReplacement})
	return strict.Form[string]{Wants: "a text", Bound: bound, Schema: schema, Parse: func(text string) (string, *strict.Fault) {
		if len(text) > maxReplacement || !isVisible(text, "") || strings.ContainsAny(text, "?#") {
			return "", &strict.Fault{Code: codeInvalidReplacement, Message: "must have " + bound, Hint: "a rewritten path keeps its query as it is"}
		}
		return text, nil
	}}
}

// authority takes a host with or without a port.
func authority() strict.Form[string] {
	return strict.Form[string]{Wants: "a host", Bound: "host or host:port", Schema: strict.Pattern("^[^/?#@ ]+$"), Parse: func(text string) (string, *strict.Fault) {
		if host, _, _ := strings.Cut(text, ":"); !isASCII(text) {
			ascii, err := idna.Lookup.ToASCII(host)
			if err != nil {
				return "", &strict.Fault{Code: codeInvalidHostName, Message: fmt.Sprintf("%q is no international name", strict.Shorten(host))}
			}
			text = ascii + text[len(host):]
		}
		if a, err := netip.ParseAddr(text); err == nil && a.Unmap().Is6() && a.Zone() == "" {
			return "[" + a.String() + "]", nil
		}
		if inside, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inside, "]") {
			if a, err := netip.ParseAddr(strings.TrimSuffix(inside, "]")); err == nil && a.Is6() && a.Zone() == "" {
				return "[" + a.String() + "]", nil
			}
		}
		if strings.Contains(text, ":") && !strings.Contains(text, "//") && !lb.IsUnix(text) {
			address, err := lb.ParseAddress(text)
			if err != nil {
				return "", &strict.Fault{Code: codeInvalidHostName, Message: err.Error()}
			}
			return address, nil
		}
		return hostName().Parse(text)
	}}
}

// origin takes "*" and what browsers send in Origin (RFC 6454 section 6.2): scheme, host and a port that is not the
// scheme's own.
func origin() strict.Form[string] {
	return strict.Form[string]{Wants: "an origin", Bound: "https://host, with a port where it is not the default one, or *", Schema: strict.Pattern(`^(\*|[^/]+://[^/?#@*]+)$`), Parse: func(text string) (string, *strict.Fault) {
		invalid := func(hint string) (string, *strict.Fault) {
			return "", &strict.Fault{Code: codeInvalidOrigin,
				Message: fmt.Sprintf("must be an origin such as https://app.example.com, found %q", strict.Shorten(text)), Hint: hint}
		}
		if text == "*" {
			return text, nil
		}
		scheme, host, ok := strings.Cut(lowerASCII(text), "://")
		switch {
		case !ok || !isToken(scheme):
			return invalid("write its scheme, https://")
		case strings.ContainsAny(host, "/?#@"):
			return invalid("an origin has no path: remove what follows the host")
		case strings.Contains(host, "*"):
			return invalid("origins are compared as a whole: list them")
		case scheme == "https" && strings.HasSuffix(host, ":443"), scheme == "http" && strings.HasSuffix(host, ":80"):
			return invalid("browsers leave out the port that the scheme has anyway")
		}
		host, fault := authority().Parse(host)
		if fault != nil {
			return invalid(fault.Message)
		}
		return scheme + "://" + host, nil
	}}
}
