package route

import (
	"bytes"

	"github.com/scalws/scalws/internal/uripath"
)

// Request is what a target is found by. It can be used again for the next request: it keeps the space of its clean
// path.
type Request struct {
	// Host as it came: port and case do not matter.
	Host []byte
	// Path as it came, with its query.
	Path   []byte
	Method []byte
	Fields Fields
	// Clean is Path without its query in the form that paths are compared in (uripath.Clean). Lookup finds it. It lives
	// as long as the bytes of Path, and until the next Lookup. What is no path, "*" of an OPTIONS, is itself.
	Clean []byte

	space []byte
}

// Reset forgets the request. It keeps its space if that is small.
func (r *Request) Reset() {
	const most = 256
	*r = Request{Fields: r.Fields, space: r.space[:0]}
	if cap(r.space) > most {
		r.space = nil
	}
}

// Fields are the header fields of a request.
type Fields interface {
	// Field is the value of a field, named in lower case; several of them are one, joined with a comma and a space (RFC 9110 section 5.3).
	Field(name string) (value []byte, found bool)
}

func (r *Request) clean() {
	path := r.Path
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	r.Clean = path
	if len(path) == 0 || path[0] != '/' {
		return
	}
	if r.Clean = uripath.Clean(r.space, path); &r.Clean[0] != &path[0] {
		r.space = r.Clean
	}
}

// query is what stands behind the path, with its question mark.
func (r *Request) query() []byte {
	if i := bytes.IndexByte(r.Path, '?'); i >= 0 {
		return r.Path[i:]
	}
	return nil
}

// under is true if path is prefix or lies below it, on a segment border.
func under(path []byte, prefix string) bool {
	if len(path) < len(prefix) || string(path[:len(prefix)]) != prefix {
		return false
	}
	return len(path) == len(prefix) || prefix[len(prefix)-1] == '/' || path[len(prefix)] == '/'
}
