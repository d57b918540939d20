package strict

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestShow holds that what is shown is read again as the same value, with its defaults and nothing that was
// not given.
func TestShow(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"defaults": {"name: a", `{"name":"a","open":true,"wait":"0s","barn":{"doors":2},"herds":{}}`},
		"every key": {"name: '1'\nopen: False\nwait: 90s\nshare: 0.50\nbarn: {doors: 9}\npond: {}\nfields: [{}, {doors: 3}]\nherds: {hens: {}, cows: {doors: 1}}",
			`{"name":"1","open":false,"wait":"1m30s","share":0.5,"barn":{"doors":9},"pond":{"doors":2},"fields":[{"doors":2},{"doors":3}],"herds":{"hens":{"doors":2},"cows":{"doors":1}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(text string) (f farm) {
				if problems := Decode("farm.yaml", []byte(text), Format{Name: "farm"}, farmFields(&f), func(*Decoder) {}); len(problems) > 0 {
					t.Fatalf("reading %s: %v", text, problems)
				}
				return f
			}
			f := read(tc.text)
			shown, err := json.Marshal(Show(farmFields(&f)))
			if err != nil || string(shown) != tc.want {
				t.Errorf("got %s, %v\nwant %s", shown, err, tc.want)
			}
			if diff := cmp.Diff(f, read(string(shown)), cmp.AllowUnexported(herd{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("what is shown is read differently (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDifferences(t *testing.T) {
	half := 0.5
	a := farm{Name: "a", Barn: barn{2}, Pond: &barn{1}, Fields: []barn{{1}}}
	b := farm{Name: "b", Wait: time.Second, Share: &half, Barn: barn{3}, Fields: []barn{{2}}, Herds: []herd{{"hens", barn{2}}}}
	want := []string{"x.name", "x.wait", "x.share", "x.barn.doors", "x.pond", "x.fields", "x.herds.hens"}
	if diff := cmp.Diff(want, Differences("x", Show(farmFields(&a)), Show(farmFields(&b)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if same := Differences("", Show(farmFields(&a)), Show(farmFields(&a)).Without()); same != nil {
		t.Errorf("a section differs from itself by %v", same)
	}
}

// TestRefused holds that a key which must not stand somewhere is told apart from an unknown one.
func TestRefused(t *testing.T) {
	var f farm
	problems := Decode("farm.yaml", []byte("name: a\nmoat: {}\n"), Format{Name: "farm"}, farmFields(&f), func(*Decoder) {})
	want := Problems{{Code: "no_moat", Severity: Error, File: "farm.yaml", Line: 2, Column: 1, Path: "moat", Message: "farms have none"}}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, k := range Keys("", farmFields(&f)) {
		if k.Path == "moat" {
			t.Error("a refused key is in the manual")
		}
	}
}
