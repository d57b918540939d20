package logins

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// mostRemembered bounds the logins that are remembered: in two halves, the newer of which becomes the older one
// when it is full, so that those in use stay.
const mostRemembered = 8192

// remembered are logins that were right. Of a login it has a digest under a secret of its own: no password is kept,
// and who sees a digest without the secret has nothing to guess against.
type remembered struct {
	secret [sha256.Size]byte

	mu           sync.Mutex
	newer, older map[digest]struct{}
}

type digest [sha256.Size]byte

// id is the digest of a login. The secret stands in front: a digest is never shown, so that nobody could lengthen
// what was digested.
func (r *remembered) id(user, password []byte) digest {
	var space [512]byte
	text := append(space[:0], r.secret[:]...)
	text = binary.BigEndian.AppendUint32(text, uint32(len(user)))
	text = append(text, user...)
	return sha256.Sum256(append(text, password...))
}

func (r *remembered) has(d digest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.newer[d]; ok {
		return true
	}
	if _, ok := r.older[d]; ok {
		r.put(d)
		return true
	}
	return false
}

func (r *remembered) add(d digest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(d)
}

// put makes d one of the newer ones. The caller holds mu.
func (r *remembered) put(d digest) {
	if len(r.newer) >= mostRemembered/2 {
		r.newer, r.older = nil, r.newer
	}
	if r.newer == nil {
		r.newer = make(map[digest]struct{})
	}
	r.newer[d] = struct{}{}
}
