package route

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scalws/scalws/internal/config"
)

// CORS says which pages of other origins may read answers (https://fetch.spec.whatwg.org/#http-cors-protocol). The
// fields of the protocol are written here alone.
type CORS struct {
	origins map[string]bool // nil: every one
	methods []string
	fields  []string // in lower case; nil: every one
	// What is said whatever the request was: to a preflight, and to another request.
	preflight, answer []byte
}

func newCORS(c *config.CORS) *CORS {
	if c == nil {
		return nil
	}
	out := &CORS{methods: c.Methods, fields: []string{}}
	if !slices.Contains(c.Origins, "*") {
		out.origins = make(map[string]bool, len(c.Origins))
		for _, o := range c.Origins {
			out.origins[o] = true
		}
	}
	// Methods and fields that every page may use need not be listed; it does no harm.
	out.methods = slices.Concat([]string{"GET", "HEAD", "POST"}, c.Methods)
	slices.Sort(out.methods)
	out.methods = slices.Compact(out.methods)
	for _, name := range c.Headers {
		out.fields = append(out.fields, strings.ToLower(name))
	}
	line := func(dst []byte, name, value string) []byte { return append(dst, name+": "+value+"\r\n"...) }
	out.preflight = line(out.preflight, "Access-Control-Allow-Methods", strings.Join(out.methods, ", "))
	switch {
	case slices.Contains(c.Headers, "*"):
		out.fields = nil
	case len(c.Headers) > 0:
		out.preflight = line(out.preflight, "Access-Control-Allow-Headers", strings.Join(c.Headers, ", "))
	}
	if c.MaxAge > 0 {
		out.preflight = line(out.preflight, "Access-Control-Max-Age", strconv.FormatInt(int64(c.MaxAge/time.Second), 10))
	}
	if c.Credentials {
		out.preflight = line(out.preflight, "Access-Control-Allow-Credentials", "true")
		out.answer = line(out.answer, "Access-Control-Allow-Credentials", "true")
	}
	if len(c.Expose) > 0 {
		out.answer = line(out.answer, "Access-Control-Expose-Headers", strings.Join(c.Expose, ", "))
	}
	return out
}

// Admits is true for an origin whose pages may read answers.
func (c *CORS) Admits(origin []byte) bool { return c.origins == nil || c.origins[string(origin)] }

// Refuses says why a preflight fails; empty: it does not. method and fields are what it asks for.
func (c *CORS) Refuses(origin, method, fields []byte) string {
	switch {
	case !c.Admits(origin):
		return "requests from this origin are not allowed here"
	case !slices.ContainsFunc(c.methods, func(m string) bool { return m == string(method) }):
		return "this method is not allowed to other origins"
	case c.fields == nil:
		return ""
	}
	for more := len(fields) > 0; more; {
		var name []byte
		name, fields, more = bytes.Cut(fields, []byte{','})
		if name = bytes.Trim(name, " \t"); len(name) > 0 && !c.takes(name) {
			return "a header field is not allowed to other origins"
		}
	}
	return ""
}

// takes is true for a field that pages may send. The last four need no leave unless their value is odd.
func (c *CORS) takes(name []byte) bool {
	is := func(field string) bool { return len(field) == len(name) && bytes.EqualFold([]byte(field), name) }
	return slices.ContainsFunc(c.fields, is) || is("accept") || is("accept-language") || is("content-language") || is("range")
}

// AppendPreflight writes the fields of the answer to a preflight that does not fail.
func (c *CORS) AppendPreflight(dst, origin, fields []byte) []byte {
	dst = c.appendOrigin(dst, origin)
	dst = append(dst, c.preflight...)
	if c.fields == nil && len(fields) > 0 {
		dst = append(dst, "Access-Control-Allow-Headers: "...)
		dst = append(dst, fields...)
		dst = append(dst, "\r\n"...)
	}
	return append(dst, "Vary: Access-Control-Request-Method, Access-Control-Request-Headers\r\n"...)
}

// AppendAnswer writes the fields of any other answer. origin is nil where the request has none.
func (c *CORS) AppendAnswer(dst, origin []byte) []byte {
	if origin == nil || !c.Admits(origin) {
		return c.appendVary(dst)
	}
	return append(c.appendOrigin(dst, origin), c.answer...)
}

func (c *CORS) appendOrigin(dst, origin []byte) []byte {
	dst = append(dst, "Access-Control-Allow-Origin: "...)
	if c.origins == nil {
		return append(dst, "*\r\n"...)
	}
	dst = append(dst, origin...)
	return c.appendVary(append(dst, "\r\n"...))
}

// appendVary tells caches where the answer depends on who asks.
func (c *CORS) appendVary(dst []byte) []byte {
	if c.origins == nil {
		return dst
	}
	return append(dst, "Vary: Origin\r\n"...)
}

// Owns is true for a field of the protocol, which members do not write where the policy holds.
func (c *CORS) Owns(name []byte) bool {
	const prefix = "Access-Control-"
	return c != nil && len(name) > len(prefix) && bytes.EqualFold(name[:len(prefix)], []byte(prefix))
}
