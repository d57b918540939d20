package config

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestShownIsRead holds that what is shown of every valid file is read again, without a problem, as the same
// configuration: no key is forgotten and no default is missing.
func TestShownIsRead(t *testing.T) {
	files, err := filepath.Glob("testdata/valid/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			besideNamedFiles(t)
			cfg := accept(t, text)
			shown, err := json.Marshal(cfg.Show())
			if err != nil {
				t.Fatal(err)
			}
			again := accept(t, shown)
			// The sites are in their tenant, and need no pattern any more.
			if diff := cmp.Diff(cfg, again, cmpopts.IgnoreFields(Config{}, "Digest", "Sites"), cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
				t.Errorf("(-want +got):\n%s\nshown: %s", diff, shown)
			}
		})
	}
}
