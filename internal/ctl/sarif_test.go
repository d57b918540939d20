package ctl

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/internal/strict"
)

// sarifDocuments are logs of every sort of problem.
func sarifDocuments() map[string][]strict.Problem {
	all := []strict.Problem{{Code: "unreadable_file", Severity: strict.Error, File: "/etc/scalws/gone.yaml", Message: "does not exist"}}
	for i, c := range config.Codes() {
		all = append(all, strict.Problem{Code: c.Code, Severity: c.Severity, File: "a b/ü.yaml", Line: i + 1, Column: 1, Path: "x.y", Message: "no", Hint: "do"})
	}
	return map[string][]strict.Problem{
		"nothing":        nil,
		"every code":     all,
		"standard input": {{Code: "empty_file", Severity: strict.Error, File: stdinName, Line: 1, Column: 1, Message: "nothing"}},
	}
}

// TestSARIFSchema holds logs against the schema that OASIS publishes (Errata 01).
func TestSARIFSchema(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(sarifSchema, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(sarifSchema)
	if err != nil {
		t.Fatal(err)
	}
	for name, problems := range sarifDocuments() {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(sarifLog(problems, "1.2.3"))
			if err != nil {
				t.Fatal(err)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(doc); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

func TestSARIFLog(t *testing.T) {
	var out bytes.Buffer
	err := writeJSON(&out, sarifLog([]strict.Problem{
		{Code: "out_of_range", Severity: strict.Error, File: "deploy/scalws.yaml", Line: 3, Column: 9, Path: "upstreams.api.retries", Message: "must be between 0 and 5"},
		{Code: "no_members", Severity: strict.Warning, File: "deploy/scalws.yaml", Line: 2, Column: 1, Path: "upstreams.api", Message: "none", Hint: "add some"},
		{Code: "out_of_range", Severity: strict.Error, File: "other.yaml", Message: "must not"},
	}, "1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/sarif.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestFileURI(t *testing.T) {
	for path, want := range map[string]string{
		"scalws.yaml":             "scalws.yaml",
		"deploy/a b.yaml":         "deploy/a%20b.yaml",
		"a:b.yaml":                "./a:b.yaml",
		"100%.yaml":               "100%25.yaml",
		"/etc/scalws/scalws.yaml": "file:///etc/scalws/scalws.yaml",
		stdinName:                 "%3Cstdin%3E",
	} {
		if got := fileURI(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
