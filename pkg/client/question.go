package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/scalws/scalws/pkg/api"
)

// Asked is the request that Explain is about. A pool looks at one of the fields at most, and an empty one is
// like a request without it.
type Asked struct {
	// ClientIP is the client's address, for a pool that hashes client_ip.
	ClientIP string
	// Header is the value of the header that the pool hashes, Cookie that of its affinity cookie.
	Header, Cookie string
}

// Explain says which member a request would get now, why no other, and where its retries would go. No
// traffic is sent and nothing changes.
//
// GET /v1/upstreams/{name}/explain. 400: a field is set that the pool does not hash, or that is no address.
// 404: there is no such pool.
func (c *Client) Explain(ctx context.Context, name string, about Asked) (api.Explanation, error) {
	if err := checkName(name); err != nil {
		return api.Explanation{}, err
	}
	query := url.Values{}
	for key, value := range map[string]string{
		api.ParamClientIP: about.ClientIP, api.ParamHeader: about.Header, api.ParamCookie: about.Cookie,
	} {
		if value != "" {
			query.Set(key, value)
		}
	}
	return do[api.Explanation](ctx, c, http.MethodGet, withQuery(api.PathExplain(name), query), nil)
}

// Preview says how many keys would get another member by another list, from whom to whom. Keys are values of
// the header, or client addresses; without any, the daemon takes 65,536 fixed probes. Nothing changes. With
// thousands of members it takes seconds, and more where others ask too.
//
// POST /v1/upstreams/{name}/preview. Refused: 400 for a wrong list or key, 404 for no such pool, 409 for a
// pool that hashes no key, 413 for more than api.MaxBody bytes, 429 where others' previews take too long.
func (c *Client) Preview(ctx context.Context, name string, members []api.SetMember, keys []string) (api.Preview, error) {
	if err := checkName(name); err != nil {
		return api.Preview{}, err
	}
	if members == nil {
		members = []api.SetMember{}
	}
	return do[api.Preview](ctx, c, http.MethodPost, api.PathPreview(name), api.PreviewMembers{Members: members, Keys: keys})
}

// withQuery is a path with a query, if there is one.
func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
