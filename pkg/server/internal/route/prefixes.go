package route

import (
	"cmp"
	"math/bits"
)

// prefixes finds the longest of many path prefixes in one pass over a path, however many there are: at each border of
// the path where a prefix may end it looks once into a table of hashes. Among ten thousand applications what costs time
// is memory that was not looked at for long, so that a prefix and its first choice lie in their place of the table.
type prefixes[T any] struct {
	// table has each prefix in the place of its hash, or in the next free one. It is a power of two long and at most half
	// full.
	table []prefix[T]
	// levels has a bit for each number of borders in front of an end; the last one stands for all above.
	levels uint64
	// most is the length of the longest prefix.
	most int
}

// prefix is a path with its choices; the empty one is a free place.
type prefix[T any] struct {
	path  string
	first candidate[T]
	more  choices[T]
}

// fnvOffset and fnvPrime are of FNV-1a, which takes a byte at a time. Nobody gains by two equal hashes: paths of requests
// are not kept.
const (
	fnvOffset = 0xcbf29ce484222325
	fnvPrime  = 0x100000001b3
)

// newPrefixes makes the table. same has one text for each path, since most applications have the same few.
func newPrefixes[T any](all map[string]choices[T], same map[string]string) prefixes[T] {
	if len(all) == 0 {
		return prefixes[T]{}
	}
	p := prefixes[T]{table: make([]prefix[T], 1<<bits.Len(uint(2*len(all)-1)))}
	for path, c := range all {
		if _, known := same[path]; !known {
			same[path] = path
		}
		path = same[path]
		p.most = max(p.most, len(path))
		borders(path, func(level int, hash uint64, end int) bool {
			if end == len(path) {
				p.levels |= 1 << level
				*p.free(hash) = prefix[T]{path, c[0], c[1:]}
			}
			return true
		})
	}
	return p
}

// free is the place for a path that is not there yet.
func (p *prefixes[T]) free(hash uint64) *prefix[T] {
	at := p.place(hash)
	for p.table[at].path != "" {
		at = (at + 1) % len(p.table)
	}
	return &p.table[at]
}

// place is where the look for a hash begins.
func (p *prefixes[T]) place(hash uint64) int { return int(hash>>32) & (len(p.table) - 1) }

// borders calls see at each end of a prefix that a path may have: behind each slash and in front of it, and at the end of
// the path. It goes on while that is true.
func borders[P string | []byte](path P, see func(level int, hash uint64, end int) bool) {
	const last = 63
	hash, level := uint64(fnvOffset), 0
	for i := range len(path) {
		if path[i] == '/' && i > 0 {
			if !see(min(level, last), hash, i) {
				return
			}
			level++
		}
		hash = (hash ^ uint64(path[i])) * fnvPrime
		if path[i] == '/' {
			if !see(min(level, last), hash, i+1) {
				return
			}
			level++
		}
	}
	if len(path) > 0 && path[len(path)-1] != '/' {
		see(min(level, last), hash, len(path))
	}
}

// find is the candidate of the longest prefix whose conditions hold; nil: there is none.
func (p *prefixes[T]) find(r *Request) (best *candidate[T]) {
	if len(p.table) == 0 || len(r.Clean) == 0 || r.Clean[0] != '/' {
		return nil
	}
	borders(r.Clean, func(level int, hash uint64, end int) bool {
		if p.levels&(1<<level) != 0 && end <= p.most {
			if here := p.at(hash, r.Clean[:end]); here != nil {
				best = cmp.Or(here.pick(r), best)
			}
		}
		return p.levels>>level > 1 && end < p.most || level == 63 && end < p.most
	})
	return best
}

func (p *prefix[T]) pick(r *Request) *candidate[T] {
	if p.first.hold(r) {
		return &p.first
	}
	return p.more.pick(r)
}

// at is the prefix that is exactly this path; nil: there is none.
func (p *prefixes[T]) at(hash uint64, path []byte) *prefix[T] {
	for at := p.place(hash); ; at = (at + 1) % len(p.table) {
		switch here := &p.table[at]; here.path {
		case "":
			return nil
		case string(path):
			return here
		}
	}
}
