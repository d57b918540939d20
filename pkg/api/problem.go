package api

import (
	"fmt"
	"net/http"
)

// ProblemType is the media type of every refusal (RFC 9457 section 3).
const ProblemType = "application/problem+json"

// Problem is a refused or failed request (RFC 9457). The client returns it as an error, so that
// errors.As(err, &problem) tells what the daemon said.
type Problem struct {
	// Type is a URI that names the kind of problem; "about:blank" adds nothing to the status.
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail says what is wrong here, for example "members[1].weight: must be between 1 and 1000".
	Detail string `json:"detail"`
	// Code is stable and for programs; see the Code constants.
	Code string `json:"code"`
	// Errors lists every wrong entry where there may be several.
	Errors []FieldError `json:"errors,omitempty"`
}

// FieldError is one wrong entry of a request body, or of a configuration.
type FieldError struct {
	// Path of the entry, for example "members[1].weight".
	Path   string `json:"path"`
	Detail string `json:"detail"`
	// File, Line, Column and Code are those of a problem in a configuration (docs/configuration.md#codes). Line
	// and Column count from 1.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Code   string `json:"code,omitempty"`
}

// Codes of the problems that the API answers with.
const (
	CodeNotFound           = "not_found"
	CodePoolNotFound       = "pool_not_found"
	CodeMethodNotAllowed   = "method_not_allowed"
	CodeMembersFromFile    = "members_from_file"
	CodeNoRuntimeMembers   = "no_runtime_members"
	CodeNoKeys             = "pool_hashes_no_key"
	CodeBodyTooLarge       = "body_too_large"
	CodeInvalidBody        = "invalid_body"
	CodeInvalidMembers     = "invalid_members"
	CodeInvalidKeys        = "invalid_keys"
	CodeInvalidQuery       = "invalid_query"
	CodeForbidden          = "forbidden"
	CodePreconditionFailed = "precondition_failed"
	CodeInvalidConfig      = "invalid_configuration"
	CodeReloadRefused      = "reload_refused"
	CodeBusy               = "busy"
	CodeTooManyStreams     = "too_many_streams"
	CodeInternal           = "internal"
)

// NewProblem makes a problem whose title is the status text.
func NewProblem(status int, code, format string, args ...any) *Problem {
	return &Problem{
		Type:   "about:blank",
		Title:  http.StatusText(status),
		Status: status,
		Code:   code,
		Detail: fmt.Sprintf(format, args...),
	}
}

// Error is the detail; without one, the status and its title.
func (p *Problem) Error() string {
	if p.Detail == "" {
		return fmt.Sprintf("%d %s", p.Status, p.Title)
	}
	return p.Detail
}
