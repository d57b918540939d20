// Package client is the typed client of the admin API: one method a route, the wire types of
// [github.com/scalws/scalws/pkg/api] in and out.
//
// What the daemon refuses comes out as an [*api.Problem], a daemon that is not there as an
// [*Unreachable]; both are found with errors.As. A context that ends comes out as its own error, to be
// found with errors.Is.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/scalws/scalws/pkg/api"
)

// DefaultMaxAnswer is the largest answer in bytes that a [Client] reads unless told otherwise. It has
// room for some thirty pools of 10,000 members.
const DefaultMaxAnswer = 64 << 20

// Client talks to one daemon, on this machine through its admin socket or on another over TLS (admin.remote). The
// zero value lacks only Socket or Server; everything else has a default. A
// client holds no connection, needs no closing, and may be used by several goroutines at once as long
// as nobody changes its fields.
type Client struct {
	// Socket is the path of the daemon's admin socket; exactly one of Socket and Server is set.
	Socket string
	// Server is the remote admin listener of a daemon, "https://host:port".
	Server string
	// Cert and Key are the files of the certificate, with its chain, and of the key that Server is shown, CA is
	// the file of the CA certificates that Server's must come from; all PEM. Without CA they are the system's.
	Cert, Key, CA string
	// TLS is used instead of Cert, Key and CA, for keys that are in no file; nil: it is not. Of protocols above
	// TLS it always names HTTP/1.1, the only one that Server speaks.
	TLS *tls.Config
	// Timeout bounds each call, from connecting to the last byte of the answer. 0 leaves the bound to the
	// context.
	Timeout time.Duration
	// MaxAnswer is the largest answer in bytes that is read; a larger one is an error. 0 means
	// DefaultMaxAnswer.
	MaxAnswer int64
}

// Upstreams is every pool with its members and their state, sorted by name.
//
// GET /v1/upstreams. No refusals of its own.
func (c *Client) Upstreams(ctx context.Context) ([]api.Upstream, error) {
	answer, err := do[api.Upstreams](ctx, c, http.MethodGet, api.PathUpstreams, nil)
	return answer.Upstreams, err
}

// Upstream is one pool as it is now.
//
// GET /v1/upstreams/{name}. 404: there is no such pool.
func (c *Client) Upstream(ctx context.Context, name string) (api.Upstream, error) {
	if err := checkName(name); err != nil {
		return api.Upstream{}, err
	}
	return pool(ctx, c, request{method: http.MethodGet, path: api.PathUpstream(name)})
}

// Status is what the daemon says about itself: version, listeners, configuration.
//
// GET /v1/status. No refusals of its own.
func (c *Client) Status(ctx context.Context) (api.Status, error) {
	return do[api.Status](ctx, c, http.MethodGet, api.PathStatus, nil)
}

// Metrics are the metrics of the daemon in the text format of Prometheus, the same as on its metrics listener.
//
// GET /metrics. No refusals of its own.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) {
	text, err := c.exchange(ctx, request{method: http.MethodGet, path: api.PathMetrics, accept: "text/plain"})
	if err != nil {
		return nil, callError(http.MethodGet, api.PathMetrics, err)
	}
	return text, nil
}

// OpenAPI is the description of the API that the daemon serves, as an OpenAPI 3.1 document.
//
// GET /v1/openapi.json. No refusals of its own.
func (c *Client) OpenAPI(ctx context.Context) (json.RawMessage, error) {
	return do[json.RawMessage](ctx, c, http.MethodGet, api.PathOpenAPI, nil)
}

// checkName refuses the names that no pool can have and no path can carry: an empty or dot segment is
// folded away on the way (RFC 3986 section 5.2.4) and would reach another route.
func checkName(name string) error {
	switch name {
	case "", ".", "..":
		return api.NewProblem(http.StatusNotFound, api.CodePoolNotFound, "there is no pool %q", name)
	}
	return nil
}

// pool makes a call whose answer is a pool. An answer that names none, such as {}, is from something other
// than the admin API: taken for a pool without members, it would hide that nothing was done.
func pool(ctx context.Context, c *Client, r request) (api.Upstream, error) {
	answer, err := ask[api.Upstream](ctx, c, r)
	if err == nil && answer.Name == "" {
		err = callError(r.method, r.path, errors.New("decoding the answer: there is no pool in it"))
	}
	return answer, err
}

// request is a call before it is made.
type request struct {
	method string
	// path has the query too.
	path string
	// accept is the media type of the answer; "" is JSON.
	accept string
	// header are further fields.
	header http.Header
	// body is sent as JSON; nil: none.
	body any
}

// do makes one call: body, if there is one, as JSON to path, the answer as an A.
func do[A any](ctx context.Context, c *Client, method, path string, body any) (A, error) {
	return ask[A](ctx, c, request{method: method, path: path, body: body})
}

// ask makes one call whose answer is an A in JSON.
func ask[A any](ctx context.Context, c *Client, r request) (A, error) {
	var answer A
	text, err := c.exchange(ctx, r)
	if err != nil {
		return answer, callError(r.method, r.path, err)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, callError(r.method, r.path, fmt.Errorf("decoding the answer: %w", err))
	}
	return answer, nil
}

// callError puts the call in front of an error that does not explain itself. A problem and an
// unreachable daemon do.
func callError(method, path string, err error) error {
	var problem *api.Problem
	var unreachable *Unreachable
	if errors.As(err, &problem) || errors.As(err, &unreachable) {
		return err
	}
	return fmt.Errorf("calling %s %s: %w", method, path, err)
}

// exchange sends one request and returns the body of a successful answer.
func (c *Client) exchange(ctx context.Context, r request) ([]byte, error) {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	resp, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return c.read(ctx, resp)
}

// open sends one request and returns the answer with its body still to come. The status is 200: whatever
// else is answered is an error.
func (c *Client) open(ctx context.Context, r request) (*http.Response, error) {
	req, err := newRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	resp, err := c.send(req)
	if err != nil {
		return nil, ended(ctx, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	text, err := c.read(ctx, resp)
	if err != nil {
		return nil, err
	}
	return nil, problemOf(resp, text)
}

// read is the body of an answer, up to the client's limit.
func (c *Client) read(ctx context.Context, resp *http.Response) ([]byte, error) {
	limit := c.MaxAnswer
	if limit == 0 {
		limit = DefaultMaxAnswer
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", ended(ctx, err))
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("reading the answer: it is larger than %d bytes", limit)
	}
	return text, nil
}

// newRequest makes the request. A body over the API's limit is refused here and in the daemon's words:
// the daemon answers without reading it, and its answer could get lost behind the failed write.
func newRequest(ctx context.Context, r request) (req *http.Request, err error) {
	var content io.Reader
	contentType := "application/json"
	if r.body != nil {
		text, isText := r.body.(plainText)
		if isText {
			contentType = "application/yaml"
		} else if text, err = json.Marshal(r.body); err != nil {
			return nil, fmt.Errorf("encoding the request: %w", err)
		}
		if len(text) > api.MaxBody {
			return nil, api.NewProblem(http.StatusRequestEntityTooLarge, api.CodeBodyTooLarge,
				"the body has %d bytes, the limit is %d", len(text), api.MaxBody)
		}
		content = bytes.NewReader(text)
	}
	// The host is the one of the guide's curl; nothing is resolved.
	req, err = http.NewRequestWithContext(ctx, r.method, "http://localhost"+r.path, content)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, r.header)
	req.Header.Set("Accept", cmp.Or(r.accept, "application/json"))
	if r.body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	return req, nil
}

// ended is the context's error where the context ended, whatever cause or follow-up came up first.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
