package admin

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// status answers GET /v1/status.
func (h *handler) status(w http.ResponseWriter, _ *http.Request) error {
	s := h.runtime.Status()
	if s.Listeners == nil {
		s.Listeners = []api.Listener{}
	}
	return respond(w, s)
}

// listUpstreams answers GET /v1/upstreams.
func (h *handler) listUpstreams(w http.ResponseWriter, _ *http.Request) error {
	pools := h.runtime.Pools()
	list := api.Upstreams{Upstreams: make([]api.Upstream, 0, len(pools))}
	for _, p := range pools {
		list.Upstreams = append(list.Upstreams, upstream(p))
	}
	slices.SortFunc(list.Upstreams, func(a, b api.Upstream) int { return strings.Compare(a.Name, b.Name) })
	return respond(w, list)
}

// showUpstream answers GET /v1/upstreams/{name}.
func (h *handler) showUpstream(w http.ResponseWriter, r *http.Request) error {
	p, ok := h.runtime.Pool(r.PathValue("name"))
	if !ok {
		return noPool(r)
	}
	return respondUpstream(w, p)
}

// setMembers answers PUT /v1/upstreams/{name}, and audits it whatever comes of it.
func (h *handler) setMembers(w http.ResponseWriter, r *http.Request) error {
	c := change{what: changeMembers, pool: r.PathValue("name")}
	p, err := h.replace(w, r, &c)
	h.audit(r, c, err)
	if err != nil {
		return err
	}
	return respondUpstream(w, p)
}

// replace checks a PUT in the order in which refusals are promised (404, 409, 413, 400, 412) and carries
// it out. It fills in c as it learns more.
func (h *handler) replace(w http.ResponseWriter, r *http.Request, c *change) (PoolView, error) {
	p, err := h.writable(r, c)
	if err != nil {
		return PoolView{}, err
	}
	body, err := readBody(w, r)
	if err != nil {
		return PoolView{}, err
	}
	if err := noQuery(r); err != nil {
		return PoolView{}, err
	}
	members, err := decodeMembers(body, p.HTTPS)
	if err != nil {
		return PoolView{}, err
	}
	c.members = len(members)

	changes := h.runtime.Changes()
	changes.Lock()
	defer changes.Unlock()
	// Reading the body took time: the pool is looked up again.
	if p, err = h.writable(r, c); err != nil {
		return PoolView{}, err
	}
	if !matches(r.Header.Values("If-Match"), etag(p)) {
		return PoolView{}, api.NewProblem(http.StatusPreconditionFailed, api.CodePreconditionFailed,
			"pool %s has changed: its ETag is %s now", p.Status.Name, etag(p))
	}
	if excluded(r.Header.Values("If-None-Match"), etag(p)) {
		return PoolView{}, api.NewProblem(http.StatusPreconditionFailed, api.CodePreconditionFailed,
			"If-None-Match names pool %s as it is: its ETag is %s", p.Status.Name, etag(p))
	}
	p, err = h.runtime.SetMembers(r.Context(), c.pool, members, who(r))
	if err != nil {
		return PoolView{}, refusal(r, err)
	}
	c.after = p.Status.Revision
	return p, nil
}

// writable is the pool that a request names, if its members may be set.
func (h *handler) writable(r *http.Request, c *change) (PoolView, error) {
	p, ok := h.runtime.Pool(r.PathValue("name"))
	if !ok {
		return PoolView{}, noPool(r)
	}
	c.before, c.after = p.Status.Revision, p.Status.Revision
	if !p.FromAPI {
		return PoolView{}, fromFile(r)
	}
	return p, nil
}

// refusal is the problem for an error of [Runtime.SetMembers], or the error itself if it is none of those
// that the runtime promises.
func refusal(r *http.Request, err error) error {
	var member lb.MemberError
	switch {
	case errors.Is(err, ErrNoPool):
		return noPool(r)
	case errors.Is(err, ErrFromFile):
		return fromFile(r)
	case errors.As(err, &member):
		return invalidMembers([]lb.MemberError{member})
	}
	return err
}

func noPool(r *http.Request) error {
	return api.NewProblem(http.StatusNotFound, api.CodePoolNotFound, "there is no pool %q", cut(r.PathValue("name")))
}

func fromFile(r *http.Request) error {
	return api.NewProblem(http.StatusConflict, api.CodeMembersFromFile,
		"pool %s takes its members from the configuration file (members_from: file)", r.PathValue("name"))
}

// matches tells whether If-Match holds (RFC 9110 section 13.1.1): it is absent, "*", or names the tag. A
// weak tag never matches. Our tags hold no comma, so the list is split at commas.
func matches(fields []string, tag string) bool {
	if len(fields) == 0 {
		return true
	}
	for field := range strings.SplitSeq(strings.Join(fields, ","), ",") {
		if field = strings.TrimSpace(field); field == "*" || field == tag {
			return true
		}
	}
	return false
}

// excluded tells whether If-None-Match is there and does not hold (section 13.1.2): it is "*", or names the
// tag, as a weak one too.
func excluded(fields []string, tag string) bool {
	return len(fields) > 0 && (matches(fields, tag) || matches(fields, "W/"+tag))
}
