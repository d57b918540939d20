package accesslog

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page lists the fields in their order. That a line has just these is TestLineJSON's and parseJSON's.
func TestDocsListTheFields(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/logging-metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (?:text|number) \\|").FindAllSubmatch(page, -1) {
		documented = append(documented, string(row[1]))
	}
	if diff := cmp.Diff(fieldOrder, documented); diff != "" {
		t.Error(diff)
	}
}
