package ctl

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/scalws/scalws/internal/strict"
)

// diagnosticsSchema names the document of "config validate -o json".
const diagnosticsSchema = "scalws.diagnostics/1"

// diagnostics is that document.
type diagnostics struct {
	Schema string `json:"schema"`
	// Valid is false if any file has an error, or a warning where warnings count as errors.
	Valid    bool             `json:"valid"`
	Problems []strict.Problem `json:"problems"`
}

// How much of a long source line is shown to the left and to the right of a problem, in characters.
const (
	excerptLeft  = 60
	excerptRight = 60
)

// writeProblems prints each problem with the line that it is about and a caret below its column.
func writeProblems(w io.Writer, problems []strict.Problem, sources sourceLines) error {
	for _, p := range problems {
		if _, err := fmt.Fprintln(w, printable(heading(p))); err != nil {
			return err
		}
		if line, ok := sources.line(p.File, p.Line); ok {
			text, caret := excerpt(line, p.Column)
			fmt.Fprintf(w, "  %s\n  %s\n", text, caret)
		}
		if p.Hint != "" {
			fmt.Fprintf(w, "  hint: %s\n", printable(p.Hint))
		}
	}
	return nil
}

// heading is a problem in one line, in the form that editors jump to. The hint has a line of its own.
func heading(p strict.Problem) string {
	p.Hint = ""
	return p.String()
}

// excerpt is the part of a line around a column that counts characters from 1, and a line with a caret
// below it. Tabs become single spaces, so that the caret stands right whatever a tab's width.
func excerpt(line string, column int) (text, caret string) {
	runes := []rune(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", " "))
	at := min(max(column-1, 0), len(runes))
	from, to := max(at-excerptLeft, 0), min(at+excerptRight, len(runes))
	before, after := printable(string(runes[from:at])), printable(string(runes[at:to]))
	if from > 0 {
		before = "..." + before
	}
	if to < len(runes) {
		after += "..."
	}
	return before + after, strings.Repeat(" ", lipgloss.Width(before)) + "^"
}

// summary counts what was found, for people.
func summary(files, invalid int, problems []strict.Problem) string {
	var errors, warnings int
	for _, p := range problems {
		if p.Severity == strict.Error {
			errors++
		} else {
			warnings++
		}
	}
	text := count(files, "file") + ", all valid"
	if files == 1 {
		text = "valid"
	}
	if invalid > 0 {
		text = fmt.Sprintf("%s, %d invalid", count(files, "file"), invalid)
		if files == 1 {
			text = "invalid"
		}
	}
	if errors > 0 {
		text += ", " + count(errors, "error")
	}
	if warnings > 0 {
		text += ", " + count(warnings, "warning")
	}
	return text
}

// sourceLines are the lines of the files that problems are about, by file name.
type sourceLines map[string][][]byte

// keep remembers the text of a file.
func (s sourceLines) keep(file string, text []byte) {
	s[file] = bytes.Split(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n"))
}

// line is a line of a file, counted from 1. There is none for a problem without a place, and none in a
// file that cannot be read any more.
func (s sourceLines) line(file string, number int) (string, bool) {
	if number < 1 {
		return "", false
	}
	if _, ok := s[file]; !ok {
		text, err := os.ReadFile(file)
		if err != nil {
			text = nil
		}
		s.keep(file, text)
	}
	if number > len(s[file]) {
		return "", false
	}
	return string(s[file][number-1]), true
}
