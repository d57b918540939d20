package client

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/scalws/scalws/pkg/api"
)

// plainText is a body that goes out as it is, in place of JSON.
type plainText []byte

// Config is the configuration that is served, defaults filled in, as JSON in the keys of the configuration file.
// A file with this text configures the same.
//
// GET /v1/config. No refusals of its own.
func (c *Client) Config(ctx context.Context) (json.RawMessage, error) {
	return do[json.RawMessage](ctx, c, http.MethodGet, api.PathConfig, nil)
}

// Plan says what a reload would do if text, a configuration in YAML, were the daemon's configuration file. It
// changes nothing. Files that the text names are read by the daemon, relative to the folder of its own file.
//
// POST /v1/config/plan. 400: the text is not a valid configuration, with its problems in Errors; 409: members
// that were set at run time could not stay; 413: the text has more than api.MaxBody bytes.
func (c *Client) Plan(ctx context.Context, text []byte) (api.Plan, error) {
	return do[api.Plan](ctx, c, http.MethodPost, api.PathPlan, plainText(text))
}

// Reload has the daemon load its configuration file again, and returns what became of everything.
//
// POST /v1/reload. Refused, with everything as before: 400 where the file is not a valid configuration, with its
// problems in Errors, 409 where the process cannot take it: an address is in use, members that were set at run
// time could not stay.
func (c *Client) Reload(ctx context.Context) (api.Plan, error) {
	return do[api.Plan](ctx, c, http.MethodPost, api.PathReload, nil)
}
