package proxy

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/scalws/scalws/pkg/server/internal/http1"
	"github.com/scalws/scalws/pkg/server/internal/route"
)

// Logins check a user and a password.
type Logins interface {
	// Known is true for a login that is right, without waiting; false says nothing.
	Known(user, password []byte) bool
	// Check is true for a right login. An error says that nobody can tell now.
	Check(user, password []byte) (bool, error)
}

// mostTarget bounds a target that was rewritten, and a place that a request is sent to.
const mostTarget = 64 << 10

// small keeps the space that a connection may hold on to while it waits.
func small(space []byte) []byte {
	const most = 256
	if cap(space) > most {
		return nil
	}
	return space[:0]
}

// turnsAway refuses clients by their address, before anything is counted or computed for them.
func (x *exchange) turnsAway(p *route.Policy) bool {
	if p.Access == nil || p.Access.Admits(x.client) {
		return false
	}
	x.reject(403, "this address is not allowed here")
	return true
}

// govern carries out what else the policy says before a request is served, in the order of
// docs/configuration.md#policies. It is true where the request has been answered with that.
func (x *exchange) govern(p *route.Policy) (answered bool) {
	return p.Redirect != nil && x.redirect(p.Redirect) ||
		p.CORS != nil && x.preflight(p.CORS) ||
		p.Login != nil && x.challenge(p.Login) ||
		p.Rewrite != nil && x.rewrite(p.Rewrite)
}

// redirect sends the client to another place, unless it is there.
func (x *exchange) redirect(r *route.Redirect) bool {
	host := x.askedHost(x.said.host)
	if len(host) == 0 && r.AsksHost {
		x.reject(400, "the request names no host")
		return true
	}
	scheme := "http"
	if x.secure {
		scheme = "https"
	}
	location, away := r.Append(x.target[:0], &x.asked, scheme, host)
	x.target = location
	switch {
	case !away:
		return false
	case len(location) > mostTarget:
		x.reject(414, "the place to go to is too long")
	default:
		x.sendTo(r.Status, string(location), "the place is in the field Location")
	}
	return true
}

// preflight answers an OPTIONS by which a browser asks for leave (https://fetch.spec.whatwg.org/#cors-preflight-fetch).
// It carries no login.
func (x *exchange) preflight(c *route.CORS) bool {
	origin, isCORS := x.Field("origin")
	method, asks := x.Field("access-control-request-method")
	if x.req.Method != http1.OPTIONS || !isCORS || !asks {
		return false
	}
	fields, _ := x.Field("access-control-request-headers")
	if why := c.Refuses(origin, method, fields); why != "" {
		x.reject(403, why)
		return true
	}
	x.settle()
	x.status = 204
	out := http1.AppendStatusLine(x.c.out[:0], 204, nil)
	out = http1.AppendField(out, dateName, x.c.srv.date.at(x.now))
	out = c.AppendPreflight(out, origin, fields)
	out = x.appendConnection(out)
	x.deliver(append(out, "\r\n"...))
	return true
}

// challenge lets nobody pass without a login.
func (x *exchange) challenge(l *route.Login) bool {
	defer func() { clear(x.login) }()
	user, password, ok := x.credentials()
	if ok && !x.runtime.Logins.Known(user, password) {
		right, err := x.check(user, password)
		if err != nil {
			x.reject(503, "too many logins are being checked", "Retry-After", "1")
			return true
		}
		ok = right
	}
	if !ok {
		x.reject(401, "a user and a password are needed here", "WWW-Authenticate", l.Challenge)
	}
	return !ok
}

// check computes for long.
func (x *exchange) check(user, password []byte) (right bool, err error) {
	x.c.aside(func() { right, err = x.runtime.Logins.Check(user, password) })
	return right, err
}

// credentials are those of RFC 7617 section 2, the only ones of a request.
func (x *exchange) credentials() (user, password []byte, ok bool) {
	value, _ := x.Field("authorization")
	scheme, rest, _ := bytes.Cut(value, []byte{' '})
	if !http1.EqualFold(scheme, "basic") {
		return nil, nil, false
	}
	encoding := base64.StdEncoding
	rest = bytes.TrimLeft(rest, " ")
	x.login = slices.Grow(x.login[:0], encoding.DecodedLen(len(rest)))
	x.login = x.login[:cap(x.login)]
	n, err := encoding.Decode(x.login, rest)
	if err != nil {
		return nil, nil, false
	}
	return bytes.Cut(x.login[:n], []byte{':'})
}

// rewrite changes what goes to members. It is true where that has become too long.
func (x *exchange) rewrite(r *route.Rewrite) bool {
	target, changed := r.Append(x.target[:0], &x.asked)
	x.target = target
	if changed {
		if len(target) > mostTarget {
			x.reject(414, "the rewritten request target is too long")
			return true
		}
		x.req.Path = target
	}
	return false
}

// policy is that of the place that the request goes to; nil: there is none, or no place yet.
func (x *exchange) policy() *route.Policy {
	if x.runtime == nil {
		return nil
	}
	return x.runtime.Policy
}

// edits are what becomes of fields, of the request and of the answer.
func (x *exchange) edits() (request, response *route.Edits, cors *route.CORS) {
	if p := x.policy(); p != nil {
		return p.Request, p.Response, p.CORS
	}
	return nil, nil, nil
}

// hides is true for a field of a member's head that clients do not get.
func (x *exchange) hides(name []byte) bool {
	_, response, cors := x.edits()
	return response.Drops(name) || cors.Owns(name)
}

// appendHost writes what the member at an address gets in Host.
func (x *exchange) appendHost(dst []byte, address string) []byte {
	p := x.runtime.Policy
	switch {
	case p != nil && p.Rewrite != nil && p.Rewrite.Host != "":
		return append(dst, p.Rewrite.Host...)
	case x.runtime.PreserveHost && len(x.req.Host) > 0:
		return append(dst, x.req.Host...)
	case strings.HasPrefix(address, "unix:"):
		return append(dst, "localhost"...)
	default:
		return append(dst, address...)
	}
}

// appendOwn writes a field of an answer that a runtime gives here, unless the policy changes it.
func (x *exchange) appendOwn(dst []byte, name, value string) []byte {
	if _, response, _ := x.edits(); response.Drops([]byte(name)) {
		return dst
	}
	return http1.AppendFieldString(dst, name, value)
}

// appendEdited writes what the policy sets and adds to the answer of a runtime.
func (x *exchange) appendEdited(dst []byte) []byte {
	_, response, _ := x.edits()
	return x.appendShared(response.Append(dst))
}

// appendShared writes what pages of other origins may do with an answer.
func (x *exchange) appendShared(dst []byte) []byte {
	p := x.policy()
	if p == nil || p.CORS == nil {
		return dst
	}
	origin, _ := x.Field("origin")
	return p.CORS.AppendAnswer(dst, origin)
}

// Field is the value of a request field that members get, joined where it is repeated (RFC 9110 section 5.3). What a peer
// that is not trusted says of the client they do not get.
func (x *exchange) Field(name string) (value []byte, found bool) {
	switch name {
	case "upgrade":
		return x.req.Upgrade, x.req.Upgrade != nil
	case "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto":
		if !x.trusted {
			return nil, false
		}
	}
	return x.joined(name, false)
}
