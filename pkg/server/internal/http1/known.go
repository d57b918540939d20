package http1

// Known tells the fields apart that the proxy acts on, so that nobody compares names twice.
type Known uint8

// The known fields. FieldOther is every other one.
const (
	FieldOther Known = iota
	FieldHost
	FieldConnection
	FieldKeepAlive
	FieldProxyConnection
	FieldTE
	FieldTrailer
	FieldTransferEncoding
	FieldUpgrade
	FieldContentLength
	FieldExpect
	FieldCookie
	FieldSetCookie
	FieldVia
	FieldDate
	FieldServer
	FieldForwarded
	FieldXForwardedFor
	FieldXForwardedHost
	FieldXForwardedProto
	FieldXRequestID
	FieldUserAgent
	FieldProxyAuthenticate
	FieldProxyAuthorization
	FieldProxyAuthenticationInfo
	FieldRetryAfter
)

// know finds the field of a name, which is a token, whatever its case. Length and first letter leave one candidate.
func know(name []byte) Known {
	first := name[0] | 0x20
	candidate, lower := FieldOther, ""
	switch len(name) {
	case 2:
		candidate, lower = FieldTE, "te"
	case 3:
		candidate, lower = FieldVia, "via"
	case 4:
		switch first {
		case 'h':
			candidate, lower = FieldHost, "host"
		case 'd':
			candidate, lower = FieldDate, "date"
		}
	case 6:
		switch first {
		case 'c':
			candidate, lower = FieldCookie, "cookie"
		case 'e':
			candidate, lower = FieldExpect, "expect"
		case 's':
			candidate, lower = FieldServer, "server"
		}
	case 7:
		switch first {
		case 't':
			candidate, lower = FieldTrailer, "trailer"
		case 'u':
			candidate, lower = FieldUpgrade, "upgrade"
		}
	case 9:
		candidate, lower = FieldForwarded, "forwarded"
	case 10:
		switch first {
		case 'c':
			candidate, lower = FieldConnection, "connection"
		case 'k':
			candidate, lower = FieldKeepAlive, "keep-alive"
		case 's':
			candidate, lower = FieldSetCookie, "set-cookie"
		case 'u':
			candidate, lower = FieldUserAgent, "user-agent"
		}
	case 11:
		candidate, lower = FieldRetryAfter, "retry-after"
	case 12:
		candidate, lower = FieldXRequestID, "x-request-id"
	case 14:
		candidate, lower = FieldContentLength, "content-length"
	case 15:
		candidate, lower = FieldXForwardedFor, "x-forwarded-for"
	case 16:
		switch first {
		case 'p':
			candidate, lower = FieldProxyConnection, "proxy-connection"
		case 'x':
			candidate, lower = FieldXForwardedHost, "x-forwarded-host"
		}
	case 17:
		switch first {
		case 't':
			candidate, lower = FieldTransferEncoding, "transfer-encoding"
		case 'x':
			candidate, lower = FieldXForwardedProto, "x-forwarded-proto"
		}
	case 18:
		candidate, lower = FieldProxyAuthenticate, "proxy-authenticate"
	case 19:
		candidate, lower = FieldProxyAuthorization, "proxy-authorization"
	case 25:
		candidate, lower = FieldProxyAuthenticationInfo, "proxy-authentication-info"
	}
	if candidate == FieldOther || first != lower[0] || !isName(name, lower) {
		return FieldOther
	}
	return candidate
}

// isName compares a token with a name of its length made of lower-case letters and '-'. No byte of a
// token but those two cases of a letter, and '-' itself, becomes one of these with bit 0x20 set.
func isName(token []byte, lower string) bool {
	token = token[:len(lower)]
	for i := range token {
		if token[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

// isHop reports whether a field is for the next hop only, whatever Connection says: the list of
// RFC 9110 section 7.6.1, with Trailer, which announces a chunked body's trailers to whoever decodes
// it (we do), and the proxy authentication fields (section 11.7), which speak about this proxy.
func (k Known) isHop() bool {
	switch k {
	case FieldConnection, FieldKeepAlive, FieldProxyConnection, FieldTE, FieldTrailer, FieldTransferEncoding,
		FieldUpgrade, FieldProxyAuthenticate, FieldProxyAuthorization, FieldProxyAuthenticationInfo:
		return true
	}
	return false
}
