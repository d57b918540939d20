package sim

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const examples = "../../examples/simulate"

// readScenario reads the scenario in a file.
func readScenario(path string) (*Scenario, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// TestExamples runs every example: what it expects holds, and its text fits on a page.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob(examples + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			s, err := readScenario(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.expect) == 0 {
				t.Error("it expects nothing")
			}
			r := runScenario(t, s)
			for _, f := range r.Failed() {
				t.Errorf("line %d: %s: found %s", f.Line, f.Expect, f.Found)
			}
			var text bytes.Buffer
			if err := r.WriteText(&text, Style{}); err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + text.String())
		})
	}
}

func runScenario(t testing.TB, s *Scenario) *Report {
	t.Helper()
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}
