package proxy

import (
	"math"
	"strconv"

	"github.com/scalws/scalws/pkg/server/internal/http1"
)

// methods are those that are forwarded.
const methods = "GET, HEAD, OPTIONS, PUT, DELETE, POST, PATCH"

const maxForwards = "max-forwards"

// lastHop answers an OPTIONS that the client wants to get no further than here, and is false for all other requests. How
// much further an OPTIONS may get is what Max-Forwards says, in which we count (RFC 9110 section 7.6.2). A value that is no
// number says nothing, and is passed on.
func (x *exchange) lastHop() bool {
	if x.req.Method != http1.OPTIONS {
		return false
	}
	value, _ := x.joined(maxForwards, false)
	if len(value) == 0 {
		return false
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return false
		}
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		n = math.MaxInt64
	}
	if n > 0 {
		x.further = n
		return false
	}
	x.settle()
	x.startAnswer(204)
	out := http1.AppendFieldString(x.c.out, "Allow", methods)
	x.c.out = append(x.appendConnection(x.appendEdited(out)), "\r\n"...)
	x.endAnswer()
	return true
}

// appendFurther tells the member how much further it may send the request.
func (x *exchange) appendFurther(dst []byte) []byte {
	dst = append(dst, "Max-Forwards: "...)
	dst = strconv.AppendInt(dst, x.further-1, 10)
	return append(dst, "\r\n"...)
}
