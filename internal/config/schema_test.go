package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/scalws/scalws/internal/strict"
)

// beyondSchema are the broken files, or all of a code, that a schema cannot refuse, and why.
func beyondSchema() map[string]string {
	const (
		text   = "the text is refused, of which a schema sees only the values"
		twoOf  = "two values are compared"
		file   = "a file that is named is looked into"
		number = "the value of a text is bounded"
		other  = "the site file is broken, which has a schema of its own"
	)
	return map[string]string{
		"several_documents":            text,
		"tag":                          text,
		"not_utf8.utf16":               text,
		"invalid_yaml.second_document": text,
		"invalid_pattern":              "a pattern of file names cannot be described by an expression",
		"duplicate_address":            twoOf,
		"duplicate_domain":             twoOf,
		"duplicate_name":               twoOf,
		"duplicate_route":              twoOf,
		"same_file":                    twoOf,
		"unknown_pool.none":            twoOf,
		"invalid_certificate":          file,
		"invalid_key_file":             file,
		"duplicate_header":             twoOf,
		"reserved_header":              "names are compared without regard to case",
		"invalid_regex":                "an expression cannot be described by an expression",
		"invalid_domain.international": twoOf,
		"unreadable_file":              file,
		"invalid_mode":                 "without quotes readers of YAML disagree about what the number is",
		"out_of_range.cookie_max_age":  number,
		"invalid_name.site":            other,
		"pools_in_site":                other,
		"proxy_and_runtime":            other,
	}
}

// TestSchemaRefuses holds the schema against the broken files: it refuses each that has an error, but those
// that it cannot, and none that has only warnings.
func TestSchemaRefuses(t *testing.T) {
	schema, beyond := compileSchema(t, Schema()), beyondSchema()
	used := make(map[string]bool)
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d broken files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			_, problems := Load(file)
			why := beyond[name]
			used[name] = true
			if code, _, found := strings.Cut(name, "."); found && why == "" {
				why, used[code] = beyond[code], true
			}
			err := schema.Validate(editorsView(readText(t, file)))
			switch refused := err != nil; {
			case refused && !problems.Failed():
				t.Errorf("the schema refuses what is only warned of: %v", err)
			case !refused && problems.Failed() && why == "":
				t.Errorf("the schema takes it:\n%s", report(problems))
			}
		})
	}
	for name := range beyond {
		if !used[name] {
			t.Errorf("there is no broken file %s", name)
		}
	}
}

// TestSchemaOfSites does the same for site files.
func TestSchemaOfSites(t *testing.T) {
	schema := compileSchema(t, SiteSchema())
	for file, taken := range map[string]bool{
		"broken/files/sites/shop.yaml":   true,
		"broken/files/sites/one/a.yaml":  true,
		"broken/files/sites/shop-2.yaml": false,
		"broken/files/sites/pools.yaml":  false,
		"broken/files/sites/both.yaml":   false,
		"valid/guide.yaml":               false,
	} {
		t.Run(file, func(t *testing.T) {
			if err := schema.Validate(editorsView(readText(t, filepath.Join("testdata", file)))); (err == nil) != taken {
				t.Errorf("error %v, want that it is taken: %v", err, taken)
			}
		})
	}
}

// TestSchemaTakes holds the schema against all that is known to be good: the valid files, the examples and the
// manual.
func TestSchemaTakes(t *testing.T) {
	schema := compileSchema(t, Schema())
	texts := make(map[string][]byte)
	for _, pattern := range []string{"testdata/valid/*.yaml", "../../examples/*.yaml", "../../examples/remote-admin/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			texts[file] = readText(t, file)
		}
	}
	for i, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(readText(t, manual), -1) {
		if bytes.HasPrefix(block[1], []byte("server:")) {
			texts[fmt.Sprintf("block %d of the manual", i)] = block[1]
		}
	}
	for name, text := range texts {
		if err := schema.Validate(editorsView(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaDescribes holds that an editor can say of each key what the manual does.
func TestSchemaDescribes(t *testing.T) {
	text, err := json.Marshal(Schema())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Keys() {
		inJSON, err := json.Marshal(k.Meaning)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, bytes.TrimSuffix(inJSON, []byte(`"`))) {
			t.Errorf("the schema does not describe %s", k.Path)
		}
	}
	for _, want := range []string{
		`"cooldown":{"description":"How long it stays out. A duration: 1ms to 1h.","default":"10s",`,
		`"weight":{"description":"Relative share of requests. A whole number: 1 to 1000.","default":1,"type":"integer","minimum":1,"maximum":1000}`,
		`"preserve_host":{"description":"Sends the client's Host; false sends the member's address.","default":true,"type":"boolean"}`,
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the schema does not have %s", want)
		}
	}
}

// FuzzSchema holds that the schema takes what the decoder takes.
func FuzzSchema(f *testing.F) {
	for _, pattern := range []string{"testdata/valid/*.yaml", "testdata/broken/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	schema := compileSchema(f, Schema())
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, problems := Parse("testdata/valid/fuzz.yaml", text); problems.Failed() {
			return
		}
		if err := schema.Validate(editorsView(text)); err != nil {
			t.Errorf("the decoder takes it, the schema does not: %v", err)
		}
	})
}

// compileSchema also holds the schema against that of schemas.
func compileSchema(t testing.TB, shown strict.Shown) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func readText(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// editorsView is a text as an editor sees it, by the core schema of YAML 1.2; nil if it is no YAML.
func editorsView(text []byte) any {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil || len(doc.Content) == 0 {
		return nil
	}
	return viewNode(doc.Content[0])
}

func viewNode(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		section := make(map[string]any)
		for i := 0; i+1 < len(n.Content); i += 2 {
			section[n.Content[i].Value] = viewNode(n.Content[i+1])
		}
		return section
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, entry := range n.Content {
			list = append(list, viewNode(entry))
		}
		return list
	case yaml.AliasNode:
		return nil
	}
	decimal := regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	switch {
	case n.Tag == "!!null":
		return nil
	case n.Tag == "!!bool":
		return strings.EqualFold(n.Value, "true")
	case (n.Tag == "!!int" || n.Tag == "!!float") && decimal.MatchString(n.Value):
		digits := strings.TrimLeft(n.Value, "-0")
		if digits == "" || digits[0] == '.' {
			digits = "0" + digits
		}
		if n.Value[0] == '-' {
			digits = "-" + digits
		}
		return json.Number(digits)
	}
	return n.Value
}
