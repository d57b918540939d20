package metrics

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page lists each family with its type and labels, and the buckets.
func TestDocsListTheFamilies(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/logging-metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(scalws_\\w+)` \\| (\\w+) \\| ([\\w, ]*?) ?\\|").FindAllSubmatch(page, -1) {
		documented = append(documented, fmt.Sprintf("%s %s {%s}", row[1], row[2], row[3]))
	}
	slices.Sort(documented)
	var want []string
	for _, f := range families() {
		want = append(want, fmt.Sprintf("%s %s {%s}", f.name, f.kind, f.labels))
	}
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Error(diff)
	}
	buckets := make([]string, 0, len(Buckets()))
	for _, b := range Buckets() {
		buckets = append(buckets, strings.TrimPrefix(fmt.Sprint(b), "0"))
	}
	buckets[0] = ".0005" // which fmt writes as 5e-4
	if list := strings.Join(buckets, " ") + "."; !strings.Contains(string(page), list) {
		t.Errorf("the page does not list the buckets %s", list)
	}
}
