package admin

import (
	"net/http"

	"github.com/scalws/scalws/pkg/api"
)

// changeReload is what the audit log calls a reload.
const changeReload = "reload"

// showConfig answers GET /v1/config.
func (h *handler) showConfig(w http.ResponseWriter, _ *http.Request) error {
	text, err := h.runtime.Config()
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, "application/json", append(text, '\n'))
}

// plan answers POST /v1/config/plan. The body is the text of a configuration file, whatever its Content-Type
// says.
func (h *handler) plan(w http.ResponseWriter, r *http.Request) error {
	text, err := readBody(w, r)
	if err != nil {
		return err
	}
	if err := noQuery(r); err != nil {
		return err
	}
	plan, err := h.runtime.Plan(text)
	if err != nil {
		return err
	}
	return respond(w, plan)
}

// reload answers POST /v1/reload, and audits it whatever comes of it. The body is not looked at.
func (h *handler) reload(w http.ResponseWriter, r *http.Request) error {
	plan, err := h.carryOutReload(r)
	h.audit(r, change{what: changeReload}, err)
	if err != nil {
		return err
	}
	return respond(w, plan)
}

func (h *handler) carryOutReload(r *http.Request) (*api.Plan, error) {
	if err := noQuery(r); err != nil {
		return nil, err
	}
	return h.runtime.Reload(who(r))
}

// noQuery refuses parameters: somebody who asks for more than a call does, a rehearsal for example, must not
// get just this.
func noQuery(r *http.Request) error {
	if r.URL.RawQuery != "" {
		return api.NewProblem(http.StatusBadRequest, api.CodeInvalidQuery, "query: this call takes no parameters")
	}
	return nil
}

// InvalidConfig is the answer to a configuration with errors, of which there is at least one.
func InvalidConfig(detail string, errors []api.FieldError) *api.Problem {
	p := api.NewProblem(http.StatusBadRequest, api.CodeInvalidConfig, "%s", detail)
	p.Errors = errors
	return p
}

// ReloadRefused is the answer where the configuration has no errors and the process cannot take it: an address
// is in use, a file is gone, members that were set at run time do not fit.
func ReloadRefused(detail string, errors []api.FieldError) *api.Problem {
	p := api.NewProblem(http.StatusConflict, api.CodeReloadRefused, "%s", detail)
	p.Errors = errors
	return p
}
