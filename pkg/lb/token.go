package lb

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// token is the first 16 bytes of the HMAC-SHA256 of a member's address; a cookie has it in hex.
type token [16]byte

func newToken(key []byte, address string) token {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(address))
	return token(mac.Sum(nil)[:len(token{})])
}

// String is the token as 32 lower-case hex digits.
func (t token) String() string { return hex.EncodeToString(t[:]) }

// parseToken accepts exactly what String returns.
func parseToken(b []byte) (t token, ok bool) {
	if len(b) != 2*len(t) {
		return t, false
	}
	for i, c := range b {
		var digit byte
		switch {
		case '0' <= c && c <= '9':
			digit = c - '0'
		case 'a' <= c && c <= 'f':
			digit = c - 'a' + 10
		default:
			return t, false
		}
		t[i/2] = t[i/2]<<4 | digit
	}
	return t, true
}

// TokenKey is the key of an affinity token. It is false unless the token names a member in rotation, up
// or on probation: a member that is gone or ejected is replaced by round robin.
func (p *Pool) TokenKey(now time.Time, text []byte) (Key, bool) {
	t, ok := parseToken(text)
	if !ok {
		return Key{}, false
	}
	m, ok := p.roster.Load().tokens[t]
	if !ok || m.ejectedAt(p.at(now)) {
		return Key{}, false
	}
	return Key{kind: tokenKey, named: m}, true
}
