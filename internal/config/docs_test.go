package config

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/strict"
)

const manual = "../../docs/configuration.md"

// application is where the keys of an application stand.
const application = "tenants[].applications[]."

// TestManual holds the tables of the manual against the keys and the codes. With -update it writes them
// between their markers.
func TestManual(t *testing.T) {
	page, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{
		"keys: server":    keyTable("server", "server."),
		"keys: upstreams": keyTable("upstreams", "upstreams."),
		"keys: tenants":   keyTable("tenants", "tenants[]."),
		"keys: sites":     keyTable("sites", "sites."),
		"keys: site":      siteRows(),
		"keys: runtime":   keyTable("tenants[].applications[].runtime.", "tenants[].applications[].runtime."),
		"keys: policies":  policyRows(),
		"keys: rest":      keyTable("admin", "admin.") + keyRows("metrics", "metrics.") + keyRows("access_log", "access_log."),
		"codes":           codeTable(),
	}
	marker := regexp.MustCompile(`(?s)<!-- table ([a-z: ]+) -->\n.*?<!-- end -->`)
	seen := make(map[string]bool)
	want := marker.ReplaceAllFunc(page, func(block []byte) []byte {
		name := string(marker.FindSubmatch(block)[1])
		seen[name] = true
		return fmt.Appendf(nil, "<!-- table %s -->\n%s<!-- end -->", name, tables[name])
	})
	for name := range tables {
		if !seen[name] {
			t.Errorf("the manual has no table %q", name)
		}
	}
	if *update {
		if err := os.WriteFile(manual, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(page)); diff != "" {
		t.Errorf("%s is stale, run the test with -update (-want +got):\n%s", manual, diff)
	}
	for _, k := range Keys() {
		path := onePlace(k.Path)
		if rest, ok := strings.CutPrefix(path, application); ok && (strings.HasPrefix(rest, "runtime.") || isPolicy(rest)) {
			path = rest
		}
		if !bytes.Contains(page, []byte("| `"+path+"` |")) {
			t.Errorf("the manual does not have the key %s", path)
		}
	}
}

// TestManualExamples holds that every YAML block of the manual, and of the page about the admin API, is accepted.
func TestManualExamples(t *testing.T) {
	var blocks [][]byte
	for _, name := range []string{manual, "../../docs/admin-api.md"} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
		if len(found) == 0 {
			t.Fatalf("%s has no example", name)
		}
		for _, block := range found {
			blocks = append(blocks, block[1])
		}
	}
	besideNamedFiles(t)
	for _, block := range blocks {
		accept(t, block)
	}
}

func keyTable(section, inside string) string {
	return "| key | default | value | meaning |\n|---|---|---|---|\n" + keyRows(section, inside)
}

// keyRows are the rows of a section and of what is inside. The keys of runtimes and of policies have tables of their own.
func keyRows(section, inside string) string {
	const runtime = application + "runtime."
	var b strings.Builder
	for _, k := range Keys() {
		path := onePlace(k.Path)
		rest, inApplication := strings.CutPrefix(path, application)
		apart := inApplication && (strings.HasPrefix(rest, "runtime.") || isPolicy(rest))
		switch {
		case k.Path != section && !strings.HasPrefix(k.Path, inside), apart && inside != runtime:
			continue
		case apart:
			k.Path = rest
		}
		b.WriteString(row(k))
	}
	return b.String()
}

// policyRows are the rows of policies, without the application or the route that they stand in.
func policyRows() string {
	var b strings.Builder
	b.WriteString("| key | default | value | meaning |\n|---|---|---|---|\n")
	for _, k := range Keys() {
		if rest, ok := strings.CutPrefix(k.Path, application); ok && isPolicy(rest) {
			k.Path = rest
			b.WriteString(row(k))
		}
	}
	return b.String()
}

func row(k strict.Key) string {
	value := k.Type
	if k.Bound != "" {
		value += ": " + k.Bound
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", k.Path, k.Default, value, k.Meaning)
}

// siteRows are the rows of a site file's own keys. Those inside of them are an application's, and so are policies.
func siteRows() string {
	var b strings.Builder
	b.WriteString("| key | default | value | meaning |\n|---|---|---|---|\n")
	for _, k := range SiteKeys() {
		if !strings.ContainsAny(k.Path, ".[") && !isPolicy(k.Path) {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Path, k.Default, k.Type, k.Meaning)
		}
	}
	return b.String()
}

func codeTable() string {
	var b strings.Builder
	b.WriteString("| code | severity | meaning |\n|---|---|---|\n")
	for _, c := range Codes() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Code, c.Severity, c.Meaning)
	}
	return b.String()
}
