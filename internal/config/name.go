package config

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/scalws/scalws/pkg/lb"
)

// Bounds of texts, in bytes.
const (
	maxName      = 253
	maxFreeText  = 255
	maxRoutePath = 4096
	maxFilePath  = 4096 // the kernel's PATH_MAX
)

// freeText takes any text of 1 to 255 printable characters.
func freeText() form[string] {
	return form[string]{wants: "a text", bound: "1 to 255 bytes", parse: func(text string) (string, *fault) {
		if text == "" {
			return "", &fault{code: codeInvalidText, message: "must not be empty"}
		}
		if len(text) > maxFreeText {
			return "", outOfRange("1", "255 bytes")
		}
		if i := strings.IndexFunc(text, isControl); i >= 0 {
			return "", &fault{code: codeInvalidText, message: "must not hold control characters"}
		}
		return text, nil
	}}
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// name takes what pools, tenants, applications and listeners are called.
func name() form[string] {
	return form[string]{wants: "a name", bound: "letters, digits, _ . -; 1 to 253 characters", parse: parseName}
}

func parseName(text string) (string, *fault) {
	const rule = "a name is 1 to 253 characters: a letter or a digit, then letters, digits, _, . and -"
	switch {
	case text == "":
		return "", &fault{code: codeInvalidName, message: "must not be empty", hint: rule}
	case len(text) > maxName:
		return "", &fault{code: codeInvalidName, message: fmt.Sprintf("must have at most %d characters", maxName), hint: rule}
	case !isAlphanumeric(text[0]):
		return "", &fault{code: codeInvalidName, message: "must begin with a letter or a digit", hint: rule}
	}
	for _, r := range text {
		if r >= 0x80 || !isAlphanumeric(byte(r)) && !strings.ContainsRune("_.-", r) {
			return "", &fault{code: codeInvalidName, message: fmt.Sprintf("must not hold %q", r), hint: rule}
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

// domain takes "example.com", "*.example.com" and "*", in lower case.
func domain() form[string] {
	return form[string]{wants: "a domain", bound: "example.com, *.example.com or *", parse: func(text string) (string, *fault) {
		if text == "*" {
			return text, nil
		}
		text = lowerASCII(text)
		if why, hint := notHost(strings.TrimPrefix(text, "*.")); why != "" {
			return "", &fault{code: codeInvalidDomain, message: why, hint: hint}
		}
		return text, nil
	}}
}

// hostName takes a host name or an IP address.
func hostName() form[string] {
	return form[string]{wants: "a host name or an IP address", parse: func(text string) (string, *fault) {
		if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
			return a.Unmap().String(), nil
		}
		text = lowerASCII(text)
		if why, hint := notHost(text); why != "" {
			return "", &fault{code: codeInvalidHostName, message: why, hint: hint}
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

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// routePath takes the path of a request, as it is written there (RFC 3986 section 3.3).
func routePath() form[string] {
	return form[string]{wants: "a path", bound: "begins with /, 1 to 4096 bytes", parse: func(text string) (string, *fault) {
		invalid := func(message, hint string) (string, *fault) {
			return "", &fault{code: codeInvalidRoutePath, message: message, hint: hint}
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
		return text, nil
	}}
}
