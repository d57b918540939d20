package ctl

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/strict"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("x", 100)
	for name, test := range map[string]struct {
		line        string
		column      int
		text, caret string
	}{
		"first column":    {"a: b", 1, "a: b", "^"},
		"in the middle":   {"a: b", 4, "a: b", "   ^"},
		"end of the line": {"a:", 3, "a:", "  ^"},
		"past the end":    {"a:", 9, "a:", "  ^"},
		"no column":       {"a:", 0, "a:", "^"},
		"tabs":            {"\ta:\tb", 5, " a: b", "    ^"},
		"CRLF":            {"a: b\r", 4, "a: b", "   ^"},
		"escapes":         {"\x1b[2Ja", 5, `\x1b[2Ja`, "       ^"},
		"wide characters": {"日本: x", 5, "日本: x", "      ^"},
		"long line": {long + "y" + long, 101,
			"..." + long[:60] + "y" + long[:59] + "...", strings.Repeat(" ", 63) + "^"},
	} {
		t.Run(name, func(t *testing.T) {
			text, caret := excerpt(test.line, test.column)
			if diff := cmp.Diff([]string{test.text, test.caret}, []string{text, caret}); diff != "" {
				t.Errorf("excerpt (-want +got):\n%s", diff)
			}
		})
	}
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
	}, sources)
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
