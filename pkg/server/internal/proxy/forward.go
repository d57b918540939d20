package proxy

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"

	"github.com/scalws/scalws/pkg/server/internal/http1"
)

// identify finds out who the client is and which id the request has. X-Forwarded-* is believed from
// trusted peers only.
func (x *exchange) identify() {
	x.trusted = x.isTrusted(x.c.peer)
	for i := range x.req.Fields {
		f := &x.req.Fields[i]
		switch {
		case f.Hop:
		case f.Known == http1.FieldXForwardedProto && x.trusted:
			x.secure = http1.EqualFold(f.Value, "https")
		case f.Known == http1.FieldXRequestID && x.idField == nil && sane(f.Value):
			x.idField = f.Value
		}
	}
	if x.trusted {
		x.client = x.forwardedClient()
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

func (x *exchange) isTrusted(a netip.Addr) bool {
	if !a.IsValid() {
		return false
	}
	for _, p := range x.config.TrustedProxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// forwardedClient reads X-Forwarded-For from the right: the first hop that is not a trusted proxy is the
// client. At something that is no address the last good hop stands.
func (x *exchange) forwardedClient() netip.Addr {
	client := x.c.peer
	for i := len(x.req.Fields) - 1; i >= 0; i-- {
		f := &x.req.Fields[i]
		if f.Known != http1.FieldXForwardedFor || f.Hop {
			continue
		}
		rest, more := f.Value, true
		for more {
			var hop []byte
			if j := bytes.LastIndexByte(rest, ','); j >= 0 {
				rest, hop = rest[:j], rest[j+1:]
			} else {
				hop, more = rest, false
			}
			a, ok := parseHop(string(bytes.Trim(hop, " \t")))
			if !ok {
				return client
			}
			client = a
			if !x.isTrusted(a) {
				return client
			}
		}
	}
	return client
}

// parseHop reads an address as proxies write it: bare, with a port, in brackets, in quotes, with a zone.
func parseHop(s string) (netip.Addr, bool) {
	s = strings.Trim(s, `"`)
	if a, err := netip.ParseAddr(s); err == nil {
		return a.Unmap().WithZone(""), true
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			a, err := netip.ParseAddr(inner)
			return a.Unmap().WithZone(""), err == nil
		}
	}
	ap, err := netip.ParseAddrPort(s)
	return ap.Addr().Unmap().WithZone(""), err == nil
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
	if x.runtime.PreserveHost && len(x.req.Host) > 0 {
		dst = append(dst, x.req.Host...)
	} else if strings.HasPrefix(address, "unix:") {
		dst = append(dst, "localhost"...)
	} else {
		dst = append(dst, address...)
	}
	dst = append(dst, "\r\n"...)

	proto, host := false, false
	for i := range x.req.Fields {
		f := &x.req.Fields[i]
		if f.Hop {
			continue
		}
		switch f.Known {
		case http1.FieldHost, http1.FieldContentLength, http1.FieldXForwardedFor, http1.FieldXRequestID, http1.FieldVia:
			continue
		case http1.FieldXForwardedProto:
			if !x.trusted {
				continue
			}
			proto = true
		case http1.FieldXForwardedHost:
			if !x.trusted {
				continue
			}
			host = true
		case http1.FieldForwarded:
			if !x.trusted {
				continue
			}
		case http1.FieldExpect:
			if !x.req.Expect100 {
				continue
			}
		}
		dst = http1.AppendField(dst, f.Name, f.Value)
	}
	dst = x.appendForwarded(dst, proto, host)
	dst = x.appendVia(dst)
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

// appendForwarded writes the X-Forwarded fields: from a trusted peer the list grows and what it says of
// protocol and host stays; from anybody else they are ours alone.
func (x *exchange) appendForwarded(dst []byte, proto, host bool) []byte {
	if x.trusted || x.c.peer.IsValid() {
		dst = append(dst, "X-Forwarded-For: "...)
		if x.trusted {
			for i := range x.req.Fields {
				if f := &x.req.Fields[i]; f.Known == http1.FieldXForwardedFor && !f.Hop && len(f.Value) > 0 {
					dst = append(dst, f.Value...)
					dst = append(dst, ", "...)
				}
			}
		}
		dst = x.c.peer.AppendTo(dst)
		dst = append(dst, "\r\n"...)
	}
	if !proto {
		dst = append(dst, "X-Forwarded-Proto: http\r\n"...)
	}
	if !host && len(x.req.Host) > 0 {
		dst = append(dst, "X-Forwarded-Host: "...)
		dst = append(dst, x.req.Host...)
		dst = append(dst, "\r\n"...)
	}
	return dst
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
