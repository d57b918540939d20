package admin

import (
	"net/http"

	"github.com/scalws/scalws/pkg/api"
)

// changeReload is what the audit log calls a reload.
const changeReload = "reload"

// showConfig answers GET /v1/config.
func (h *handler) showConfig(w http.ResponseWriter, r *http.Request) error {
	if _, err := query(r); err != nil {
		return err
	}
	text, err := h.Runtime.Config()
	if err != nil {
		return err
	}
	respondBytes(w, http.StatusOK, "application/json", append(text, '\n'))
	return nil
}

// plan answers POST /v1/config/plan. The body is the text of a configuration file, whatever its Content-Type
// says.
func (h *handler) plan(w http.ResponseWriter, r *http.Request) error {
	text, err := readBody(w, r)
	if err != nil {
		return err
	}
	if _, err := query(r); err != nil {
		return err
	}
	plan, err := h.Runtime.Plan(text)
	if err != nil {
		return err
	}
	return respond(w, plan)
}

// reload answers POST /v1/reload. The body is not looked at.
func (h *handler) reload(w http.ResponseWriter, r *http.Request) error {
	if _, err := query(r); err != nil {
		return err
	}
	plan, err := h.Runtime.Reload(who(r).String())
	if err != nil {
		return err
	}
	return respond(w, plan)
}

// InvalidConfig is the answer to a configuration with errors, of which there is at least one.
func InvalidConfig(detail string, errors []api.FieldError) *api.Problem {
	p := refuse(api.CodeInvalidConfig, "%s", detail)
	p.Errors = errors
	return p
}

// ReloadRefused is the answer where the configuration has no errors and the process cannot take it: an address
// is in use, a file is gone, members that were set at run time do not fit.
func ReloadRefused(detail string, errors []api.FieldError) *api.Problem {
	p := refuse(api.CodeReloadRefused, "%s", detail)
	p.Errors = errors
	return p
}
