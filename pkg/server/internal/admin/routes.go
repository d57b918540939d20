package admin

import (
	"net/http"

	"github.com/scalws/scalws/pkg/api"
)

// route is one call of the API.
type route struct {
	method string
	// path is a pattern of [http.ServeMux] without the method.
	path string
	// change names what the audit log calls it; empty for calls that change nothing.
	change string
	// handle answers, or returns why it did not.
	handle func(w http.ResponseWriter, r *http.Request) error
	about  about
}

// about is what the API's description says of a route. The tests hold it against what the handler does.
type about struct {
	// id names the call in programs that are made from the description.
	id string
	// summary says in a line what it does.
	summary string
	// query and header are the parameters that it looks at. All are optional.
	query, header []parameter
	// body is a value of the type that a request brings, nil without one.
	body any
	// answers are values of the types that it answers with status 200, by media type; "" is any text.
	answers map[string]any
	// refusals are the codes of its problems, beside those of every call.
	refusals []string
}

// parameter is a query parameter or a field of the request.
type parameter struct {
	name string
	// like is a value of its type.
	like    any
	summary string
}

// inYAML is a body in YAML.
type inYAML map[string]any

// inJSON is an answer in JSON.
func inJSON(answer any) map[string]any { return map[string]any{"application/json": answer} }

// routes is every call, sorted by path and method.
func (h *handler) routes() []route {
	conditions := []parameter{
		{"If-Match", "", "The pool's ETag; the list is replaced only if it is that still."},
		{"If-None-Match", "", "The list is not replaced if the pool's ETag is this one."},
	}
	return []route{
		{"GET", api.PathMetrics, "", h.metrics, about{
			id: "metrics", summary: "The metrics, in the format of Prometheus",
			answers: map[string]any{"text/plain": ""},
		}},
		{"GET", api.PathConfig, "", h.showConfig, about{
			id: "config", summary: "The configuration that is served, defaults filled in, in the keys of the file",
			answers: inJSON(map[string]any{}),
		}},
		{"POST", api.PathPlan, "", h.plan, about{
			id: "plan", summary: "What a reload would do if the body were the configuration file",
			body: inYAML{}, answers: inJSON(api.Plan{}),
			refusals: []string{api.CodeBodyTooLarge, api.CodeInvalidBody, api.CodeInvalidConfig, api.CodeReloadRefused},
		}},
		{"GET", api.PathEvents, "", h.events, about{
			id: "events", summary: "What happened, as a list or as a live stream",
			query: []parameter{
				{api.ParamPool, "", "Leave out the events of other pools."},
				{api.ParamSince, uint64(0), "Leave out the events up to this number."},
			},
			header: []parameter{
				{api.HeaderLastEvent, "", "Where a stream goes on: the id of the event that came last."},
			},
			answers:  map[string]any{"application/json": api.Events{}, api.StreamType: ""},
			refusals: []string{api.CodePoolNotFound, api.CodeTooManyStreams},
		}},
		{"GET", api.PathOpenAPI, "", h.openAPI, about{
			id: "openapi", summary: "This description",
			answers: inJSON(map[string]any{}),
		}},
		{"POST", api.PathReload, changeReload, h.reload, about{
			id: "reload", summary: "Loads the configuration file again, and says what that changed",
			answers: inJSON(api.Plan{}), refusals: []string{api.CodeInvalidConfig, api.CodeReloadRefused},
		}},
		{"GET", api.PathStatus, "", h.status, about{
			id: "status", summary: "The process",
			answers: inJSON(api.Status{}),
		}},
		{"GET", api.PathUpstreams, "", h.listUpstreams, about{
			id: "listUpstreams", summary: "All pools, sorted by name",
			answers: inJSON(api.Upstreams{}),
		}},
		{"GET", api.PathUpstreams + "/{name}", "", h.showUpstream, about{
			id: "showUpstream", summary: "One pool",
			answers: inJSON(api.Upstream{}), refusals: []string{api.CodePoolNotFound},
		}},
		{"PUT", api.PathUpstreams + "/{name}", changeMembers, h.setMembers, about{
			id: "setMembers", summary: "Replaces the whole member list of a pool; a dry run says what that would change",
			query:   []parameter{{api.ParamDryRun, false, "Change nothing, and answer what would change."}},
			header:  conditions,
			body:    api.SetMembers{},
			answers: inJSON(eitherOf{api.Upstream{}, api.Change{}}),
			refusals: []string{
				api.CodePoolNotFound, api.CodeNoRuntimeMembers, api.CodeMembersFromFile, api.CodeBodyTooLarge,
				api.CodeInvalidBody, api.CodeInvalidMembers, api.CodePreconditionFailed,
			},
		}},
		{"GET", api.PathUpstreams + "/{name}/explain", "", h.explain, about{
			id: "explain", summary: "Which member a request would get now, and why no other",
			query: []parameter{
				{api.ParamClientIP, "", "The client's address, for a pool that hashes it."},
				{api.ParamHeader, "", "The header's value, for a pool that hashes a header."},
				{api.ParamCookie, "", "The affinity cookie's value, for a pool that has one."},
			},
			answers: inJSON(api.Explanation{}), refusals: []string{api.CodePoolNotFound},
		}},
		{"POST", api.PathUpstreams + "/{name}/preview", "", h.preview, about{
			id: "preview", summary: "How many keys another member list would move, from whom to whom",
			body: api.PreviewMembers{}, answers: inJSON(api.Preview{}),
			refusals: []string{
				api.CodePoolNotFound, api.CodeNoKeys, api.CodeBodyTooLarge,
				api.CodeInvalidBody, api.CodeInvalidMembers, api.CodeInvalidKeys, api.CodeBusy,
			},
		}},
	}
}

// eitherOf is an answer that is one of several types.
type eitherOf []any

// refusalsOfAll are codes that every call may answer with.
func refusalsOfAll() []string {
	return []string{api.CodeForbidden, api.CodeInvalidQuery, api.CodeInternal}
}

// refuse makes a problem. Each code has its status.
func refuse(code, format string, args ...any) *api.Problem {
	return api.NewProblem(statusOf(code), code, format, args...)
}

// statusOf is the status that a problem of a code is answered with.
func statusOf(code string) int {
	switch code {
	case api.CodeForbidden:
		return http.StatusForbidden
	case api.CodeNotFound, api.CodePoolNotFound:
		return http.StatusNotFound
	case api.CodeMethodNotAllowed:
		return http.StatusMethodNotAllowed
	case api.CodeNoRuntimeMembers:
		return http.StatusNotImplemented
	case api.CodeMembersFromFile, api.CodeNoKeys, api.CodeReloadRefused:
		return http.StatusConflict
	case api.CodeBodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case api.CodeInvalidQuery, api.CodeInvalidBody, api.CodeInvalidMembers, api.CodeInvalidKeys, api.CodeInvalidConfig:
		return http.StatusBadRequest
	case api.CodePreconditionFailed:
		return http.StatusPreconditionFailed
	case api.CodeBusy:
		return http.StatusTooManyRequests
	case api.CodeTooManyStreams:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
