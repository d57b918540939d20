package route

import (
	"bytes"
	"strings"

	"github.com/scalws/scalws/internal/config"
)

// Redirect answers with another place.
type Redirect struct {
	Status int

	parts []config.LocationPart
	// prefix is what {rest} comes behind.
	prefix string
}

func newRedirect(c *config.Redirect, path string) *Redirect {
	if c == nil {
		return nil
	}
	return &Redirect{Status: c.Status, parts: config.Location(c.To), prefix: strings.TrimSuffix(path, "/")}
}

// Append writes the place that a request is sent to. scheme and host are those that the client asked for. It is false
// where the client is there already: sent there once more it would come again for ever.
func (r *Redirect) Append(dst []byte, q *Request, scheme string, host []byte) (location []byte, away bool) {
	path, query := q.Path[:len(q.Path)-len(q.query())], q.query()
	if len(path) == 0 || path[0] != '/' {
		path = nil // "*" has no place of its own
	}
	begin := len(dst)
	for _, p := range r.parts {
		switch p.Of {
		case config.Scheme:
			dst = append(dst, scheme...)
		case config.Host:
			dst = append(dst, withoutPort(host)...)
		case config.Path:
			dst = append(dst, path...)
		case config.Rest:
			if path != nil && strings.HasPrefix(string(q.Clean), r.prefix) {
				dst = append(dst, q.Clean[len(r.prefix):]...)
			}
		case config.Query:
			dst = append(dst, query...)
		default:
			dst = append(dst, p.Text...)
		}
	}
	return dst, !isHere(dst[begin:], q.Path, scheme, host)
}

// isHere is true for the place of the request itself.
func isHere(location, target []byte, scheme string, host []byte) bool {
	if location[0] == '/' {
		return bytes.Equal(location, target)
	}
	rest, same := bytes.CutPrefix(location, []byte(scheme+"://"))
	if !same {
		return false
	}
	authority := rest
	if i := bytes.IndexAny(rest, "/?"); i >= 0 {
		authority, rest = rest[:i], rest[i:]
	} else {
		rest = nil
	}
	if len(rest) == 0 || rest[0] != '/' {
		target = bytes.TrimPrefix(target, []byte{'/'}) // an empty path is the root (RFC 3986 section 6.2.3)
	}
	return bytes.Equal(rest, target) && bytes.EqualFold(withoutDefault(authority, scheme), withoutDefault(host, scheme))
}

// withoutDefault cuts the port off that the scheme has anyway.
func withoutDefault(authority []byte, scheme string) []byte {
	port := ":80"
	if scheme == "https" {
		port = ":443"
	}
	return bytes.TrimSuffix(authority, []byte(port))
}
