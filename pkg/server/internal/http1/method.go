package http1

// Method is a request method. Methods are case-sensitive (RFC 9110 section 9.1): "get" is another one.
type Method uint8

// The methods of RFC 9110 section 9.3 and RFC 5789. MethodOther is every other one.
const (
	MethodOther Method = iota
	GET
	HEAD
	OPTIONS
	PUT
	DELETE
	POST
	PATCH
	CONNECT
	TRACE
)

// Idempotent reports whether a request may be sent again after it may have been acted on. TRACE
// would be idempotent too (RFC 9110 section 9.2.2), but is not passed on.
func (m Method) Idempotent() bool { return GET <= m && m <= DELETE }

func parseMethod(b []byte) Method {
	switch string(b) {
	case "GET":
		return GET
	case "HEAD":
		return HEAD
	case "OPTIONS":
		return OPTIONS
	case "PUT":
		return PUT
	case "DELETE":
		return DELETE
	case "POST":
		return POST
	case "PATCH":
		return PATCH
	case "CONNECT":
		return CONNECT
	case "TRACE":
		return TRACE
	}
	return MethodOther
}
