package ctl

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
)

// text is a list as "address=weight" words, without a weight where none was given.
func text(members []api.SetMember) string {
	var words []string
	for _, m := range members {
		word := m.Address
		if m.Weight != nil {
			word += "=" + strconv.Itoa(*m.Weight)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestParseMemberFile(t *testing.T) {
	for name, test := range map[string]struct {
		file string
		want string
		err  string
	}{
		"lines":             {"a:1\nb:2=3\n", "a:1 b:2=3", ""},
		"no newline at end": {"a:1", "a:1", ""},
		"CRLF and BOM":      {"\ufeffa:1\r\nb:2=3\r\n", "a:1 b:2=3", ""},
		"comments":          {"# all\n\n  a:1  # one\n\t#b:2\n", "a:1", ""},
		"# in a path":       {"unix:/run/a#b.sock\n", "unix:/run/a#b.sock", ""},
		"= in a path":       {"unix:/run/a=b.sock=1\n", "unix:/run/a=b.sock=1", ""},
		"IPv6 lines":        {"[2001:db8::5]:8080\n[::1]:1=2\n", "[2001:db8::5]:8080 [::1]:1=2", ""},
		"IPv6 with dots":    {"[::ffff:192.0.2.1]:80", "[::ffff:192.0.2.1]:80", ""},
		"object":            {` {"members": [{"address": "a:1"}, {"address": "b:2", "weight": 3}]}` + "\n", "a:1 b:2=3", ""},
		"list":              {"\ufeff[\n {\"address\": \"a:1\"}\n]", "a:1", ""},
		"empty list":        {"[ ]", "", ""},
		"empty object list": {`{"members": []}`, "", ""},
		"nothing":           {"", "", ""},

		"list of texts":     {`["a:1"]`, "", "f: line 1: json: cannot unmarshal string into Go value of type api.SetMember"},
		"list cut off":      {"[", "", "f: line 1: the text ends in the middle"},
		"unknown key":       {`[{"address": "a:1", "state": "up"}]`, "", `f: line 1: json: unknown field "state"`},
		"key twice":         {"[{\"address\": \"a:1\",\n \"address\": \"b:1\"}]", "", `f: line 2: the key "address" is given twice`},
		"list twice":        {`{"members": [{"address": "a:1"}], "members": []}`, "", `f: line 1: the key "members" is given twice`},
		"key in capitals":   {`[{"address": "a:1"}, {"address": "b:1", "Weight": 5}]`, "", `f: line 1: unknown key "Weight"`},
		"fractional weight": {`[{"address": "a:1", "weight": 1.5}]`, "", "f: line 1: json: cannot unmarshal number 1.5"},
		"syntax":            {"{\n\"members\": [,]}", "", "f: line 2: invalid character ','"},
		"two on a line":     {"a:1 b:2", "", `f: line 1: one member a line, there is also "b:2"`},
		"weight":            {"a:1\n\nb:2=x", "", `f: line 3: "b:2=x": the weight must be a whole number from 1 to 1000, it is "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseMemberFile("f", []byte(test.file))
			if test.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.err) || classify(err).code != ExitInvalid {
					t.Fatalf("error %v with exit code %d, want %q with %d", err, classify(err).code, test.err, ExitInvalid)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, text(got)); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever a file holds, reading it ends in a list that can be written as lines and read again, or in an
// error with its exit code.
func FuzzParseMemberFile(f *testing.F) {
	for _, seed := range []string{"a:1=2 # x\n[::1]:1", `{"members": [{"address": "a:1", "weight": 2}]}`, `[{"address": "a:1"}]`, "[", "\ufeff=", "a=0"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		members, err := parseMemberFile("f", file)
		if err != nil {
			if classify(err).code != ExitInvalid {
				t.Fatalf("exit code %d for %v", classify(err).code, err)
			}
			return
		}
		if file = []byte(strings.TrimSpace(string(file))); len(file) > 0 && (file[0] == '{' || isJSONList(file)) {
			return // addresses in JSON may hold anything
		}
		again, err := parseMemberFile("f", []byte("#\n"+strings.ReplaceAll(text(members), " ", "\n")))
		if err != nil {
			t.Fatalf("reading again what was read: %v", err)
		}
		if diff := cmp.Diff(members, again); diff != "" {
			t.Fatalf("members (-first +again):\n%s", diff)
		}
	})
}

func TestCompare(t *testing.T) {
	list := func(words string) []api.Member {
		var members []api.Member
		for _, word := range strings.Fields(words) {
			m, err := parseMember(word)
			if err != nil {
				t.Fatal(err)
			}
			members = append(members, api.Member{Address: m.Address, Weight: *m.Weight})
		}
		return members
	}
	for name, test := range map[string]struct{ before, after, want string }{
		"the same":        {"a=1 b=2", "a=1 b=2", "unchanged"},
		"both empty":      {"", "", "unchanged"},
		"added":           {"a=1", "b=1 a=1 c=1", "added b, c"},
		"removed":         {"a=1 b=1 c=1", "b=1", "removed a, c"},
		"reweighted":      {"a=1 b=2", "a=3 b=2", "reweighted a from 1 to 3"},
		"reordered":       {"a=1 b=1", "b=1 a=1", "reordered"},
		"in place of one": {"a=1 b=1 c=1", "a=1 d=1 c=1", "added d; removed b"},
		"everything":      {"a=1 b=1 c=1", "c=2 d=1 b=1", "added d; removed a; reweighted c from 1 to 2; reordered"},
		"more than fits":  {"", "a=1 b=1 c=1 d=1 e=1 f=1 g=1", "added a, b, c, d, e and 2 more"},
		"just fits":       {"", "a=1 b=1 c=1 d=1 e=1", "added a, b, c, d, e"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := compare(entriesOf(list(test.before)), entriesOf(list(test.after))).String(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestMemberIndex(t *testing.T) {
	for path, want := range map[string]int{
		"members[0].weight": 0, "members[12]": 12,
		"members": -1, "members[": -1, "members[x].weight": -1, "members[-1].weight": -1, "weight": -1, "": -1,
	} {
		n, ok := memberIndex(path)
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("%q: %d, want %d", path, n, want)
		}
	}
}
