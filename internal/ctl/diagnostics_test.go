package ctl

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/strict"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("x", 100)
	for name, test := range map[string]struct {
		line          string
		column, width int
		text          string
		before        int
	}{
		"first column":             {"a: b", 1, 80, "a: b", 0},
		"in the middle":            {"a: b", 4, 80, "a: b", 3},
		"end of the line":          {"a:", 3, 80, "a:", 2},
		"past the end":             {"a:", 9, 80, "a:", 2},
		"no column":                {"a:", 0, 80, "a:", 0},
		"tabs":                     {"\ta:\tb", 5, 80, " a: b", 4},
		"CRLF":                     {"a: b\r", 4, 80, "a: b", 3},
		"escapes":                  {"\x1b[2Ja", 5, 80, `\x1b[2Ja`, 7},
		"wide characters":          {"日本: x", 5, 80, "日本: x", 6},
		"fits":                     {"0123456789", 10, 10, "0123456789", 9},
		"long on both sides":       {long + "y" + long, 101, 20, "...xxxxxxxyxxxxxx...", 10},
		"long in front":            {long + "y", 101, 20, "..." + long[:16] + "y", 19},
		"long behind":              {"y" + long, 1, 20, "y" + long[:16] + "...", 0},
		"wide, long on both sides": {strings.Repeat("日", 30), 16, 20, "...日日日日日日日...", 9},
		"a terminal of nothing":    {long, 50, 2, "......", 3},
	} {
		t.Run(name, func(t *testing.T) {
			text, before := excerpt(test.line, test.column, test.width)
			if diff := cmp.Diff([]string{test.text, strings.Repeat(" ", test.before)}, []string{text, before}); diff != "" {
				t.Errorf("excerpt (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzExcerpt holds that an excerpt fits its width, unless that is less than two cuts, and that the caret stands
// below it.
func FuzzExcerpt(f *testing.F) {
	f.Add("a: b", 4, 80)
	f.Add("日本日本日本日本日本: x", 5, 9)
	f.Add("\tcafe\u0301\x1b[31m", 3, 1)
	f.Fuzz(func(t *testing.T, line string, column, width int) {
		text, before := excerpt(line, column, width)
		if got := lipgloss.Width(text); got > max(width, len("......")) {
			t.Errorf("%d columns, want at most %d: %q", got, width, text)
		}
		if len(before) > lipgloss.Width(text) {
			t.Errorf("the caret is behind the end of %q, at %d", text, len(before))
		}
	})
}

func TestWriteProblems(t *testing.T) {
	sources := sourceLines{}
	sources.keep("f.yaml", []byte("\ufeffone: 1\ntwo: 2"))
	var out bytes.Buffer
	err := writeProblems(&out, []strict.Problem{
		{Code: "unreadable", Severity: strict.Error, File: "gone.yaml", Message: "no such file"},
		{Code: "range", Severity: strict.Error, File: "f.yaml", Line: 1, Column: 6, Path: "one", Message: "too small", Hint: "2 or more"},
		{Code: "odd", Severity: strict.Warning, File: "f.yaml", Line: 2, Column: 1, Message: "odd"},
		{Code: "late", Severity: strict.Error, File: "f.yaml", Line: 9, Column: 1, Message: "no such line"},
		{Code: "odd", Severity: strict.Warning, File: "\x1b.yaml", Message: "odd\x1b"},
	}, sources, newProblemStyle(&out, env(nil)))
	if err != nil {
		t.Fatal(err)
	}
	want := `gone.yaml: error: no such file [unreadable]
f.yaml:1:6: error: one: too small [range]
  one: 1
       ^
  hint: 2 or more
f.yaml:2:1: warning: odd [odd]
  two: 2
  ^
f.yaml:9:1: error: no such line [late]
\x1b.yaml: warning: odd\x1b [odd]
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestSummary(t *testing.T) {
	e, w := strict.Problem{Severity: strict.Error}, strict.Problem{Severity: strict.Warning}
	for want, test := range map[string]struct {
		files, invalid int
		problems       []strict.Problem
	}{
		"valid":              {1, 0, nil},
		"valid, 1 warning":   {1, 0, []strict.Problem{w}},
		"invalid, 1 error":   {1, 1, []strict.Problem{e}},
		"3 files, all valid": {3, 0, nil},
		"3 files, 2 invalid, 2 errors, 2 warnings": {3, 2, []strict.Problem{e, w, e, w}},
	} {
		if got := summary(test.files, test.invalid, test.problems); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
