package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// outcome renders what decodeMembers found as "path: detail" lines, or the list as "address=weight".
func outcome(body string, https bool) string {
	members, err := decodeMembers([]byte(body), https)
	var lines []string
	var p *api.Problem
	switch {
	case errors.As(err, &p) && p.Code == api.CodeInvalidMembers:
		for _, e := range p.Errors {
			lines = append(lines, e.Path+": "+e.Detail)
		}
	case err != nil:
		lines = append(lines, strings.TrimSuffix(err.Error(), ": must be "+bodyForm))
	default:
		for _, m := range members {
			lines = append(lines, fmt.Sprintf("%s=%d", m.Address, m.Weight))
		}
	}
	return strings.Join(lines, "\n")
}

func TestDecodeMembers(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"empty list", `{"members": []}`, ""},
		{"default weight", `{"members": [{"address": "a:1"}]}`, "a:1=1"},
		{"bounds", `{"members": [{"address": "a:1", "weight": 1}, {"weight": 1000, "address": "b:1"}]}`, "a:1=1\nb:1=1000"},
		{"white space", "\r\n\t{ \"members\" :\n[ { \"address\" : \"a:1\" } ] } \n", "a:1=1"},
		{"escaped key", `{"m\u0065mbers": [{"address": "\u0061:1"}]}`, "a:1=1"},

		{"weight 0", `{"members": [{"address": "a:1", "weight": 0}]}`, "members[0].weight: must be between 1 and 1000"},
		{"weight 1001", `{"members": [{"address": "a:1", "weight": 1001}]}`, "members[0].weight: must be between 1 and 1000"},
		{"weight negative", `{"members": [{"address": "a:1", "weight": -1}]}`, "members[0].weight: must be between 1 and 1000"},
		{"weight huge", `{"members": [{"address": "a:1", "weight": 99999999999999999999}]}`, "members[0].weight: must be between 1 and 1000"},
		{"weight fraction", `{"members": [{"address": "a:1", "weight": 1.5}]}`, "members[0].weight: must be a whole number between 1 and 1000"},
		{"weight exponent", `{"members": [{"address": "a:1", "weight": 1e2}]}`, "members[0].weight: must be a whole number between 1 and 1000"},
		{"weight text", `{"members": [{"address": "a:1", "weight": "2"}]}`, "members[0].weight: must be a whole number between 1 and 1000"},
		{"weight null", `{"members": [{"address": "a:1", "weight": null}]}`, "members[0].weight: must be a whole number between 1 and 1000"},
		{"weight twice", `{"members": [{"address": "a:1", "weight": 1, "weight": 2}]}`, "members[0].weight: is given twice"},

		{"no address", `{"members": [{"weight": 2}]}`, "members[0].address: is missing"},
		{"address number", `{"members": [{"address": 8080}]}`, `members[0].address: must be a text such as "192.0.2.5:8080"`},
		{"address null", `{"members": [{"address": null}]}`, `members[0].address: must be a text such as "192.0.2.5:8080"`},
		{"address twice", `{"members": [{"address": "a:1", "address": "b:1"}]}`, "members[0].address: is given twice"},
		{"entry a text", `{"members": ["a:1"]}`, `members[0].address: must be in an object such as {"address": "192.0.2.5:8080"}`},
		{"entry a list", `{"members": [[{"address": "a:1"}, []], {"address": "b:1"}]}`, `members[0].address: must be in an object such as {"address": "192.0.2.5:8080"}`},
		{"entry null", `{"members": [null]}`, `members[0].address: must be in an object such as {"address": "192.0.2.5:8080"}`},
		{"unknown key", `{"members": [{"address": "a:1", "wieght": 2, "more": 3}]}`, "members[0].wieght: is not a known key: an entry has address and weight"},
		{"key in another case", `{"members": [{"Address": "a:1"}]}`, "members[0].Address: is not a known key: an entry has address and weight\nmembers[0].address: is missing"},
		{"hostile key", `{"members": [{"address": "a:1", "\u001b[2J\n": 2}]}`, `members[0].\x1b[2J\n: is not a known key: an entry has address and weight`},
		{"every wrong entry", `{"members": [{"address": "a:1", "weight": "x"}, {"address": "b:1"}, 7, {"address": "a:1"}, {"address": "c:1", "weight": 0}]}`,
			"members[0].weight: must be a whole number between 1 and 1000\n" +
				`members[2].address: must be in an object such as {"address": "192.0.2.5:8080"}` + "\n" +
				"members[3].address: is the same member as members[0]: a:1\n" +
				"members[4].weight: must be between 1 and 1000"},

		{"empty body", "", "body: empty"},
		{"blank body", " \r\n", "body: empty"},
		{"empty object", "{}", `body: "members" is missing`},
		{"members null", `{"members": null}`, `body: "members" is not a list`},
		{"members an object", `{"members": {"address": "a:1"}}`, `body: "members" is not a list`},
		{"members in another case", `{"Members": []}`, "body: unknown key Members"},
		{"members twice", `{"members": [], "members": []}`, `body: "members" is given twice`},
		{"unknown key at the top", `{"members": [], "dry_run": true}`, "body: unknown key dry_run"},
		{"a list", `[{"address": "a:1"}]`, "body: not an object"},
		{"null", `null`, "body: not an object"},
		{"trailing value", `{"members": []} {}`, "body: more after the object"},
		{"trailing garbage", `{"members": []}}`, "body: more after the object"},
		{"not UTF-8", "{\"members\": [{\"address\": \"\xff:1\"}]}", "body: not valid UTF-8"},
		{"cut off", `{"members": [{"address": "a:1"`, "body: not valid JSON near byte 30: unexpected EOF"},
		{"comment", `{"members": [] // none`, "body: not valid JSON near byte 15: invalid character '/' after object key:value pair"},
		{"form", `members=a:1`, "body: not valid JSON near byte 0: invalid character 'm' looking for beginning of value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, outcome(tt.body, false)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeMembersScheme(t *testing.T) {
	const body = `{"members": [{"address": "unix:/run/api.sock"}]}`
	if got := outcome(body, false); got != "unix:/run/api.sock=1" {
		t.Error(got)
	}
	if got := outcome(body, true); !strings.HasPrefix(got, "members[0].address: is a unix socket") {
		t.Error(got)
	}
}

func list(n int, entry func(i int) string) []byte {
	var b strings.Builder
	b.WriteString(`{"members": [`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(entry(i))
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func address(i int) string {
	return fmt.Sprintf(`{"address": "10.0.%d.%d:8080", "weight": 5}`, i/256, i%256)
}

func TestDecodeMembersTooMany(t *testing.T) {
	if members, err := decodeMembers(list(lb.MaxMembers, address), false); len(members) != lb.MaxMembers || err != nil {
		t.Errorf("%d members: %v", len(members), err)
	}
	_, err := decodeMembers(list(lb.MaxMembers+5, address), false)
	if err == nil || !strings.HasPrefix(err.Error(), "members: ") {
		t.Errorf("too many: %v", err)
	}
}

// Bodies made to cost much: they end in a refusal, and the answer is no longer than a few times the body.
func TestDecodeMembersHostile(t *testing.T) {
	depth := api.MaxBody / 2
	tests := []struct{ name, body string }{
		{"deep value", `{"members": [{"address": ` + strings.Repeat("[", depth) + strings.Repeat("]", depth-100) + `}]}`},
		{"deep entry", `{"members": [` + strings.Repeat("[", depth)},
		{"deep closed entry", `{"members": [` + strings.Repeat("[", depth-100) + strings.Repeat("]", depth-100) + `]}`},
		{"empty entries", string(list(600_000, func(int) string { return "{}" }))},
		{"unknown keys", `{"members": [{` + strings.Repeat(`"x": 1,`, 250_000) + `"y": 1}]}`},
		{"long key", `{"members": [{"` + strings.Repeat("x", api.MaxBody-100) + `": 1}]}`},
		{"long address", `{"members": [{"address": "` + strings.Repeat("x", api.MaxBody-100) + `"}]}`},
		{"long port", `{"members": [{"address": "a:` + strings.Repeat("9", api.MaxBody-100) + `"}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := decodeMembers([]byte(tt.body), false)
			var p *api.Problem
			if !errors.As(err, &p) {
				t.Fatalf("no problem but %v", err)
			}
			answer, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if len(answer) > 5*api.MaxBody || len(p.Errors) > 3*lb.MaxMembers {
				t.Errorf("an answer of %d bytes with %d errors", len(answer), len(p.Errors))
			}
		})
	}
}

func FuzzDecodeMembers(f *testing.F) {
	for _, seed := range []string{
		`{"members": []}`, `{"members": [{"address": "a:1", "weight": 2}, {"address": "[::1]:80"}]}`, `{"members": [[], {}, null, 1.5, "x"]}`,
		`{"members": [{"address": "unix:/x", "weight": 1e400}], "x": {}}`, `{"members":[{"address":"a:1","address":"b:1"}]}{`, "\xff", `{"members": null}`,
	} {
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, https bool) {
		members, err := decodeMembers(body, https)
		if err != nil {
			var p *api.Problem
			if !errors.As(err, &p) || p.Status != 400 || p.Detail == "" {
				t.Fatalf("not a problem: %v", err)
			}
			if p.Code == api.CodeInvalidMembers && p.Detail != p.Errors[0].Path+": "+p.Errors[0].Detail {
				t.Fatalf("the detail is not the first error: %+v", p)
			}
			return
		}
		// What is accepted, encoding/json reads too, and as the same list.
		var plain api.SetMembers
		if err := json.Unmarshal(body, &plain); err != nil {
			t.Fatalf("accepted what is not JSON: %v", err)
		}
		if len(plain.Members) != len(members) {
			t.Fatalf("%d members of %d", len(members), len(plain.Members))
		}
		for i, m := range plain.Members {
			canonical, err := lb.ParseAddress(m.Address)
			weight := lb.DefaultWeight
			if m.Weight != nil {
				weight = *m.Weight
			}
			if want := (lb.Member{Address: canonical, Weight: weight}); err != nil || members[i] != want {
				t.Fatalf("members[%d] is %v, want %v (%v)", i, members[i], want, err)
			}
		}
	})
}

func BenchmarkDecode10000Members(b *testing.B) {
	body := list(lb.MaxMembers, address)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if members, err := decodeMembers(body, false); len(members) != lb.MaxMembers || err != nil {
			b.Fatal(err)
		}
	}
}
