package console

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The keys of the documentation are those that the page knows, in the same order.
func TestPageHasTheKeys(t *testing.T) {
	keys := func(file, pattern string) (all []string) {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			all = append(all, found[1])
		}
		return all
	}
	inCode := keys("page/keys.js", `(?m)^  \["([^"]+)", "`)
	if len(inCode) < 8 {
		t.Fatalf("only the keys %q were found in the code", inCode)
	}
	if diff := cmp.Diff(inCode, keys("../../docs/console.md", "(?m)^\\| `([^`]+)` \\| ")); diff != "" {
		t.Errorf("keys (-code +docs):\n%s", diff)
	}
}
