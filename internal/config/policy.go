package config

import (
	"net/netip"
	"time"

	"github.com/scalws/scalws/internal/strict"
)

// Bounds of policies.
const (
	maxHeaderEdits  = 64
	maxHeaderValue  = 4096
	maxRegex        = 1024
	maxReplacement  = 1024
	maxOrigins      = 1000
	maxCORSNames    = 100
	maxMethods      = 32
	maxMatchHeaders = 16
	// maxCORSAge is above what browsers keep the answer to a preflight for.
	maxCORSAge = day
)

// Policies are what holds for requests besides the runtime that answers them. A route has those of its application
// where it has none of its own of the same kind; see Effective.
type Policies struct {
	// Deny and Allow are addresses of clients. One in Deny is refused, and so is one that is not in Allow where
	// that has any.
	Deny, Allow []netip.Prefix
	// Redirect, CORS, BasicAuth, Rewrite and Headers are nil where there is no such policy.
	Redirect  *Redirect
	CORS      *CORS
	BasicAuth *BasicAuth
	Rewrite   *Rewrite
	Headers   *Headers
}

// Redirect answers with another place.
type Redirect struct {
	// To is a URL or a path, with {scheme}, {host}, {path}, {rest} and {query}.
	To string
	// Status is 301, 302, 303, 307 or 308.
	Status int
}

// CORS says which pages of other origins may read answers (https://fetch.spec.whatwg.org/#http-cors-protocol).
type CORS struct {
	// Origins, at least one, or "*" alone for every one.
	Origins []string
	// Methods and Headers are what such a page may send besides what any page may; "*" in Headers is every field.
	Methods, Headers []string
	// Expose are fields of answers that it may read besides those that any page may.
	Expose []string
	// Credentials lets requests with cookies be read; not with the origin "*".
	Credentials bool
	// MaxAge is how long browsers may keep the answer to a preflight; 0 leaves it to them.
	MaxAge time.Duration
}

// BasicAuth asks for a user and a password (RFC 7617).
type BasicAuth struct {
	// HtpasswdFile has the users, with bcrypt or Argon2id hashes.
	HtpasswdFile string
	Realm        string
	// ForwardAuthorization passes the Authorization field on to members.
	ForwardAuthorization bool
}

// Rewrite changes what members get of a request's target. Empty fields change nothing.
type Rewrite struct {
	// StripPrefix is taken off on a segment border, AddPrefix put in front. Neither ends with "/".
	StripPrefix, AddPrefix string
	Replace                *Replace
	// Host is what members get in Host.
	Host string
}

// Replace puts a text into the place of what a regular expression fits.
type Replace struct {
	Regex string
	// With has $1 and ${name} for groups.
	With string
}

// Headers change the fields of requests on their way to members, and of answers on their way back.
type Headers struct {
	Request, Response HeaderEdits
}

// HeaderEdits are carried out in this order.
type HeaderEdits struct {
	Remove []string
	// Set takes the place of all fields of the name, Add comes behind them.
	Set, Add []HeaderField
}

// HeaderField is a field of a head.
type HeaderField struct{ Name, Value string }

// Effective are the policies of a route: its own, and those of its application that it has none of its own for,
// unless it inherits nothing.
func (r *Route) Effective(application Policies) Policies {
	p := r.Policies
	if !r.Inherit {
		return p
	}
	if p.Deny == nil {
		p.Deny = application.Deny
	}
	if p.Allow == nil {
		p.Allow = application.Allow
	}
	if p.Redirect == nil {
		p.Redirect = application.Redirect
	}
	if p.CORS == nil {
		p.CORS = application.CORS
	}
	if p.BasicAuth == nil {
		p.BasicAuth = application.BasicAuth
	}
	if p.Rewrite == nil {
		p.Rewrite = application.Rewrite
	}
	if p.Headers == nil {
		p.Headers = application.Headers
	}
	return p
}

// policyFields are the keys that an application and a route have alike.
func policyFields(p *Policies) []strict.Field {
	return []strict.Field{
		{Name: "deny", Otherwise: "nobody is refused", Kind: strict.List(&p.Deny, 1, maxNetworks, strict.ScalarOf(prefix())),
			Meaning: "Clients that get 403, by their address after trusted_proxies. It wins over allow."},
		{Name: "allow", Otherwise: "everybody", Kind: strict.List(&p.Allow, 1, maxNetworks, strict.ScalarOf(prefix())),
			Meaning: "Clients that do not get 403; all others do."},
		{Name: "redirect", Otherwise: "none", Kind: strict.Pointer(&p.Redirect, func(r *Redirect) strict.Kind {
			return strict.Section(redirectPolicyFields(r))
		}), Meaning: "Sends clients to another place, unless they are there already."},
		{Name: "cors", Otherwise: "CORS fields are the members' own", Kind: strict.Pointer(&p.CORS, func(c *CORS) strict.Kind {
			return strict.Section(corsFields(c)).Also(corsRules()...)
		}), Meaning: "Which pages of other origins may read answers. Preflights are answered here."},
		{Name: "basic_auth", Otherwise: "nobody is asked", Kind: strict.Pointer(&p.BasicAuth, func(b *BasicAuth) strict.Kind {
			return strict.Section(basicAuthFields(b))
		}), Meaning: "Asks for a user and a password, without them 401."},
		{Name: "rewrite", Otherwise: "members get what clients sent", Kind: strict.Pointer(&p.Rewrite, func(r *Rewrite) strict.Kind {
			return strict.Section(rewriteFields(r)).Also(policyRules()...)
		}), Meaning: "Changes the path and the Host that members get."},
		{Name: "headers", Otherwise: "members get what clients sent, and the other way round", Kind: strict.Pointer(&p.Headers, func(h *Headers) strict.Kind {
			return strict.Section([]strict.Field{
				{Name: "request", Kind: strict.Section(headerFields(&h.Request, true)).Also(policyRules()...), Meaning: "Changes the fields that members get."},
				{Name: "response", Kind: strict.Section(headerFields(&h.Response, false)).Also(policyRules()...), Meaning: "Changes the fields of members' answers that clients get."},
			}).Also(policyRules()...)
		}), Meaning: "Changes header fields."},
	}
}

func redirectPolicyFields(r *Redirect) []strict.Field {
	return []strict.Field{
		{Name: "to", Need: true, Kind: strict.Scalar(&r.To, location(true)),
			Meaning: "Where to: a path or a URL, with {scheme}, {host}, {path}, {rest} and {query} of the request."},
		{Name: "status", Def: "302", Kind: strict.Scalar(&r.Status, strict.Whole(301, 308)),
			Meaning: "301, 302, 303, 307 or 308."},
	}
}

func corsFields(c *CORS) []strict.Field {
	return []strict.Field{
		{Name: "origins", Need: true, Kind: strict.List(&c.Origins, 1, maxOrigins, strict.ScalarOf(origin())),
			Meaning: "Origins whose pages may read answers; * alone for all."},
		{Name: "methods", Otherwise: "GET, HEAD and POST, which need no leave", Kind: strict.List(&c.Methods, 1, maxMethods, strict.ScalarOf(method())),
			Meaning: "Methods that they may use."},
		{Name: "headers", Otherwise: "those that need no leave", Kind: strict.List(&c.Headers, 1, maxCORSNames, strict.ScalarOf(fieldNameOrAll())),
			Meaning: "Fields that they may send; * for all that they ask for."},
		{Name: "expose", Otherwise: "those that need no leave", Kind: strict.List(&c.Expose, 1, maxCORSNames, strict.ScalarOf(fieldName())),
			Meaning: "Fields of answers that they may read."},
		{Name: "credentials", Def: "false", Kind: strict.Scalar(&c.Credentials, strict.Truth()),
			Meaning: "Lets them send cookies and logins; not with *."},
		{Name: "max_age", Def: "0s", Kind: strict.Scalar(&c.MaxAge, seconds(0, maxCORSAge)),
			Meaning: "How long browsers may remember a preflight; 0s leaves it to them, 5s for most."},
	}
}

func basicAuthFields(b *BasicAuth) []strict.Field {
	return []strict.Field{
		{Name: "htpasswd_file", Need: true, Kind: namedFile(&b.HtpasswdFile),
			Meaning: "A user and a hash a line, bcrypt or argon2id. Read again when it changes."},
		{Name: "realm", Def: "restricted", Kind: strict.Scalar(&b.Realm, realm()),
			Meaning: "What browsers show when they ask."},
		{Name: "forward_authorization", Def: "false", Kind: strict.Scalar(&b.ForwardAuthorization, strict.Truth()),
			Meaning: "Passes the Authorization field on to members."},
	}
}

func rewriteFields(r *Rewrite) []strict.Field {
	return []strict.Field{
		{Name: "strip_prefix", Otherwise: "none", Kind: strict.Scalar(&r.StripPrefix, partialPath()),
			Meaning: "Taken off the path, first, where it ends at a segment border."},
		{Name: "replace", Otherwise: "none", Kind: strict.Pointer(&r.Replace, func(p *Replace) strict.Kind {
			return strict.Section([]strict.Field{
				{Name: "regex", Need: true, Kind: strict.Scalar(&p.Regex, regex()),
					Meaning: "What is replaced, the first time that it occurs in the path. RE2; ^ and $ are the ends."},
				{Name: "with", Need: true, Kind: strict.Scalar(&p.With, replacement()),
					Meaning: "What comes in its place; $1 and ${name} are groups, $$ is a dollar."},
			})
		}), Meaning: "Changes the path, second."},
		{Name: "add_prefix", Otherwise: "none", Kind: strict.Scalar(&r.AddPrefix, partialPath()),
			Meaning: "Put in front of the path, last."},
		{Name: "host", Otherwise: "as preserve_host says", Kind: strict.Scalar(&r.Host, authority()),
			Meaning: "Host that members get."},
	}
}

func headerFields(e *HeaderEdits, request bool) []strict.Field {
	list := func(to *[]HeaderField) strict.Kind {
		return strict.List(to, 1, maxHeaderEdits, func(f *HeaderField) strict.Kind {
			return strict.Section([]strict.Field{
				{Name: "name", Need: true, Kind: strict.Scalar(&f.Name, editedField(request)), Meaning: "Name of the field."},
				{Name: "value", Need: true, Kind: strict.Scalar(&f.Value, fieldValue()), Meaning: "Its value."},
			})
		})
	}
	return []strict.Field{
		{Name: "remove", Otherwise: "none", Kind: strict.List(&e.Remove, 1, maxHeaderEdits, strict.ScalarOf(editedField(request))),
			Meaning: "Fields that are left out, first."},
		{Name: "set", Otherwise: "none", Kind: list(&e.Set),
			Meaning: "Fields that take the place of all of their name, second."},
		{Name: "add", Otherwise: "none", Kind: list(&e.Add),
			Meaning: "Fields that come behind those of their name, last."},
	}
}
