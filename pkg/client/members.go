package client

import (
	"context"
	"errors"
	"net/http"

	"github.com/scalws/scalws/pkg/api"
)

// SetMembers replaces the whole member list of a pool and returns the pool as it is then. An empty list,
// nil included, empties the pool, which answers 503 from then on.
//
// PUT /v1/upstreams/{name}. Refused, with nothing changed: 400 for a wrong address, weight, duplicate
// or too many members, 404 for no such pool, 409 for a pool with members_from: file, 413 for a list of
// more than api.MaxBody bytes, 501 where members cannot change at run time. After any error that is
// neither a refusal nor an [*Unreachable] the list may or may not have been replaced.
func (c *Client) SetMembers(ctx context.Context, name string, members []api.SetMember) (api.Upstream, error) {
	return c.SetMembersIf(ctx, name, "", members)
}

// SetMembersIf is SetMembers for a pool that still has an ETag, as an earlier answer gave it; "" does not ask.
//
// PUT /v1/upstreams/{name} with If-Match. Refused like SetMembers, and 412 if the pool has changed.
func (c *Client) SetMembersIf(ctx context.Context, name, etag string, members []api.SetMember) (api.Upstream, error) {
	if err := checkName(name); err != nil {
		return api.Upstream{}, err
	}
	return pool(ctx, c, setMembers(name, "", etag, members))
}

// Rehearse says what SetMembersIf with the same arguments would change, and changes nothing.
//
// PUT /v1/upstreams/{name}?dry_run=true. Refused like SetMembersIf.
func (c *Client) Rehearse(ctx context.Context, name, etag string, members []api.SetMember) (api.Change, error) {
	if err := checkName(name); err != nil {
		return api.Change{}, err
	}
	return ask[api.Change](ctx, c, setMembers(name, "?"+api.ParamDryRun+"=true", etag, members))
}

// setMembers is the request that sets a list.
func setMembers(name, query, etag string, members []api.SetMember) request {
	if members == nil {
		members = []api.SetMember{} // null is refused, an empty list is not
	}
	r := request{method: http.MethodPut, path: api.PathUpstream(name) + query, body: api.SetMembers{Members: members}}
	if etag != "" {
		r.header = http.Header{"If-Match": {etag}}
	}
	return r
}

// EditMembers changes the member list of a pool so that no change of anybody else is lost: it reads the list,
// lets edit change it, and sets it if the pool is still as it was read; if not, it begins again. edit gets a
// list of its own, may be called several times, and ends the whole by an error, which is returned as it is.
//
// GET and PUT /v1/upstreams/{name}. Refused like SetMembers.
func (c *Client) EditMembers(ctx context.Context, name string, edit func([]api.SetMember) ([]api.SetMember, error)) (api.Upstream, error) {
	for {
		before, err := c.Upstream(ctx, name)
		if err != nil {
			return api.Upstream{}, err
		}
		members := make([]api.SetMember, len(before.Members))
		for i, m := range before.Members {
			members[i] = api.SetMember{Address: m.Address, Weight: &m.Weight}
		}
		if members, err = edit(members); err != nil {
			return api.Upstream{}, err
		}
		after, err := c.SetMembersIf(ctx, name, before.ETag, members)
		var problem *api.Problem
		if errors.As(err, &problem) && problem.Code == api.CodePreconditionFailed {
			continue // somebody else was quicker: of several who edit at once, one gets on each time
		}
		return after, err
	}
}
