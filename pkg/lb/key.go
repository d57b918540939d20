package lb

import (
	"encoding/binary"
	"net/netip"
)

// Key is what a request brings that may decide its member. The zero value is no key: round robin.
type Key struct {
	hash  uint64
	kind  keyKind
	named *member
}

type keyKind uint8

const (
	// noKey must stay zero.
	noKey keyKind = iota
	hashKey
	tokenKey
)

// TextKey is the key of a header's value; an empty one gives the zero Key. The same bytes give the same
// key in every process, on every architecture and in every release.
func TextKey(b []byte) Key {
	if len(b) == 0 {
		return Key{}
	}
	return Key{kind: hashKey, hash: digest(keyBasis, b)}
}

// AddrKey is the key of a client's address. An IPv4-mapped IPv6 address has the key of the IPv4 address
// and a zone does not count. An invalid address gives the zero Key.
func AddrKey(a netip.Addr) Key {
	switch a = a.Unmap(); {
	case a.Is4():
		b := a.As4()
		return TextKey(b[:])
	case a.Is6():
		b := a.As16()
		return TextKey(b[:])
	default:
		return Key{}
	}
}

// Where the digests of keys and of members start: different places, so that a key that spells an address
// has nothing to do with it. The digits of pi's fraction, for want of a reason for others.
const (
	keyBasis    = 0x243f6a8885a308d3
	memberBasis = 0x13198a2e03707344
)

// digest is a 64-bit hash of a text: little-endian words of 8 bytes, the last one padded with zeros, each
// xored in and mixed, and the length at the end.
func digest(basis uint64, b []byte) uint64 {
	h, n := basis, len(b)
	for ; len(b) >= 8; b = b[8:] {
		h = mix(h ^ binary.LittleEndian.Uint64(b))
	}
	var tail [8]byte
	copy(tail[:], b)
	return mix(mix(h^binary.LittleEndian.Uint64(tail[:])) ^ uint64(n))
}

// Odd multipliers of the mixers: the golden ratio's and the silver ratio's fractions.
const (
	golden = 0x9e3779b97f4a7c15
	silver = 0x6a09e667f3bcc909
)

// mix is a bijection of 64 bits in which every input bit changes about half of the output's.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= golden
	x ^= x >> 29
	x *= silver
	x ^= x >> 32
	return x
}
