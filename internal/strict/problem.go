package strict

import (
	"fmt"
	"strings"
)

// Severity of a problem. Warnings never stop a load.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is one thing that is wrong with a text.
type Problem struct {
	// Code is stable and for programs, for example "unknown_key".
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	// Line and Column count from 1; 0 where the problem has no place (a file that cannot be read).
	Line   int `json:"line"`
	Column int `json:"column"`
	// Path of the value, for example "upstreams.api.members[1].weight"; empty for the document.
	Path string `json:"path"`
	// Message says what is wrong, with the bound that was passed.
	Message string `json:"message"`
	// Hint says what to do; may be empty.
	Hint string `json:"hint,omitempty"`
}

// String is "file:line:column: severity: path: message (hint) [code]".
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	fmt.Fprintf(&b, ": %s: ", p.Severity)
	if p.Path != "" {
		fmt.Fprintf(&b, "%s: ", p.Path)
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		fmt.Fprintf(&b, " (%s)", p.Hint)
	}
	fmt.Fprintf(&b, " [%s]", p.Code)
	return b.String()
}

// Problems are all that is wrong, in the order of the text. A reader whose problems are all errors may
// return them as its error.
type Problems []Problem

// Failed is true if there is an error among them.
func (ps Problems) Failed() bool {
	for _, p := range ps {
		if p.Severity == Error {
			return true
		}
	}
	return false
}

// Error has a problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
