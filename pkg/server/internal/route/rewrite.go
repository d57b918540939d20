package route

import (
	"regexp"
	"slices"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/internal/uripath"
)

// Rewrite changes what members get of a request's target.
type Rewrite struct {
	// Host that members get; empty: as the runtime says.
	Host string

	strip, add string
	replaced   *regexp.Regexp // nil: nothing
	with       []byte
}

func newRewrite(c *config.Rewrite) (*Rewrite, error) {
	if c == nil {
		return nil, nil
	}
	r := &Rewrite{Host: c.Host, strip: c.StripPrefix, add: c.AddPrefix}
	if c.Replace != nil {
		var err error
		if r.replaced, err = regexp.Compile(c.Replace.Regex); err != nil {
			return nil, err
		}
		r.with = []byte(c.Replace.With)
	}
	return r, nil
}

// Append writes the target that members get, and says whether it is another one than came. It is made of the clean
// path, so that nothing in it can lead out of what the route was found for; the query stays as it came. What is no
// path stays too.
func (r *Rewrite) Append(dst []byte, q *Request) (target []byte, changed bool) {
	path := q.Clean
	if len(path) == 0 || path[0] != '/' {
		return dst, false
	}
	if r.strip != "" && under(path, r.strip) {
		path, changed = path[len(r.strip):], true
	}
	if len(path) == 0 {
		path = q.Clean[:1] // a slash
	}
	begin := len(dst)
	dst = append(dst, r.add...)
	changed = changed || r.add != ""
	if r.replaced != nil {
		if at := r.replaced.FindSubmatchIndex(path); at != nil {
			dst, path, changed = r.replace(dst, path, at), nil, true
		}
	}
	if !changed {
		return dst[:begin], false
	}
	dst = append(dst, path...)
	return append(dst, q.query()...), true
}

// replace writes a path with a replacement at a place of it. What comes out is clean again: segments that were none
// before could lead out of the prefix in front.
func (r *Rewrite) replace(dst, path []byte, at []int) []byte {
	begin := len(dst)
	dst = append(dst, path[:at[0]]...)
	dst = r.replaced.Expand(dst, r.with, path, at)
	dst = append(dst, path[at[1]:]...)
	if len(dst) == begin || dst[begin] != '/' {
		dst = slices.Insert(dst, begin, '/')
	}
	return append(dst[:begin], uripath.Clean(nil, dst[begin:])...)
}
