package strict

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// farm is a format that has one key of each kind.
type farm struct {
	Name   string
	Open   bool
	Wait   time.Duration
	Share  *float64
	Barn   barn
	Pond   *barn
	Fields []barn
	Herds  []herd
}

type barn struct{ Doors int }

type herd struct {
	Name string
	barn
}

func farmFields(f *farm) []Field {
	inside := func(b *barn) Kind {
		return Section([]Field{{Name: "doors", Def: "2", Kind: Scalar(&b.Doors, Whole(1, 9)), Meaning: "How many."}})
	}
	return []Field{
		{Name: "name", Need: true, Kind: Scalar(&f.Name, Text()), Meaning: "What it is called."},
		{Name: "open", Def: "true", Kind: Scalar(&f.Open, Truth())},
		{Name: "wait", Otherwise: "none", Kind: Scalar(&f.Wait, Duration(0, time.Hour))},
		{Name: "share", Kind: Optional(&f.Share, Fraction(0, 1))},
		{Name: "barn", Kind: Section([]Field{{Name: "doors", Def: "2", Kind: Scalar(&f.Barn.Doors, Whole(1, 9))}})},
		{Name: "pond", Kind: Pointer(&f.Pond, inside)},
		{Name: "fields", Kind: List(&f.Fields, 1, 2, inside)},
		{Name: "herds", Kind: Named(&f.Herds, 2, Choice("cows", "hens"), func(name string) herd { return herd{Name: name} },
			func(h *herd) string { return h.Name }, func(h *herd) Kind { return inside(&h.barn) })},
		{Name: "moat", Kind: Refused(Fault{Code: "no_moat", Message: "farms have none"})},
	}
}

// TestDecode reads texts without a problem.
func TestDecode(t *testing.T) {
	half := 0.5
	for name, tc := range map[string]struct {
		text string
		want farm
	}{
		"defaults": {"name: a", farm{Name: "a", Open: true, Barn: barn{2}}},
		"every key": {"name: '1'\nopen: False\nwait: 1m\nshare: 0.50\nbarn: {doors: 9}\npond: {}\nfields: [{}, {doors: 3}]\nherds: {hens: {}, cows: {doors: 1}}",
			farm{"1", false, time.Minute, &half, barn{9}, &barn{2}, []barn{{2}, {3}}, []herd{{"hens", barn{2}}, {"cows", barn{1}}}}},
		"mark and line ends": {"\ufeffname: a\r\nopen: true\r", farm{Name: "a", Open: true, Barn: barn{2}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got farm
			checked := false
			problems := Decode("f.yaml", []byte(tc.text), Format{Name: "farm"}, farmFields(&got), func(d *Decoder) {
				checked = d.Given("name") && d.Sound("name") && !d.Failed()
			})
			if len(problems) > 0 || !checked {
				t.Errorf("checked: %v, problems:\n%v", checked, problems)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(herd{}, barn{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestProblems has what is refused, in which words, and what is not said besides.
func TestProblems(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"empty":             {"# farm", "f.yaml:1:1: error: there is no farm in it (it has a name) [empty_file]"},
		"two documents":     {"name: a\n---\nname: b", "f.yaml:2:1: error: a second document begins here (a farm is one document: remove the ---) [several_documents]"},
		"alias":             {"name: *a", "f.yaml:1:7: error: aliases are not accepted: *a (a text that starts with * needs quotes) [anchor_or_alias]"},
		"tag":               {"name: !!str 1", "f.yaml:1:7: error: tags are not accepted: !!str (remove the tag) [tag]"},
		"not UTF-8":         {"name: \xff", "f.yaml:1:7: error: byte 0xff is not UTF-8 (save the file as UTF-8) [not_utf8]"},
		"misspelled":        {"nmae: a", "f.yaml:1:1: error: nmae: unknown key (did you mean name?) [unknown_key]"},
		"missing":           {"open: true", "f.yaml:1:1: error: name: this key is required (What it is called) [missing_key]"},
		"twice":             {"name: a\nname: b", "f.yaml:2:1: error: name: the key was given before, on line 1 (remove one of the two) [duplicate_key]"},
		"nothing":           {"name:\nopen: true", "f.yaml:1:1: error: name: must be a text, found nothing (give it a value, or remove it) [wrong_type]"},
		"number for a text": {"name: 1", "f.yaml:1:7: error: name: must be a text, found the number 1 (put it in quotes) [wrong_type]"},
		"text for a number": {"name: a\nbarn: {doors: '1'}", "f.yaml:2:15: error: barn.doors: must be a whole number, found the text \"1\" (write it without quotes) [wrong_type]"},
		"too many":          {"name: a\nfields: [{}, {}, {}]", "f.yaml:2:1: error: fields: must have 1 to 2 entries, found 3 [out_of_range]"},
		"bad name":          {"name: a\nherds: {hen: {}}", "f.yaml:2:9: error: herds.hen: must be cows or hens, found \"hen\" (did you mean hens?) [invalid_choice]"},
		"order of the text": {"wait: 1\nbarn: {doors: 0}\nname: ''", "f.yaml:1:7: error: wait: must be a duration such as 500ms, 10s or 1m30s, found \"1\" (a unit is missing: 1s?) [invalid_duration]\n" +
			"f.yaml:2:15: error: barn.doors: must be between 1 and 9 [out_of_range]\n" +
			"f.yaml:3:7: error: name: must not be empty [invalid_text]"},
	} {
		t.Run(name, func(t *testing.T) {
			problems := Decode("f.yaml", []byte(tc.text), Format{Name: "farm", Least: "it has a name"}, farmFields(new(farm)), func(*Decoder) {})
			if diff := cmp.Diff(tc.want, problems.Error()); diff != "" || !problems.Failed() {
				t.Errorf("failed: %v, -want +got:\n%s", problems.Failed(), diff)
			}
		})
	}
}

// TestChecks has what checks can ask, and where their problems stand.
func TestChecks(t *testing.T) {
	text := "name: a\nopne: false\nbarn:\n  doors: 1\nfields: [{doors: 0}]"
	problems := Decode("f.yaml", []byte(text), Format{}, farmFields(new(farm)), func(d *Decoder) {
		var sound []string
		for _, path := range []string{"", "name", "open", "wait", "barn", "fields", "fields[0]", "fields[0].doors"} {
			if d.Sound(path) && d.Given(path) {
				sound = append(sound, path)
			}
		}
		if got := strings.Join(sound, " "); got != " name barn fields fields[0]" {
			t.Errorf("sound: %q", got)
		}
		if !d.Place("name").Before(d.Place("barn")) || d.Place("barn").Before(d.Place("name")) {
			t.Error("name and barn are in the wrong order")
		}
		d.WarnKey(d.Place("barn"), &Fault{"small", "is small", ""})
		d.FailEntry("fields", -1, "", &Fault{"few", "are few", ""})
		d.FailEntry("fields", 0, "roof", &Fault{"flat", "is flat", ""})   // not given: shown at the entry
		d.FailEntry("fields", 0, "doors", &Fault{"shut", "are shut", ""}) // broken already: passed over
		d.Missing(d.Place("barn"), "api.key", "")
	})
	want := `f.yaml:2:1: error: opne: unknown key (did you mean open?) [unknown_key]
f.yaml:3:1: warning: barn: is small [small]
f.yaml:3:1: error: barn."api.key": this key is required [missing_key]
f.yaml:5:9: error: fields: are few [few]
f.yaml:5:10: error: fields[0].roof: is flat [flat]
f.yaml:5:18: error: fields[0].doors: must be between 1 and 9 [out_of_range]`
	if diff := cmp.Diff(want, problems.Error()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestKeys has what a manual is told.
func TestKeys(t *testing.T) {
	var rows []string
	for _, k := range Keys("", farmFields(new(farm))) {
		rows = append(rows, strings.Join([]string{k.Path, k.Type, k.Bound, k.Default}, "|"))
	}
	want := []string{"name|a text|1 to 255 bytes|required", "open|true or false||true", "wait|a duration|0s to 1h|none", "share|a number|0 to 1|",
		"barn|a section||", "barn.doors|a whole number|1 to 9|2", "pond|a section||", "pond.doors|a whole number|1 to 9|2",
		"fields|a list|1 to 2 entries|", "fields[].doors|a whole number|1 to 9|2", "herds|a section|at most 2 entries|", "herds.<name>.doors|a whole number|1 to 9|2"}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
