package http1

import "bytes"

// IsAuthority reports whether b is uri-host [ ":" port ] (RFC 9110 section 7.2) with a host that is not
// empty. Of the IP literals of RFC 3986 section 3.2.2 it takes IPv6 addresses, without a zone, which
// means nothing on another machine.
func IsAuthority(b []byte) bool {
	port := portOf(b)
	host := b[:len(b)-len(port)]
	if len(host) == 0 || !isPort(port) {
		return false
	}
	if host[0] == '[' {
		return host[len(host)-1] == ']' && isIPv6(host[1:len(host)-1])
	}
	return isRegName(host)
}

// portOf returns the colon and the port at the end of an authority, or nothing.
func portOf(b []byte) []byte {
	i := bytes.LastIndexByte(b, ':')
	if i < 0 || bytes.IndexByte(b[i:], ']') >= 0 {
		return nil
	}
	return b[i:]
}

// isPort takes no port, a colon without one (RFC 3986 section 3.2.3), and a colon with 0 to 65535.
func isPort(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if len(b) > 6 {
		return false
	}
	n := 0
	for _, c := range b[1:] {
		if c < '0' || c > '9' {
			return false
		}
		n = n*10 + int(c-'0')
	}
	return n <= 65535
}

func isRegName(b []byte) bool {
	for i := 0; i < len(b); i++ {
		if class[b[i]]&regName != 0 {
			continue
		}
		if b[i] != '%' || i+2 >= len(b) || class[b[i+1]]&hex == 0 || class[b[i+2]]&hex == 0 {
			return false
		}
		i += 2
	}
	return true
}

// isIPv6 takes the text forms of RFC 4291 section 2.2. It stands in for netip.ParseAddr, which
// wants a string.
func isIPv6(b []byte) bool {
	before, after, gap := bytes.Cut(b, []byte("::"))
	if !gap {
		return countGroups(b, true) == 8
	}
	n, m := countGroups(before, false), countGroups(after, true)
	return n >= 0 && m >= 0 && n+m < 8
}

// countGroups counts the 16-bit groups of a part of an IPv6 address, which may end in an IPv4 address
// if mixed. It returns -1 if the part is invalid.
func countGroups(b []byte, mixed bool) int {
	n := 0
	for more := len(b) > 0; more; n++ {
		var group []byte
		group, b, more = bytes.Cut(b, []byte{':'})
		switch {
		case isHextet(group):
		case mixed && !more && isIPv4(group):
			n++
		default:
			return -1
		}
	}
	return n
}

func isHextet(b []byte) bool {
	for _, c := range b {
		if class[c]&hex == 0 {
			return false
		}
	}
	return 1 <= len(b) && len(b) <= 4
}

func isIPv4(b []byte) bool {
	for part := range 4 {
		n, i := 0, 0
		for i < len(b) && i < 3 && '0' <= b[i] && b[i] <= '9' {
			n = n*10 + int(b[i]-'0')
			i++
		}
		if i == 0 || n > 255 || i > 1 && b[0] == '0' {
			return false
		}
		b = b[i:]
		if part < 3 {
			if len(b) == 0 || b[0] != '.' {
				return false
			}
			b = b[1:]
		}
	}
	return len(b) == 0
}

// sameAuthority reports whether two authorities are one, given the default port (":80") of the scheme.
func sameAuthority(a, b []byte, defaultPort string) bool {
	return sameFold(withoutPort(a, defaultPort), withoutPort(b, defaultPort))
}

func withoutPort(b []byte, defaultPort string) []byte {
	if port := portOf(b); len(port) == 1 || string(port) == defaultPort {
		return b[:len(b)-len(port)]
	}
	return b
}
