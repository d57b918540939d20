// Package uripath is the one form of a path that configuration and requests are compared in.
//
// Two paths that are the same by RFC 3986 section 6.2.2 have one clean form: what is percent-encoded without
// need is decoded, hexadecimal digits are upper-case, and the segments "." and ".." are resolved. Nothing else is
// changed: "%2F" is no slash and "//" is not "/". A '%' without digits behind it, which no URI has and many clients
// send, is itself: "%25".
package uripath

import "bytes"

// Clean is the clean form of a path that begins with "/" and has no query: the path itself where it is clean
// already, else what is appended to space, which must not be a part of it.
func Clean(space, path []byte) []byte {
	if isClean(path) {
		return path
	}
	out := space[:0]
	for i := 0; i < len(path); i++ {
		c, ok := decode(path[i:])
		switch {
		case !ok && path[i] == '%':
			out = append(out, "%25"...)
			continue
		case !ok:
			out = append(out, path[i])
			continue
		case isUnreserved(c):
			out = append(out, c)
		default:
			out = append(out, '%', upper(path[i+1]), upper(path[i+2]))
		}
		i += 2
	}
	return resolve(out)
}

// isClean is false for what might be written otherwise.
func isClean(path []byte) bool {
	return bytes.IndexByte(path, '%') < 0 && !bytes.Contains(path, []byte("/."))
}

// decode is the byte that a path begins with in its percent-encoded form (RFC 3986 section 2.1).
func decode(path []byte) (c byte, ok bool) {
	if len(path) < 3 || path[0] != '%' {
		return 0, false
	}
	high, a := digit(path[1])
	low, b := digit(path[2])
	return high<<4 | low, a && b
}

func digit(c byte) (n byte, ok bool) {
	switch c = upper(c); {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}

// isUnreserved is true for what means the same whether it is encoded or not (section 2.3).
func isUnreserved(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '-' || c == '.' || c == '_' || c == '~'
}

// resolve takes "." and ".." out of a path, in place (section 5.2.4). There is nothing above the root.
func resolve(path []byte) []byte {
	kept := 0
	for at := 0; at < len(path); {
		end := len(path)
		if i := bytes.IndexByte(path[at+1:], '/'); i >= 0 {
			end = at + 1 + i
		}
		switch string(path[at+1 : end]) {
		case "..":
			kept = max(bytes.LastIndexByte(path[:kept], '/'), 0)
			fallthrough
		case ".":
			if end == len(path) { // what it leads to is a folder
				path[kept] = '/'
				kept++
			}
		default:
			kept += copy(path[kept:], path[at:end])
		}
		at = end
	}
	return path[:kept]
}
