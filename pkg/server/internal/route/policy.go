package route

import (
	"fmt"
	"net/netip"

	"github.com/scalws/scalws/internal/config"
)

// Policy is what holds for requests in a place besides the runtime that answers them, ready to be carried out. What is
// nil asks for nothing.
type Policy struct {
	Access   *Access
	Redirect *Redirect
	CORS     *CORS
	Login    *Login
	Rewrite  *Rewrite
	// Request edits what goes to members, Response what comes from them.
	Request, Response *Edits
}

// newPolicy prepares policies; nil: there are none. path is that of a route
// with a redirect of its own; empty for one with an expression.
func newPolicy(c *config.Policies, path string) (*Policy, error) {
	p := Policy{
		Access: newAccess(c.Deny, c.Allow), Redirect: newRedirect(c.Redirect, path), CORS: newCORS(c.CORS),
		Login: newLogin(c.BasicAuth),
	}
	var err error
	if p.Rewrite, err = newRewrite(c.Rewrite); err != nil {
		return nil, err
	}
	var edits config.Headers
	if c.Headers != nil {
		edits = *c.Headers
	}
	var private []string
	if c.BasicAuth != nil && !c.BasicAuth.ForwardAuthorization {
		private = []string{"authorization"} // was meant for us
	}
	p.Request, p.Response = newEdits(edits.Request, private...), newEdits(edits.Response)
	if p == (Policy{}) {
		return nil, nil
	}
	return &p, nil
}

// Access says which clients are served.
type Access struct{ deny, allow []netip.Prefix }

func newAccess(deny, allow []netip.Prefix) *Access {
	if len(deny) == 0 && len(allow) == 0 {
		return nil
	}
	return &Access{deny, allow}
}

// Admits is true for a client that is served. One without an address, over a unix socket, is in no list.
func (a *Access) Admits(client netip.Addr) bool {
	return !contain(a.deny, client) && (len(a.allow) == 0 || contain(a.allow, client))
}

func contain(networks []netip.Prefix, client netip.Addr) bool {
	for _, n := range networks {
		if n.Contains(client) {
			return true
		}
	}
	return false
}

// Login asks for a user and a password (RFC 7617).
type Login struct {
	// HtpasswdFile has the users.
	HtpasswdFile string
	// Challenge is the value of WWW-Authenticate.
	Challenge string
}

func newLogin(b *config.BasicAuth) *Login {
	if b == nil {
		return nil
	}
	return &Login{b.HtpasswdFile, fmt.Sprintf("Basic realm=%q, charset=\"UTF-8\"", b.Realm)}
}
