package proxy

import (
	"bytes"
	"net/netip"
	"unsafe"

	"github.com/scalws/scalws/pkg/server/internal/http1"
)

// said is what trusted proxies say of the client's request. It is empty where none has spoken.
type said struct {
	proto, host []byte // nil: nothing that can be used
	// elements is true if it is the received Forwarded field that goes on in ours, and not X-Forwarded-For.
	elements bool
}

// learn finds out who the client is and how it asked. Only trusted peers are believed, and where they send
// both X-Forwarded-For and Forwarded only the one that the configuration prefers: a proxy that maintains one
// of them passes on whatever the client has put into the other.
func (x *exchange) learn() {
	x.said = said{}
	x.trusted = x.config.trusts(x.c.peer)
	if x.trusted {
		x.believe()
	}
	if x.said.proto != nil {
		x.secure = http1.EqualFold(x.said.proto, "https")
	} else {
		x.secure = x.scheme() == "https"
	}
}

// believe takes from a trusted peer's fields who the client is, and what is said of it.
func (x *exchange) believe() {
	hasList, hasElements := false, false
	var s said
	for i := range x.req.Fields {
		f := &x.req.Fields[i]
		if f.Hop {
			continue
		}
		switch f.Known {
		case http1.FieldXForwardedFor:
			hasList = true
		case http1.FieldForwarded:
			hasElements = true
		case http1.FieldXForwardedProto:
			s.proto = f.Value
		case http1.FieldXForwardedHost:
			s.host = f.Value
		}
	}
	rfc7239 := x.config.Forwarded == ForwardRFC7239
	if rfc7239 && hasElements {
		s.proto, s.host = nil, nil // Forwarded alone speaks
	}
	s.elements = hasElements
	if !hasElements || hasList && !rfc7239 {
		x.client = x.fromList()
		// An agreeing Forwarded says more than the list; another one is not ours to vouch for.
		if hasElements && x.config.Forwarded == ForwardBoth {
			client, _, _ := x.fromElements()
			s.elements = client == x.client
		}
	} else {
		var proto, host []byte
		x.client, proto, host = x.fromElements()
		if s.proto == nil {
			s.proto = proto
		}
		if s.host == nil {
			s.host = host
		}
	}
	if !http1.IsScheme(s.proto) {
		s.proto = nil
	}
	if !http1.IsAuthority(s.host) {
		s.host = nil
	}
	x.said = s
}

// scheme is how the peer speaks to us.
func (x *exchange) scheme() string {
	if x.c.secure {
		return "https"
	}
	return "http"
}

// fromList reads X-Forwarded-For from the right: the first hop that is not a trusted proxy is the client. At
// something that is no address the last good hop stands.
func (x *exchange) fromList() netip.Addr {
	client := x.c.peer
	for i := len(x.req.Fields) - 1; i >= 0; i-- {
		f := &x.req.Fields[i]
		if f.Known != http1.FieldXForwardedFor || f.Hop {
			continue
		}
		for list, more := f.Value, true; more; {
			var item []byte
			item, list, more = lastItem(list)
			a, ok := parseItem(item)
			if !ok {
				return client
			}
			client = a
			if !x.config.trusts(a) {
				return client
			}
		}
	}
	return client
}

// fromElements reads Forwarded by the same rule. An element was written by the hop that the one to its right
// names, or by the peer, so that what trusted proxies say of protocol and host is in the elements up to the
// client's own; the leftmost of those that say it was nearest to the client.
func (x *exchange) fromElements() (client netip.Addr, proto, host []byte) {
	client = x.c.peer
	for i := len(x.req.Fields) - 1; i >= 0; i-- {
		f := &x.req.Fields[i]
		if f.Known != http1.FieldForwarded || f.Hop {
			continue
		}
		for list, more := f.Value, true; more; more = list != nil {
			e, before, ok := http1.LastForwarded(list)
			if !ok {
				return client, proto, host
			}
			if e.Proto != nil {
				proto = e.Proto
			}
			if e.Host != nil {
				host = e.Host
			}
			a, ok := parseHop(e.For)
			if !ok {
				return client, proto, host // unknown, or a name that its proxy made up (RFC 7239 section 6)
			}
			client, list = a, before
			if !x.config.trusts(a) {
				return client, proto, host
			}
		}
	}
	return client, proto, host
}

// lastItem cuts the last item off a list without quoted commas.
func lastItem(list []byte) (item, before []byte, more bool) {
	i := bytes.LastIndexByte(list, ',')
	if i < 0 {
		return list, nil, false
	}
	return list[i+1:], list[:i], true
}

// parseItem reads an item of X-Forwarded-For, which some proxies put in quotes.
func parseItem(item []byte) (netip.Addr, bool) {
	return parseHop(bytes.Trim(bytes.Trim(item, " \t"), `"`))
}

// parseHop reads an address as proxies write it: bare, with a port, in brackets, with a zone. The port may be
// one that the proxy made up (RFC 7239 section 6).
func parseHop(b []byte) (netip.Addr, bool) {
	host, port := b, []byte(nil)
	if len(b) > 0 && b[0] == '[' {
		end := bytes.IndexByte(b, ']')
		if end < 0 {
			return netip.Addr{}, false
		}
		host, port = b[1:end], b[end+1:]
	} else if i := bytes.IndexByte(b, ':'); i >= 0 && i == bytes.LastIndexByte(b, ':') {
		host, port = b[:i], b[i:]
	}
	if len(port) > 0 && !isNodePort(port) {
		return netip.Addr{}, false
	}
	if i := bytes.IndexByte(host, '%'); i >= 0 {
		if i+1 == len(host) || bytes.IndexByte(host[:i], ':') < 0 {
			return netip.Addr{}, false
		}
		host = host[:i] // a zone means nothing on another machine
	}
	// Without a zone an address keeps nothing of the text that it was read from, so that no copy of the
	// text is needed.
	a, err := netip.ParseAddr(unsafe.String(unsafe.SliceData(host), len(host)))
	return a.Unmap(), err == nil
}

// isNodePort takes a colon and a node-port (RFC 7239 section 6).
func isNodePort(b []byte) bool {
	if len(b) < 2 || b[0] != ':' {
		return false
	}
	if b[1] == '_' {
		return len(b) > 2
	}
	n := 0
	for _, c := range b[1:] {
		if c < '0' || c > '9' {
			return false
		}
		if n = n*10 + int(c-'0'); n > 65535 {
			return false
		}
	}
	return true
}
