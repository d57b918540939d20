package htpasswd

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// Bounds of what a hash may cost. A request that brings a password has to wait for it, and others with it.
const (
	maxBcryptCost = 16
	maxMemory     = 256 << 10 // KiB
	maxTime       = 16
	maxThreads    = 16
	minSalt       = 8
	minKey        = 16
	maxKey        = 64 // of a salt, too
)

var errUnknownHash = errors.New("the hash is neither bcrypt ($2y$) nor argon2id ($argon2id$)")

// parseHash reads a hash by what it begins with.
func parseHash(text string) (hash, error) {
	switch {
	case strings.HasPrefix(text, "$argon2id$"):
		return parseArgon2id(text)
	case strings.HasPrefix(text, "$2a$"), strings.HasPrefix(text, "$2b$"), strings.HasPrefix(text, "$2y$"):
		return parseBcrypt(text)
	}
	return nil, errUnknownHash
}

// bcryptHash is in the form of crypt(3). Of a password it takes the first 72 bytes.
type bcryptHash struct {
	text []byte
	log2 int
}

// bcryptLen is the length of every such hash.
const bcryptLen = 60

func parseBcrypt(text string) (hash, error) {
	cost, err := bcrypt.Cost([]byte(text))
	switch {
	case err != nil || len(text) != bcryptLen:
		return nil, errors.New("the bcrypt hash is malformed")
	case cost > maxBcryptCost:
		return nil, fmt.Errorf("the cost of the bcrypt hash is above %d", maxBcryptCost)
	}
	return bcryptHash{[]byte(text), cost}, nil
}

func (h bcryptHash) matches(password []byte) bool {
	return bcrypt.CompareHashAndPassword(h.text, password) == nil
}

func (h bcryptHash) cost() int64 { return 50 << h.log2 }

// argon2idHash is in the PHC string format: $argon2id$v=19$m=65536,t=3,p=4$SALT$KEY (RFC 9106 section 3.1 names the
// parameters).
type argon2idHash struct {
	memory, time uint32 // in KiB, in passes
	threads      uint8
	salt, key    []byte
}

func parseArgon2id(text string) (hash, error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return nil, errors.New("the argon2id hash is malformed, or not of version 19")
	}
	var h argon2idHash
	var rest string
	if n, _ := fmt.Sscanf(parts[3]+" ", "m=%d,t=%d,p=%d%s", &h.memory, &h.time, &h.threads, &rest); n != 3 {
		return nil, errors.New("the argon2id hash has no m=,t=,p=")
	}
	if h.time < 1 || h.time > maxTime || h.threads < 1 || h.threads > maxThreads || h.memory < 8*uint32(h.threads) || h.memory > maxMemory {
		return nil, fmt.Errorf("the argon2id hash has m above %d, t above %d or p above %d, or less than there can be", maxMemory, maxTime, maxThreads)
	}
	var errSalt, errKey error
	h.salt, errSalt = base64.RawStdEncoding.DecodeString(parts[4])
	h.key, errKey = base64.RawStdEncoding.DecodeString(parts[5])
	if errSalt != nil || errKey != nil || len(h.salt) < minSalt || len(h.salt) > maxKey || len(h.key) < minKey || len(h.key) > maxKey {
		return nil, fmt.Errorf("the argon2id hash has a salt of %d to %d and a key of %d to %d bytes, in base64 without =", minSalt, maxKey, minKey, maxKey)
	}
	return h, nil
}

func (h argon2idHash) matches(password []byte) bool {
	key := argon2.IDKey(password, h.salt, h.time, h.memory, h.threads, uint32(len(h.key)))
	return subtle.ConstantTimeCompare(key, h.key) == 1
}

func (h argon2idHash) cost() int64 { return int64(h.memory) * int64(h.time) }
