package admin

import (
	_ "embed" // the description is a file beside this one
	"net/http"
)

// description is the API in OpenAPI 3.1, the same as docs/openapi.json. The tests write it, from the table of
// routes and from the types and comments of the package api, and fail while it is stale.
//
//go:embed openapi.json
var description []byte

// openAPI answers GET /v1/openapi.json.
func (h *handler) openAPI(w http.ResponseWriter, r *http.Request) error {
	if _, err := query(r); err != nil {
		return err
	}
	respondBytes(w, http.StatusOK, "application/json", description)
	return nil
}

// metrics answers GET /metrics.
func (h *handler) metrics(w http.ResponseWriter, r *http.Request) error {
	if _, err := query(r); err != nil {
		return err
	}
	h.Metrics.ServeHTTP(w, r)
	return nil
}
