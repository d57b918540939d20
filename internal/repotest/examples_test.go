package repotest

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/config"
)

// others are examples of something else: scenarios, each of which internal/sim runs in a test, rules for
// Prometheus, which pkg/server holds against the metrics of a daemon, and workflows, whose commands the tests of
// cmd/scalwsctl run.
var others = []string{"examples/simulate/", "examples/monitoring/", "examples/ci/"}

// TestExamplesLoad: an example that the daemon refuses is worse than none.
func TestExamplesLoad(t *testing.T) {
	found := false
	for _, name := range files(t) {
		other := slices.ContainsFunc(others, func(folder string) bool { return strings.HasPrefix(name, folder) })
		if other || !strings.HasPrefix(name, "examples/") || path.Ext(name) != ".yaml" && path.Ext(name) != ".yml" {
			continue
		}
		found = true
		t.Run(strings.TrimPrefix(name, "examples/"), func(t *testing.T) {
			_, problems := config.Load(filepath.Join(rootDir(t), name))
			if problems.Failed() {
				t.Error(problems)
			}
		})
	}
	if !found {
		t.Error("there are no examples")
	}
}
