package config

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/strict"
)

var update = flag.Bool("update", false, "write the golden files and the tables of the manual")

// TestBroken reads every file of testdata/broken, C01 (duplicate_key) among them. A file is named after the code that it must have;
// the golden beside it has all of its problems, in order.
func TestBroken(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			cfg, problems := Load(file)
			if (cfg == nil) != problems.Failed() {
				t.Errorf("Config is nil: %v, Failed: %v", cfg == nil, problems.Failed())
			}
			code, _, _ := strings.Cut(name, ".")
			if code != "many" && !slices.ContainsFunc(problems, func(p strict.Problem) bool { return p.Code == code }) {
				t.Errorf("no problem has the code %s", code)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			checkPlaces(t, text, slices.DeleteFunc(slices.Clone(problems), func(p strict.Problem) bool { return p.File != file }))
			golden(t, strings.TrimSuffix(file, ".yaml")+".golden", report(problems))
		})
	}
}

// TestCodesAreProven holds the list of codes against the broken files and their goldens.
func TestCodesAreProven(t *testing.T) {
	generated := map[string]bool{strict.CodeFileTooLarge: true} // TestTooLarge
	severity := make(map[string]strict.Severity)
	for _, c := range Codes() {
		severity[c.Code] = c.Severity
		files, _ := filepath.Glob("testdata/broken/" + c.Code + "*.yaml")
		if len(files) == 0 && !generated[c.Code] {
			t.Errorf("no broken file for the code %s", c.Code)
		}
	}
	files, _ := filepath.Glob("testdata/broken/*.yaml")
	for _, file := range files {
		_, problems := Load(file)
		for _, p := range problems {
			if severity[p.Code] != p.Severity {
				t.Errorf("%v: Codes says %q", p, severity[p.Code])
			}
		}
	}
}

// report is a problem a line.
func report(problems strict.Problems) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

// golden compares got with a file, or writes it with -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// checkPlaces holds that problems are in the order of the text and lie inside of it.
func checkPlaces(t *testing.T, text []byte, problems strict.Problems) {
	t.Helper()
	lines := regexp.MustCompile("\r\n|\r|\n").Split(strings.TrimPrefix(string(text), "\ufeff"), -1)
	for i, p := range problems {
		if p.Line < 1 || p.Column < 1 || p.Line > len(lines) || p.Column > len([]rune(lines[p.Line-1]))+1 {
			t.Errorf("%v: outside of the text", p)
		}
		if i > 0 && (p.Line < problems[i-1].Line || p.Line == problems[i-1].Line && p.Column < problems[i-1].Column) {
			t.Errorf("%v: comes before the problem in front of it", p)
		}
	}
}
