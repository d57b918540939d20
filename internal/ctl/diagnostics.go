package ctl

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
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

// indent of what belongs to a problem.
const indent = "  "

// maxExcerpt is how many columns of a long source line are shown where no terminal says how many fit.
const maxExcerpt = 120

// problemStyle is how problems look on a stream.
type problemStyle struct {
	// width of an excerpt in columns.
	width int
	// fold is the width that headings are broken to, 0 for never: lines in a file stay whole for programs.
	fold int
	// severity and caret paint what they are named after.
	severity func(s strict.Severity, text string) string
	caret    func(text string) string
}

// newProblemStyle has the colours of a terminal, and its width.
func newProblemStyle(out io.Writer, getenv func(string) string) problemStyle {
	painter := newPainter(out, getenv)
	red := painter.NewStyle().Foreground(lipgloss.Color("1")).Bold(true)
	yellow := painter.NewStyle().Foreground(lipgloss.Color("3")).Bold(true)
	style := problemStyle{
		width: maxExcerpt,
		severity: func(s strict.Severity, text string) string {
			if s == strict.Error {
				return red.Render(text)
			}
			return yellow.Render(text)
		},
		caret: func(text string) string { return painter.NewStyle().Bold(true).Render(text) },
	}
	if columns := terminalWidth(out, getenv); columns > 0 {
		style.width = min(style.width, columns-len(indent))
		style.fold = columns
	}
	return style
}

// writeProblems prints each problem with the line that it is about and a caret below its column.
func writeProblems(w io.Writer, problems []strict.Problem, sources sourceLines, style problemStyle) error {
	for _, p := range problems {
		// The severity comes behind the place, in which it could only stand as a part of a file's name.
		head := printable(heading(p))
		word := fmt.Sprintf(": %s: ", p.Severity)
		if before, after, ok := strings.Cut(head, word); ok {
			head = before + ": " + style.severity(p.Severity, string(p.Severity)+":") + " " + after
		}
		for i, line := range foldText(head, style.fold-len(indent)) {
			if i > 0 {
				line = indent + line
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
		if line, ok := sources.line(p.File, p.Line); ok {
			text, before := excerpt(line, p.Column, style.width)
			fmt.Fprintf(w, "%s%s\n%s%s%s\n", indent, text, indent, before, style.caret("^"))
		}
		if p.Hint != "" {
			fmt.Fprintf(w, "%shint: %s\n", indent, printable(p.Hint))
		}
	}
	return nil
}

// heading is a problem in one line, in the form that editors jump to. The hint has a line of its own.
func heading(p strict.Problem) string {
	p.Hint = ""
	return p.String()
}

// excerpt is the part of a line around a column that counts characters from 1, in at most width columns, and
// the spaces that put a caret below it. Tabs become single spaces, so that the caret stands right whatever a
// tab's width.
func excerpt(line string, column, width int) (text, before string) {
	const cut = "..."
	runes := []rune(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", " "))
	at := min(max(column-1, 0), len(runes))
	left, right := printable(string(runes[:at])), printable(string(runes[at:]))
	if lipgloss.Width(left+right) > width {
		// Half of the width for each side, and what one side does not need for the other.
		half := width / 2
		room := max(half, width-lipgloss.Width(right))
		if lipgloss.Width(left) > room {
			left = cut + lastColumns(left, room-len(cut))
		}
		if room = width - lipgloss.Width(left); lipgloss.Width(right) > room {
			right = firstColumns(right, room-len(cut)) + cut
		}
	}
	return left + right, strings.Repeat(" ", lipgloss.Width(left))
}

// firstColumns is as much from the beginning of a text as fits into a number of columns, lastColumns from its
// end.
func firstColumns(text string, columns int) string {
	used := 0
	for i, r := range text {
		if used += lipgloss.Width(string(r)); used > columns {
			return text[:i]
		}
	}
	return text
}

func lastColumns(text string, columns int) string {
	return text[len(text)-len(firstColumns(reverse(text), columns)):]
}

func reverse(text string) string {
	runes := []rune(text)
	slices.Reverse(runes)
	return string(runes)
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
