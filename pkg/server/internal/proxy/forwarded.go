package proxy

import (
	"bytes"
	"iter"
	"net/netip"

	"github.com/scalws/scalws/pkg/server/internal/http1"
)

// Forwarded is how members are told about the client.
type Forwarded uint8

// The ways. The fields that a way has no use for are read from trusted peers all the same; see learn for
// which field is believed.
const (
	ForwardX       Forwarded = iota // X-Forwarded-For, -Proto and -Host
	ForwardRFC7239                  // the Forwarded field of RFC 7239, and no X-Forwarded field
	ForwardBoth
)

// appendForwarding writes the fields that tell the member about the client: from a trusted peer the lists grow
// and what it says of protocol and host stays; from anybody else they are ours alone. proto and host say
// which X-Forwarded fields were passed on.
func (x *exchange) appendForwarding(dst []byte, proto, host bool) []byte {
	if x.config.Forwarded != ForwardRFC7239 {
		dst = x.appendXForwarded(dst, proto, host)
	}
	if x.config.Forwarded != ForwardX || x.said.elements {
		dst = x.appendForwarded(dst)
	}
	return dst
}

func (x *exchange) appendXForwarded(dst []byte, proto, host bool) []byte {
	if x.c.peer.IsValid() {
		dst = append(dst, "X-Forwarded-For: "...)
		if x.trusted {
			dst = x.appendList(dst)
		}
		dst = x.c.peer.AppendTo(dst)
		dst = append(dst, "\r\n"...)
	}
	if !proto {
		dst = append(dst, "X-Forwarded-Proto: "...)
		dst = append(dst, x.askedProto(x.said.proto)...)
		dst = append(dst, "\r\n"...)
	}
	if !host {
		if name := x.askedHost(x.said.host); len(name) > 0 {
			dst = append(dst, "X-Forwarded-Host: "...)
			dst = append(dst, name...)
			dst = append(dst, "\r\n"...)
		}
	}
	return dst
}

// appendList writes the hops that a trusted peer sent, each with a comma behind it: its X-Forwarded-For, or
// where it has sent none the hops of Forwarded.
func (x *exchange) appendList(dst []byte) []byte {
	has := false
	for i := range x.req.Fields {
		if f := &x.req.Fields[i]; f.Known == http1.FieldXForwardedFor && !f.Hop {
			has = true
			if len(f.Value) > 0 {
				dst = append(dst, f.Value...)
				dst = append(dst, ", "...)
			}
		}
	}
	if has {
		return dst
	}
	for e := range x.elements() {
		if a, ok := parseHop(e.For); ok {
			dst = a.AppendTo(dst)
		} else {
			dst = append(dst, "unknown"...)
		}
		dst = append(dst, ", "...)
	}
	return dst
}

// appendForwarded writes the Forwarded field: what a trusted peer sent of it, or the hops of its X-Forwarded-For,
// and our element. Where members are told by X-Forwarded alone it has none of ours.
func (x *exchange) appendForwarded(dst []byte) []byte {
	field := len(dst)
	dst = append(dst, "Forwarded: "...)
	list := len(dst)
	var first said // goes with the first element that is made of the X-Forwarded fields
	switch {
	case x.said.elements:
		for e := range x.elements() {
			dst = e.Append(dst)
			dst = append(dst, ", "...)
		}
	case x.trusted:
		first = x.said
		for a := range x.hops() {
			dst = appendNode(dst, a)
			dst = appendAsked(dst, first.host, first.proto)
			dst = append(dst, ", "...)
			first = said{}
		}
	}
	switch {
	case x.config.Forwarded != ForwardX:
		dst = appendNode(dst, x.c.peer)
		dst = appendAsked(dst, x.askedHost(first.host), x.askedProto(first.proto))
	case len(dst) == list:
		return dst[:field]
	default:
		dst = dst[:len(dst)-len(", ")]
	}
	return append(dst, "\r\n"...)
}

// appendNode begins an element (RFC 7239 section 6). A hop without an address is unknown.
func appendNode(dst []byte, a netip.Addr) []byte {
	dst = append(dst, "for="...)
	switch {
	case !a.IsValid():
		return append(dst, "unknown"...)
	case a.Is4():
		return a.AppendTo(dst)
	}
	dst = append(dst, `"[`...)
	dst = a.AppendTo(dst)
	return append(dst, `]"`...)
}

// appendAsked adds to an element what the client asked for and how (RFC 7239 sections 5.3 and 5.4).
func appendAsked(dst, host, proto []byte) []byte {
	if len(host) > 0 {
		dst = append(dst, ";host="...)
		dst = http1.AppendTokenOrQuoted(dst, host)
	}
	if len(proto) > 0 {
		dst = append(dst, ";proto="...)
		dst = http1.AppendTokenOrQuoted(dst, proto)
	}
	return dst
}

// askedHost is the host that the client asked for, by what a trusted peer said or else by the request.
func (x *exchange) askedHost(said []byte) []byte {
	if said != nil {
		return said
	}
	return x.req.Host
}

// askedProto is how the client asked.
func (x *exchange) askedProto(said []byte) []byte {
	if said != nil {
		return said
	}
	return []byte(x.scheme())
}

// isXForwarded is true for X-Forwarded-Port, -Prefix and whatever else proxies have made up.
func isXForwarded(name []byte) bool {
	const prefix = "x-forwarded-"
	return len(name) > len(prefix) && http1.EqualFold(name[:len(prefix)], prefix)
}

// elements are the received elements of Forwarded, without those that cannot be read and all to their left.
func (x *exchange) elements() iter.Seq[http1.Forwarded] {
	return func(yield func(http1.Forwarded) bool) {
		for first, list := x.readable(http1.FieldForwarded, http1.ForwardedTail); first < len(x.req.Fields); first++ {
			if f := &x.req.Fields[first]; list == nil && f.Known == http1.FieldForwarded && !f.Hop {
				list = f.Value
			}
			for list != nil {
				var e http1.Forwarded
				if e, list, _ = http1.FirstForwarded(list); !yield(e) {
					return
				}
			}
		}
	}
}

// hops are the received hops of X-Forwarded-For, without those that cannot be read and all to their left. One
// that is unknown has no address.
func (x *exchange) hops() iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		for first, list := x.readable(http1.FieldXForwardedFor, hopsTail); first < len(x.req.Fields); first++ {
			if f := &x.req.Fields[first]; list == nil && f.Known == http1.FieldXForwardedFor && !f.Hop {
				list = f.Value
			}
			for more := list != nil; more; {
				var item []byte
				item, list, more = bytes.Cut(list, []byte{','})
				if a, _ := parseItem(item); !yield(a) {
					return
				}
			}
			list = nil
		}
	}
}

// readable finds where what can be read of a field that is a list begins: at list, in the field with the index
// first. It ends with the last field.
func (x *exchange) readable(known http1.Known, tail func(list []byte) ([]byte, bool)) (first int, list []byte) {
	first = len(x.req.Fields)
	for i := len(x.req.Fields) - 1; i >= 0; i-- {
		f := &x.req.Fields[i]
		if f.Known != known || f.Hop {
			continue
		}
		part, whole := tail(f.Value)
		if len(part) > 0 {
			first, list = i, part
		}
		if !whole {
			break
		}
	}
	return first, list
}

// hopsTail is the part of an X-Forwarded-For behind the last item that is no hop, and whether that is all of it.
func hopsTail(list []byte) (tail []byte, whole bool) {
	for rest, more := list, true; more; {
		var item []byte
		at := len(rest)
		item, rest, more = lastItem(rest)
		if _, ok := parseItem(item); !ok && !http1.EqualFold(bytes.Trim(item, " \t"), "unknown") {
			return list[min(at+1, len(list)):], false
		}
	}
	return list, true
}
