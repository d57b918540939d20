package sim

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with a scenario.
type Problem struct {
	File string `json:"file"`
	// Line and Column count from 1; 0 where the problem has no place.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Path of the value, for example "pool.members[1].weight"; empty for the document.
	Path    string `json:"path"`
	Message string `json:"message"`
	// Hint says what to do; may be empty.
	Hint string `json:"hint,omitempty"`
}

// String is "file:line:column: path: message (hint)".
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// Problems are all that is wrong with a scenario, in the order of the text. It is the error of [Load] and
// [Parse] for a scenario that was read and refused.
type Problems []Problem

// Error has a problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
