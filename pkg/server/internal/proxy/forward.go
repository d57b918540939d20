package proxy

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"strconv"

	"github.com/scalws/scalws/pkg/server/internal/http1"
	"github.com/scalws/scalws/pkg/server/internal/route"
)

// identify finds out who the client is and which id the request has.
func (x *exchange) identify() {
	x.learn()
	for i := range x.req.Fields {
		if f := &x.req.Fields[i]; f.Known == http1.FieldXRequestID && !f.Hop && x.idField == nil && sane(f.Value) {
			x.idField = f.Value
		}
	}
	if x.idField == nil {
		var b [16]byte
		for i := 0; i < len(b); i += 8 {
			v := rand.Uint64()
			for j := range 8 {
				b[i+j] = byte(v >> (8 * j))
			}
		}
		hex.Encode(x.id[:], b[:])
		x.idField = x.id[:]
	}
}

// sane is true for a request id that is safe to pass on and to log.
func sane(id []byte) bool {
	if len(id) == 0 || len(id) > 128 {
		return false
	}
	for _, c := range id {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case bytes.IndexByte([]byte("-_.:/+=@~"), c) >= 0:
		default:
			return false
		}
	}
	return true
}

// appendRequestHead writes the head that goes to a member: what the client sent, less the hop-by-hop
// fields (RFC 9110 section 7.6.1), plus what a proxy adds.
func (x *exchange) appendRequestHead(dst []byte, address string) []byte {
	dst = http1.AppendRequestLine(dst, x.req.MethodText, x.req.Path)
	dst = append(dst, "Host: "...)
	dst = x.appendHost(dst, address)
	dst = append(dst, "\r\n"...)

	keep := x.trusted && x.config.Forwarded != ForwardRFC7239
	edits, _, _ := x.edits()
	proto, host := false, false // X-Forwarded-Proto and -Host were passed on
	for i := range x.req.Fields {
		f := &x.req.Fields[i]
		if f.Hop {
			continue
		}
		switch f.Known {
		case http1.FieldHost, http1.FieldContentLength, http1.FieldForwarded, http1.FieldXForwardedFor, http1.FieldXRequestID, http1.FieldVia:
			continue
		case http1.FieldXForwardedProto:
			if !keep {
				continue
			}
			proto = true
		case http1.FieldXForwardedHost:
			if !keep {
				continue
			}
			host = true
		case http1.FieldOther:
			if x.config.Forwarded == ForwardRFC7239 && isXForwarded(f.Name) || poses(f.Name) || x.further > 0 && http1.EqualFold(f.Name, maxForwards) {
				continue
			}
		case http1.FieldExpect:
			if !x.req.Expect100 {
				continue
			}
		}
		if edits.Drops(f.Name) {
			continue
		}
		dst = http1.AppendField(dst, f.Name, f.Value)
	}
	dst = edits.Append(dst)
	dst = x.appendForwarding(dst, proto, host)
	dst = x.appendVia(dst)
	if x.further > 0 && !edits.Drops([]byte(maxForwards)) {
		dst = x.appendFurther(dst)
	}
	dst = append(dst, "X-Request-Id: "...)
	dst = append(dst, x.idField...)
	dst = append(dst, "\r\n"...)
	if len(x.req.Upgrade) > 0 {
		dst = append(dst, "Upgrade: "...)
		dst = append(dst, x.req.Upgrade...)
		dst = append(dst, "\r\nConnection: Upgrade\r\n"...)
	}
	switch {
	case x.req.Body == http1.ChunkedBody:
		dst = append(dst, "Transfer-Encoding: chunked\r\n"...)
	case x.req.HasLength:
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, max(x.req.ContentLength, 0), 10)
		dst = append(dst, "\r\n"...)
	}
	return append(dst, "\r\n"...)
}

// poses is true for a field that some members cannot tell from one by which we tell them about the client.
func poses(name []byte) bool {
	if bytes.IndexByte(name, '_') < 0 {
		return false
	}
	for _, ours := range [...]string{"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-request-id"} {
		if route.SameField(name, ours) {
			return true
		}
	}
	return false
}

// appendVia adds us to the proxies on the way (RFC 9110 section 7.6.3).
func (x *exchange) appendVia(dst []byte) []byte {
	dst = append(dst, "Via: "...)
	for i := range x.req.Fields {
		if f := &x.req.Fields[i]; f.Known == http1.FieldVia && !f.Hop && len(f.Value) > 0 {
			dst = append(dst, f.Value...)
			dst = append(dst, ", "...)
		}
	}
	switch {
	case x.c.stream != nil:
		return append(dst, "2.0 scalws\r\n"...)
	case x.req.Minor == 0:
		return append(dst, "1.0 scalws\r\n"...)
	default:
		return append(dst, "1.1 scalws\r\n"...)
	}
}
