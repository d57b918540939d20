package lb

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"
)

const (
	unixPrefix = "unix:"
	// maxUnixPath is what fits into a socket address (sun_path) with its final zero byte.
	maxUnixPath = 107
	// maxHost and maxLabel bound a host name (RFC 1035 section 2.3.4).
	maxHost  = 253
	maxLabel = 63
)

// ParseAddress returns the canonical form of a member's address: host names in lower case, IPv6 in
// brackets and in its shortest form, IPv4-mapped IPv6 as IPv4, the port without leading zeros. A unix
// socket is "unix:" and a clean absolute path. Nothing is resolved. Errors say what to do.
func ParseAddress(s string) (string, error) {
	if path, ok := strings.CutPrefix(s, unixPrefix); ok {
		return parseUnix(path)
	}
	switch {
	case s == "":
		return "", errors.New("is empty: write host:port")
	case strings.Contains(s, "://"):
		return "", errors.New("has a scheme: write host:port without it")
	case strings.Contains(s, "/"):
		return "", errors.New("has a path: write host:port without it")
	}
	host, port, err := splitPort(s)
	if err != nil {
		return "", err
	}
	if host, err = parseHost(host); err != nil {
		return "", err
	}
	number, err := parsePort(port)
	if err != nil {
		return "", err
	}
	return host + ":" + number, nil
}

// IsUnix reports whether a canonical address is a unix socket.
func IsUnix(address string) bool { return strings.HasPrefix(address, unixPrefix) }

func parseUnix(p string) (string, error) {
	if !path.IsAbs(p) {
		return "", errors.New("is not an absolute path: write unix:/path/to/socket")
	}
	if strings.IndexByte(p, 0) >= 0 {
		return "", errors.New("has a zero byte in its path")
	}
	clean := path.Clean(p)
	switch {
	case strings.HasSuffix(p, "/") || clean == "/":
		return "", errors.New("is a directory: write unix:/path/to/socket")
	case len(clean) > maxUnixPath:
		return "", fmt.Errorf("has a path of %d bytes: a unix socket can have %d", len(clean), maxUnixPath)
	}
	return unixPrefix + clean, nil
}

// splitPort divides host:port or [ipv6]:port. The brackets stay with the host.
func splitPort(s string) (host, port string, err error) {
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return "", "", errors.New("has no closing bracket: write [ipv6]:port")
		}
		host, rest := s[:end+1], s[end+1:]
		if !strings.HasPrefix(rest, ":") {
			return "", "", errors.New("has no port: write [ipv6]:port")
		}
		return host, rest[1:], nil
	}
	colon := strings.IndexByte(s, ':')
	switch {
	case colon < 0:
		return "", "", errors.New("has no port: write host:port")
	case strings.Count(s, ":") > 1:
		return "", "", errors.New("has several colons: write IPv6 addresses as [ipv6]:port")
	case colon == 0:
		return "", "", errors.New("has no host: write host:port")
	}
	return s[:colon], s[colon+1:], nil
}

func parsePort(s string) (string, error) {
	if s == "" {
		return "", errors.New("has no port: write host:port")
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return "", fmt.Errorf("has the port %q: it must be a number between 1 and 65535", s)
		}
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("has the port %s: it must be between 1 and 65535", s)
	}
	return strconv.Itoa(n), nil
}

func parseHost(host string) (string, error) {
	if strings.HasPrefix(host, "[") {
		return parseIPv6(host[1 : len(host)-1])
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String(), nil
	}
	return parseName(host)
}

func parseIPv6(s string) (string, error) {
	if strings.Contains(s, "%") {
		return "", errors.New("has a zone: write the address without it")
	}
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is6() {
		return "", fmt.Errorf("has %q in brackets: only an IPv6 address can stand there", s)
	}
	if a.Is4In6() {
		return a.Unmap().String(), nil
	}
	return "[" + a.String() + "]", nil
}

// parseName checks a host name: letters, digits, hyphens and, because real zones have them, underscores.
// A final dot (an absolute name) stays, because it changes what a resolver does.
func parseName(s string) (string, error) {
	name := strings.TrimSuffix(strings.ToLower(s), ".")
	if len(name) > maxHost {
		return "", fmt.Errorf("has a host name of %d bytes: at most %d are possible", len(name), maxHost)
	}
	label := ""
	for label = range strings.SplitSeq(name, ".") {
		if err := checkLabel(label); err != nil {
			return "", err
		}
	}
	// RFC 3696 section 2: the last label of a name is never all digits, so this is a mistyped address.
	if strings.Trim(label, "0123456789") == "" {
		return "", fmt.Errorf("has the host %q: it is neither an IPv4 address nor a host name", s)
	}
	return strings.ToLower(s), nil
}

func checkLabel(label string) error {
	switch {
	case label == "":
		return errors.New("has an empty part in its host name")
	case len(label) > maxLabel:
		return fmt.Errorf("has a part of %d bytes in its host name: at most %d are possible", len(label), maxLabel)
	case label[0] == '-' || label[len(label)-1] == '-':
		return fmt.Errorf("has the part %q in its host name: it must not begin or end with a hyphen", label)
	}
	for _, c := range label {
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_':
		case c > 127:
			return fmt.Errorf("has %q in its host name: write international names in their xn-- form", c)
		default:
			return fmt.Errorf("has %q in its host name: letters, digits, hyphens and dots are possible", c)
		}
	}
	return nil
}
