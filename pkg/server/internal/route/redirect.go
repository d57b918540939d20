package route

import (
	"bytes"
	"slices"
	"strings"

	"github.com/scalws/scalws/internal/config"
)

// Redirect answers with another place.
type Redirect struct {
	Status int
	// AsksHost is true where the place has the host of the request in it.
	AsksHost bool

	parts []config.LocationPart
	// prefix is what {rest} comes behind.
	prefix string
}

func newRedirect(c *config.Redirect, path string) *Redirect {
	if c == nil {
		return nil
	}
	r := &Redirect{Status: c.Status, parts: config.Location(c.To), prefix: strings.TrimSuffix(path, "/")}
	r.AsksHost = slices.Contains(r.parts, config.LocationPart{Of: config.Host})
	return r
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
	return dst, !isHere(dst[begin:], q, scheme, host)
}

// isHere is true for the place of the request itself, as whoever follows it would ask for it: without the fragment, and
// with a path that clients may write in another form (RFC 3986 section 6.2.2).
func isHere(location []byte, q *Request, scheme string, host []byte) bool {
	rest, _, _ := bytes.Cut(location, []byte{'#'})
	if rest[0] != '/' {
		var same bool
		if rest, same = bytes.CutPrefix(rest, []byte(scheme+"://")); !same {
			return false
		}
		end := bytes.IndexAny(rest, "/?")
		if end < 0 {
			end = len(rest)
		}
		if !bytes.EqualFold(withoutDefault(rest[:end], scheme), withoutDefault(host, scheme)) {
			return false
		}
		rest = rest[end:]
	}
	there := Request{Path: rest, space: location[len(location):]}
	if len(rest) == 0 || rest[0] == '?' {
		there.Clean = []byte{'/'} // an empty path is the root (section 6.2.3)
	} else {
		there.clean()
	}
	return bytes.Equal(there.Clean, q.Clean) && bytes.Equal(there.query(), q.query())
}

// withoutDefault cuts the port off that the scheme has anyway.
func withoutDefault(authority []byte, scheme string) []byte {
	port := ":80"
	if scheme == "https" {
		port = ":443"
	}
	return bytes.TrimSuffix(authority, []byte(port))
}
