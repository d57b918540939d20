package http1

// maxForbiddenTrailer is the longest name that MayBeTrailer refuses.
const maxForbiddenTrailer = len("proxy-authentication-info")

// MayBeTrailer reports whether a field may be passed on as a trailer. RFC 9110 section 6.5.1 forbids those that
// must be known before the body: framing, routing, request modifiers, authentication, what tells
// caches and clients how to treat the response, and how to read the content. What members trust us
// to have written (X-Forwarded-*, X-Request-Id) belongs to routing.
func MayBeTrailer(name []byte) bool {
	if len(name) > maxForbiddenTrailer {
		return true
	}
	var lower [maxForbiddenTrailer]byte
	for i, c := range name {
		if lower[i] = lowerByte(c); c == '_' {
			lower[i] = '-' // programs behind CGI take the one for the other (RFC 3875 section 4.1.18)
		}
	}
	switch string(lower[:len(name)]) {
	case "content-length", "transfer-encoding", "trailer", "te", "connection", "keep-alive", "proxy-connection", "upgrade":
		return false
	case "host", "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-request-id", "x-real-ip":
		return false
	case "cache-control", "expect", "max-forwards", "pragma", "range",
		"if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range":
		return false
	case "authorization", "www-authenticate", "proxy-authenticate", "proxy-authorization",
		"proxy-authentication-info", "cookie", "set-cookie":
		return false
	case "age", "date", "expires", "location", "retry-after", "vary", "warning":
		return false
	case "content-encoding", "content-type", "content-range", "content-location":
		return false
	}
	return true
}
