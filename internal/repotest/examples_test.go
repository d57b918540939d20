package repotest

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/config"
)

// scenarios are no configurations: internal/sim runs each of them in a test.
const scenarios = "examples/simulate/"

// TestExamplesLoad: an example that the daemon refuses is worse than none.
func TestExamplesLoad(t *testing.T) {
	found := false
	for _, name := range files(t) {
		if strings.HasPrefix(name, scenarios) || !strings.HasPrefix(name, "examples/") || path.Ext(name) != ".yaml" && path.Ext(name) != ".yml" {
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
