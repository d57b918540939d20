package admin

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// status answers GET /v1/status.
func (h *handler) status(w http.ResponseWriter, r *http.Request) error {
	if _, err := query(r); err != nil {
		return err
	}
	s := h.Runtime.Status()
	if s.Listeners == nil {
		s.Listeners = []api.Listener{}
	}
	return respond(w, s)
}

// listUpstreams answers GET /v1/upstreams.
func (h *handler) listUpstreams(w http.ResponseWriter, r *http.Request) error {
	if _, err := query(r); err != nil {
		return err
	}
	pools := h.Runtime.Pools()
	list := api.Upstreams{Upstreams: make([]api.Upstream, 0, len(pools))}
	for _, p := range pools {
		list.Upstreams = append(list.Upstreams, upstream(p))
	}
	slices.SortFunc(list.Upstreams, func(a, b api.Upstream) int { return strings.Compare(a.Name, b.Name) })
	return respond(w, list)
}

// showUpstream answers GET /v1/upstreams/{name}.
func (h *handler) showUpstream(w http.ResponseWriter, r *http.Request) error {
	p, ok := h.Runtime.Pool(r.PathValue("name"))
	if !ok {
		return noPool(r)
	}
	if _, err := query(r); err != nil {
		return err
	}
	return respondUpstream(w, p)
}

// setMembers answers PUT /v1/upstreams/{name}. A rehearsal is no change.
func (h *handler) setMembers(w http.ResponseWriter, r *http.Request) error {
	rehearsal, queryErr := asksToRehearse(r)
	if rehearsal {
		return h.rehearse(w, r)
	}
	p, err := h.replace(w, r, changeOf(r), queryErr)
	if err != nil {
		return err
	}
	h.Runtime.SaveMembers()
	return respondUpstream(w, p)
}

// replace checks a PUT and carries it out. It fills in c as it learns more.
func (h *handler) replace(w http.ResponseWriter, r *http.Request, c *change, queryErr error) (PoolView, error) {
	members, err := h.requested(w, r, c, queryErr)
	if err != nil {
		return PoolView{}, err
	}
	changes := h.Runtime.Changes()
	changes.Lock()
	defer changes.Unlock()
	if _, err := h.matching(r, c); err != nil {
		return PoolView{}, err
	}
	p, err := h.Runtime.SetMembers(r.Context(), c.pool, members, who(r).String())
	if err != nil {
		return PoolView{}, refusal(r, err)
	}
	c.after = p.Status.Revision
	return p, nil
}

// rehearse answers a PUT that is to change nothing. It is refused with what the change would be refused with.
func (h *handler) rehearse(w http.ResponseWriter, r *http.Request) error {
	c := changeOf(r)
	members, err := h.requested(w, r, c, nil)
	if err != nil {
		return err
	}
	p, err := h.matching(r, c)
	if err != nil {
		return err
	}
	var done lb.Change
	done, p.Status = p.Engine.Rehearse(time.Now(), members)
	return respond(w, rehearsed(done, p))
}

// requested is the list that a PUT brings. It is checked in the order in which refusals are promised: 404, 501,
// 409, 413, 400. What is wrong with the query comes in as queryErr: somebody who asks for more than this call does
// must not get just this.
func (h *handler) requested(w http.ResponseWriter, r *http.Request, c *change, queryErr error) ([]lb.Member, error) {
	p, err := h.writable(r, c)
	if err != nil {
		return nil, err
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	if queryErr != nil {
		return nil, queryErr
	}
	members, err := decodeMembers(body, p.HTTPS)
	c.members = len(members)
	return members, err
}

// matching is the pool of a PUT whose body was read, if it is as the request wants it to be. Reading the body
// took time: the pool is looked up again.
func (h *handler) matching(r *http.Request, c *change) (PoolView, error) {
	p, err := h.writable(r, c)
	if err != nil {
		return PoolView{}, err
	}
	if !matches(r.Header.Values("If-Match"), etag(p)) {
		return PoolView{}, refuse(api.CodePreconditionFailed,
			"pool %s has changed: its ETag is %s now", p.Status.Name, etag(p))
	}
	if excluded(r.Header.Values("If-None-Match"), etag(p)) {
		return PoolView{}, refuse(api.CodePreconditionFailed,
			"If-None-Match names pool %s as it is: its ETag is %s", p.Status.Name, etag(p))
	}
	return p, nil
}

// writable is the pool that a request names, if its members may be set.
func (h *handler) writable(r *http.Request, c *change) (PoolView, error) {
	p, ok := h.Runtime.Pool(r.PathValue("name"))
	if !ok {
		return PoolView{}, noPool(r)
	}
	c.before, c.after = p.Status.Revision, p.Status.Revision
	if !h.Runtime.RuntimeMembers() {
		return PoolView{}, refuse(api.CodeNoRuntimeMembers,
			"members cannot be set at run time here (admin.runtime_members: false)")
	}
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
	return refuse(api.CodePoolNotFound, "there is no pool %q", cut(r.PathValue("name")))
}

func fromFile(r *http.Request) error {
	return refuse(api.CodeMembersFromFile,
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

// asksToRehearse tells whether a request asks for what a change would do, and not for the change. The error is what is
// wrong with its query; it asks for nothing then.
func asksToRehearse(r *http.Request) (bool, error) {
	values, err := query(r, api.ParamDryRun)
	if err != nil {
		return false, err
	}
	return boolean(values, api.ParamDryRun)
}

// isRehearsal tells whether a request to a route that changes something asks only for what it would change.
func (rt route) isRehearsal(r *http.Request) bool {
	if rt.change != changeMembers {
		return false
	}
	rehearsal, err := asksToRehearse(r)
	return rehearsal && err == nil
}
