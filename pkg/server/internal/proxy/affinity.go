package proxy

import (
	"bytes"
	"strconv"
	"time"

	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/http1"
)

// cookieKey is the key of the first affinity cookie that names a member in rotation. The Cookie field
// itself reaches the member unchanged.
func (x *exchange) cookieKey() lb.Key {
	for i := range x.req.Fields {
		f := &x.req.Fields[i]
		if f.Known != http1.FieldCookie {
			continue
		}
		for rest := f.Value; len(rest) > 0; {
			var pair []byte
			pair, rest, _ = bytes.Cut(rest, []byte(";"))
			name, value, _ := bytes.Cut(bytes.TrimLeft(pair, " \t"), []byte("="))
			if string(name) != x.pool.hashName {
				continue
			}
			if key, ok := x.pool.Engine.TokenKey(x.now, bytes.TrimRight(value, " \t")); ok {
				return key
			}
		}
	}
	return lb.Key{}
}

// cookieAttributes are what follows the value in Set-Cookie, less Secure.
func cookieAttributes(maxAge time.Duration) string {
	a := "; Path=/; HttpOnly; SameSite=Lax"
	if maxAge > 0 {
		a += "; Max-Age=" + strconv.FormatInt(int64(maxAge/time.Second), 10)
	}
	return a
}

// appendAffinity appends the Set-Cookie field that names the member which answered, unless the client's
// cookie led there already (docs/load-balancing.md#affinity).
func (x *exchange) appendAffinity(dst []byte, lease *lb.Lease) []byte {
	token := lease.Token()
	if token == "" || lease.ByKey() {
		return dst
	}
	dst = append(dst, "Set-Cookie: "...)
	dst = append(dst, x.pool.hashName...)
	dst = append(dst, '=')
	dst = append(dst, token...)
	dst = append(dst, x.pool.cookie...)
	if x.secure {
		dst = append(dst, "; Secure"...)
	}
	return append(dst, "\r\n"...)
}
