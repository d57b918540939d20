// Package uripath is the one form of a path that configuration and requests are compared in.
//
// Two paths that name the same have one clean form: each segment is decoded and encoded again in one way. What may
// stand in a segment as it is (RFC 3986 section 3.3) does, everything else is percent-encoded in upper case, and the
// segments "." and ".." are resolved. That goes beyond section 6.2.2, by which "%40" need not be "@": servers decode
// both to the same name, and what is compared here decides who may read it. Nothing else is changed: "%2F" is no slash
// and "//" is not "/". A '%' without digits behind it, which no URI has and many clients send, is itself: "%25".
package uripath

import "bytes"

// Clean is the clean form of a path that begins with "/" and has no query: the path itself where it is clean
// already, else what is appended to space, which must not be a part of it.
func Clean(space, path []byte) []byte {
	if isClean(path) {
		return path
	}
	const digits = "0123456789ABCDEF"
	out := space[:0]
	for i := 0; i < len(path); i++ {
		c, encoded := decode(path[i:])
		switch {
		case encoded:
			i += 2
		case path[i] == '/':
			out = append(out, '/')
			continue
		default:
			c = path[i]
		}
		if isPlain(c) {
			out = append(out, c)
		} else {
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	return resolve(out)
}

// isClean is false for what might be written otherwise.
func isClean(path []byte) bool {
	for _, c := range path {
		if !isPlain(c) && c != '/' {
			return false
		}
	}
	return !bytes.Contains(path, []byte("/."))
}

// isPlain is true for what stands in a segment as it is: "pchar" of section 3.3, less what is encoded.
func isPlain(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', '@' <= c && c <= 'Z', '&' <= c && c <= ';' && c != '/':
		return true // the digits, and & ' ( ) * + , - . : ; among them
	}
	return c == '!' || c == '$' || c == '=' || c == '_' || c == '~'
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
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
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
