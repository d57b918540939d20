package config

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/internal/uripath"
	"github.com/scalws/scalws/pkg/lb"
)

// Bounds of texts, in bytes.
const (
	maxName      = 253
	maxRoutePath = 4096
	maxFilePath  = 4096 // the kernel's PATH_MAX
)

// name takes what pools, tenants, applications and listeners are called.
func name() strict.Form[string] {
	schema := append(strict.Pattern("^[A-Za-z0-9][A-Za-z0-9_.-]*$"), strict.Entry{Key: "maxLength", Value: maxName})
	return strict.Form[string]{Wants: "a name", Bound: "letters, digits, _ . -; 1 to 253 characters", Schema: schema, Parse: parseName}
}

func parseName(text string) (string, *strict.Fault) {
	const rule = "a name is 1 to 253 characters: a letter or a digit, then letters, digits, _, . and -"
	switch {
	case text == "":
		return "", &strict.Fault{Code: codeInvalidName, Message: "must not be empty", Hint: rule}
	case len(text) > maxName:
		return "", &strict.Fault{Code: codeInvalidName, Message: fmt.Sprintf("must have at most %d characters", maxName), Hint: rule}
	case !isAlphanumeric(text[0]):
		return "", &strict.Fault{Code: codeInvalidName, Message: "must begin with a letter or a digit", Hint: rule}
	}
	for _, r := range text {
		if r >= 0x80 || !isAlphanumeric(byte(r)) && !strings.ContainsRune("_.-", r) {
			return "", &strict.Fault{Code: codeInvalidName, Message: fmt.Sprintf("must not hold %q", r), Hint: rule}
		}
	}
	return text, nil
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// isToken is the rule for header names and for cookie names (RFC 9110 section 5.6.2, RFC 6265
// section 4.1.1).
func isToken(s string) bool {
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(s[i])) {
			return false
		}
	}
	return s != ""
}

// domain takes "example.com", "*.example.com" and "*", in lower case. An international name is kept in the form
// that requests carry it in (RFC 5891 section 5).
func domain() strict.Form[string] {
	const international = "\u00a1-\U0010ffff"
	schema := strict.Pattern(`^(\*|(\*\.)?[0-9A-Za-z_.` + international + `-]*[0-9A-Za-z_` + international + `-])$`)
	return strict.Form[string]{Wants: "a domain", Bound: "example.com, *.example.com or *", Schema: schema, Parse: func(text string) (string, *strict.Fault) {
		if text == "*" {
			return text, nil
		}
		below, wildcard := strings.CutPrefix(lowerASCII(text), "*.")
		if !isASCII(below) {
			ascii, err := idna.Lookup.ToASCII(below)
			if err != nil {
				return "", &strict.Fault{Code: codeInvalidDomain, Message: fmt.Sprintf("%q is no international name", strict.Shorten(below))}
			}
			below = ascii
		}
		if why, hint := notHost(below); why != "" {
			return "", &strict.Fault{Code: codeInvalidDomain, Message: why, Hint: hint}
		}
		if wildcard {
			return "*." + below, nil
		}
		return below, nil
	}}
}

// hostName takes a host name or an IP address.
func hostName() strict.Form[string] {
	return strict.Form[string]{Wants: "a host name or an IP address", Schema: strict.Pattern("^[0-9A-Za-z_.:-]+$"), Parse: func(text string) (string, *strict.Fault) {
		if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
			return a.Unmap().String(), nil
		}
		text = lowerASCII(text)
		if why, hint := notHost(text); why != "" {
			return "", &strict.Fault{Code: codeInvalidHostName, Message: why, Hint: hint}
		}
		return text, nil
	}}
}

// notHost says why a text in lower case is no host, and what to do. What a label may hold is the
// engine's rule for members.
func notHost(text string) (why, hint string) {
	switch {
	case text == "":
		return "must not be empty", ""
	case strings.Contains(text, "://"):
		return "must be a name without a scheme", "remove everything up to ://"
	case strings.ContainsAny(text, "/?#"):
		return "must be a name without a path", "paths belong to routes"
	case strings.ContainsAny(text, ":[]"):
		return "must be a name without a port", "write only the host"
	case strings.Contains(text, "*"):
		return "* can only be the whole first label", "write *.example.com, or * for every domain"
	case strings.HasSuffix(text, "."):
		return "must not end with a dot", "remove the dot"
	}
	if _, err := lb.ParseAddress(text + ":80"); err != nil {
		return err.Error(), ""
	}
	return "", ""
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// routePath takes the path of a request, as it is written there (RFC 3986 section 3.3), in the form that it is
// compared in.
func routePath() strict.Form[string] {
	schema := append(strict.Pattern(`^/[!"$-)+->@-~]*$`), strict.Entry{Key: "maxLength", Value: maxRoutePath})
	return strict.Form[string]{Wants: "a path", Bound: "begins with /, 1 to 4096 bytes", Schema: schema, Parse: func(text string) (string, *strict.Fault) {
		invalid := func(message, hint string) (string, *strict.Fault) {
			return "", &strict.Fault{Code: codeInvalidRoutePath, Message: message, Hint: hint}
		}
		if !strings.HasPrefix(text, "/") {
			return invalid("must begin with /", "")
		}
		if len(text) > maxRoutePath {
			return invalid(fmt.Sprintf("must have at most %d bytes", maxRoutePath), "")
		}
		for _, r := range text {
			switch {
			case r == '?':
				return invalid("must not hold a query", "routes look at the path only")
			case r == '#':
				return invalid("must not hold a fragment", "clients do not send it")
			case r == '*':
				return invalid("must not hold *", "a path takes everything below it: /api takes /api/x")
			case r <= ' ' || r >= 0x7f:
				return invalid(fmt.Sprintf("must not hold %q", r), "write it percent-encoded, as in a request")
			}
		}
		for segment := range strings.SplitSeq(text[1:], "/") {
			if segment == "." || segment == ".." {
				return invalid("must not have the segment "+segment, "write the path that it leads to")
			}
		}
		clean := string(uripath.Clean(nil, []byte(text)))
		if strings.Contains(clean, "*") {
			return invalid("must not hold an encoded *", "a regex can fit it: [*]")
		}
		return clean, nil
	}}
}
