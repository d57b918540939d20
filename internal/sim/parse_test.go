package sim

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// small is a scenario to which one line is added.
const small = `schema: scalws.scenario/1
duration: 10s
load: {rate: 10}
pool: {members: [{address: "a:1"}, {address: "b:1"}]}
`

// TestProblems: what is refused, where, and in which words.
func TestProblems(t *testing.T) {
	base := func(old, new string) string {
		if !strings.Contains(small, old) {
			t.Fatalf("%q is not in the scenario", old)
		}
		return strings.Replace(small, old, new, 1)
	}
	event := func(entry string) string { return small + "events:\n- " + entry + "\n" }
	expect := func(entry string) string { return small + "expect:\n- " + entry + "\n" }
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "s.yaml:1:1: there is no scenario in it"},
		{"only a comment", "# nothing\n", "s.yaml:1:1: there is no scenario in it"},
		{"a text", "scenario", `s.yaml:1:1: must be a section (key: value), found "scenario"`},
		{"not YAML", "a: [\n", "s.yaml:1:1: not YAML: did not find expected node content"},
		{"two documents", small + "---\na: b\n", "s.yaml:5:1: a second document begins here (a scenario is one document: remove the ---)"},
		{"alias", "a: &x 1\n", "s.yaml:1:4: anchors are not accepted: &x (write the value out where it is used)"},
		{"merge", "<<: {a: b}\n", "s.yaml:1:1: merge keys are not accepted: << (write the value out where it is used)"},
		{"tag", "a: !!str 1\n", "s.yaml:1:4: tags are not accepted: !!str (remove the tag)"},
		{"deep", strings.Repeat("[", 20) + strings.Repeat("]", 20), "s.yaml:1:17: values lie more than 16 levels deep"},

		{"unknown key", base("duration:", "time:"),
			"s.yaml:1:1: duration: this key is required\n" +
				"s.yaml:2:1: time: unknown key (keys here: schema, seed, duration, load, pool, timeouts, events, expect)"},
		{"twice", small + "duration: 1s\n", "s.yaml:5:1: duration: the key was given before, on line 2 (remove one of the two)"},
		{"no value", small + "seed:\n", "s.yaml:5:1: seed: the value is missing (give it a value, or remove it)"},
		{"a list as key", small + "[a]: b\n", "s.yaml:5:1: a key must be a text, found a list"},
		{"schema", base("scenario/1", "scenario/2"), `s.yaml:1:9: schema: must be one of scalws.scenario/1, found "scalws.scenario/2"`},
		{"seed", small + "seed: -1\n", `s.yaml:5:7: seed: must be a whole number of 64 bits, found "-1"`},
		{"duration", base("10s", "10"), `s.yaml:2:11: duration: must be a duration, found "10" (write it like 500ms, 10.3s, 1m30s or 1d; units are us, ms, s, m, h and d)`},
		{"too long", base("10s", "31d"), "s.yaml:2:11: duration: must be between 1ms and 720h"},
		{"units out of order", base("10s", "1s1m"), `s.yaml:2:11: duration: must be a duration, found "1s1m" (write it like 500ms, 10.3s, 1m30s or 1d; units are us, ms, s, m, h and d)`},
		{"rate", base("rate: 10", "rate: 0"), "s.yaml:3:14: load.rate: must be between 0.001 and 1000000"},
		{"rate in words", base("rate: 10", "rate: many"), `s.yaml:3:14: load.rate: must be a number such as 0.2, found "many"`},
		{"fine rate", base("rate: 10", "rate: 0.0015"), "s.yaml:3:14: load.rate: must not have more than three decimals"},
		{"rate as list", base("rate: 10", "rate: [1]"), "s.yaml:3:14: load.rate: must be a number, found a list"},
		{"keys", base("rate: 10", "rate: 1, keys: 1.5"), `s.yaml:3:23: load.keys: must be a whole number, found "1.5"`},
		{"share", base("rate: 10", "rate: 1, non_idempotent: 2"), "s.yaml:3:33: load.non_idempotent: must be between 0 and 1"},
		{"arrival", base("rate: 10", "rate: 1, arrival: often"), `s.yaml:3:26: load.arrival: must be one of constant, poisson, found "often"`},
		{"a number for a text", base(`"a:1"`, "1"), `s.yaml:4:28: pool.members[0].address: must be a text, found "1" (put it in quotes)`},

		// The words of these two are the engine's.
		{"address", base("a:1", "http://a:1"), "s.yaml:4:28: pool.members[0].address: ..."},
		{"same member", base("b:1", "A:01"), "s.yaml:4:46: pool.members[1].address: ..."},
		{"weight", base(`"b:1"`, `"b:1", weight: 0`), "s.yaml:4:61: pool.members[1].weight: must be between 1 and 1000"},
		{"no address", base(`{address: "b:1"}`, "{weight: 1}"), "s.yaml:4:36: pool.members[1].address: this key is required"},
		{"members no list", base(`[{address: "a:1"}, {address: "b:1"}]`, "a"), `s.yaml:4:17: pool.members: must be a list, found "a"`},
		{"hash without by", base("{members", "{balance: hash, members"), "s.yaml:4:8: pool.balance: hash needs hash.by (add hash: {by: cookie}, or by: header or client_ip)"},
		{"hash without balance", base("{members", "{hash: {by: cookie}, members"), "s.yaml:4:8: pool.hash: has no effect without balance: hash (add balance: hash, or remove hash)"},
		{"header without name", base("{members", "{balance: hash, hash: {by: header}, members"), "s.yaml:4:23: pool.hash.name: this key is required (by: header needs the name of the header)"},
		{"cooldown", base("{members", "{passive_health: {cooldown: 2h}, members"), "s.yaml:4:35: pool.passive_health.cooldown: must be between 1ms and 1h"},
		{"retries", base("{members", "{retries: 6, members"), "s.yaml:4:17: pool.retries: must be between 0 and 5"},
		{"half a budget", base("{members", "{retry_budget: {ratio: 0.1}, members"), "s.yaml:4:8: pool.retry_budget.min_per_second: this key is required"},

		{"event after the end", event("{at: 10s, rate: 1}"), "s.yaml:6:8: events[0].at: must be between 0s and 10s"},
		{"event of nothing", event("{at: 1s}"), "s.yaml:6:3: events[0]: must have one of does, members and rate (write {at, member, does}, {at, members} or {at, rate})"},
		{"event of two", event("{at: 1s, rate: 1, members: []}"), "s.yaml:6:3: events[0]: must have one of does, members and rate (write {at, member, does}, {at, members} or {at, rate})"},
		{"event of nobody", event("{at: 1s, does: hang}"), "s.yaml:6:3: events[0]: must have member and does together"},
		{"event of a stranger", event("{at: 1s, member: c, does: hang}"), `s.yaml:6:20: events[0].member: no list of members has "c"`},
		{"ambiguous", event(`{at: 1s, member: a, does: hang}`) + `- {at: 2s, members: [{address: "a:2"}]}` + "\n",
			`s.yaml:6:20: events[0].member: several members have the host "a": write the port too`},
		{"does", event("{at: 1s, member: a, does: explode}"), `s.yaml:6:29: events[0].does: must be one of refuse, discard, hang, reset, fail, slow, recover, found "explode"`},
		{"slow without latency", event("{at: 1s, member: a, does: slow}"), "s.yaml:6:3: events[0].latency: this key is required (say how slow)"},
		{"latency of a hang", event("{at: 1s, member: a, does: hang, latency: 1s}"), "s.yaml:6:35: events[0].latency: has no effect here (remove it)"},
		{"status of a refusal", event("{at: 1s, member: a, does: refuse, status: 503}"), "s.yaml:6:37: events[0].status: has no effect here (remove it)"},
		{"share of a recovery", event("{at: 1s, member: a, does: recover, share: 1}"), "s.yaml:6:38: events[0].share: has no effect here (remove it)"},
		{"status", event("{at: 1s, member: a, does: fail, status: 500}"), "s.yaml:6:43: events[0].status: must be between 502 and 504"},

		{"expect nothing", expect("{member: a}"), "s.yaml:6:3: expect[0]: must have one expectation, found 0 (write each on a line of its own)"},
		{"expect two", expect("{retries: {at_most: 1}, amplification: {at_most: 1}}"), "s.yaml:6:3: expect[0]: must have one expectation, found 2 (write each on a line of its own)"},
		{"expect of nobody", expect("{ejected_by: 1s}"), "s.yaml:6:3: expect[0].member: this key is required (ejected_by is about a member)"},
		{"expect of somebody", expect("{member: a, retries: {at_most: 1}}"), "s.yaml:6:4: expect[0].member: retries is about all members (remove it)"},
		{"expect of a stranger", expect("{member: c, ejected_by: 1s}"), `s.yaml:6:12: expect[0].member: no list of members has "c"`},
		{"no bound", expect("{retries: {}}"), "s.yaml:6:4: expect[0].retries: needs at_least or at_most"},
		{"no window there", expect("{retries: {at_most: 1, from: 1s}}"), "s.yaml:6:26: expect[0].retries.from: unknown key (keys here: at_least, at_most)"},
		{"crossed bounds", expect("{retries: {at_least: 2, at_most: 1}}"), "s.yaml:6:4: expect[0].retries: at_least is more than at_most"},
		{"crossed window", expect("{client_errors: {at_most: 1, from: 2s, to: 1s}}"), "s.yaml:6:42: expect[0].client_errors.to: must be after from"},
		{"empty window", expect("{client_errors: {at_most: 1, from: 2s, to: 2s}}"), "s.yaml:6:42: expect[0].client_errors.to: must be after from"},
		{"share without width", expect("{member: a, share: {of: 0.5}}"), "s.yaml:6:15: expect[0].share.within: this key is required"},
		{"share of more than all", expect("{client_error_share: {at_most: 1.1}}"), "s.yaml:6:34: expect[0].client_error_share.at_most: must be between 0 and 1"},

		{"too many requests", strings.NewReplacer("10s", "30d", "rate: 10", "rate: 1000").Replace(small),
			"s.yaml:1:1: the scenario has 2592000000 requests, more than 1,000,000,000 (lower the rate or the duration)"},
		{"too many later", strings.NewReplacer("10s", "1d").Replace(small) + "events: [{at: 1s, rate: 100000}]\n",
			"s.yaml:1:1: the scenario has 8639900010 requests, more than 1,000,000,000 (lower the rate or the duration)"},
		{"too many in flight", base("rate: 10", "rate: 1000000") + "events: [{at: 1s, member: a, does: hang}]\n",
			"s.yaml:1:1: as many as 120000000 requests could be in flight at once, more than 2,000,000 (lower the rate or timeouts.response)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Parse("s.yaml", []byte(test.text))
			if err == nil {
				t.Fatal("it was accepted")
			}
			var problems Problems
			if !errors.As(err, &problems) || s != nil {
				t.Fatalf("%v, %v", s, err)
			}
			if prefix, ok := strings.CutSuffix(test.want, "..."); ok {
				if len(problems) != 1 || !strings.HasPrefix(err.Error(), prefix) {
					t.Errorf("got\n%v\nwant\n%s", err, test.want)
				}
				return
			}
			if got := err.Error(); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestAllProblems: one slip does not hide the next, and they come in the order of the text.
func TestAllProblems(t *testing.T) {
	_, err := Parse("s.yaml", []byte("schema: 1\nload: {rate: -1}\nseed: x\npool: {retries: 9, members: [{weight: 0}]}\n"))
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != 7 {
		t.Errorf("%d problems:\n%v", len(problems), err)
	}
	for i := 1; i < len(problems); i++ {
		if problems[i].Line < problems[i-1].Line {
			t.Errorf("%v comes after %v", problems[i], problems[i-1])
		}
	}
}

func TestNamesOfMembers(t *testing.T) {
	for name, want := range map[string]string{"a": "a:1", "A:01": "a:1", "a:1": "a:1", "10.0.0.1": "10.0.0.1:5", "[::1]": "[::1]:6", "later": "later:7"} {
		s := parse(t, `
schema: scalws.scenario/1
duration: 10s
load: {rate: 10}
pool: {members: [{address: "a:1"}, {address: "10.0.0.1:5"}, {address: "[::1]:6"}]}
events:
- {at: 2s, member: "`+name+`", does: hang}
- {at: 1s, members: [{address: "later:7"}]}
`)
		if got := s.script[1].member; got != want {
			t.Errorf("%s names %s, want %s", name, got, want)
		}
	}
}

// TestDefaults are those of the main configuration's pool, and of the manual.
func TestDefaults(t *testing.T) {
	s := parse(t, small)
	if p := s.pool; p.Retries != 1 || p.Health.Failures != 3 || p.Health.Cooldown != 10*time.Second || p.Health.ProbationRequests != 1 || p.Budget != nil || p.Balance != "round_robin" {
		t.Errorf("%+v", p)
	}
	if s.timeouts != (timeouts{5 * time.Second, time.Minute}) || s.seed != 1 || s.load.keys != 1000 || s.load.arrival != constant || s.members[0].Weight != 1 {
		t.Errorf("%+v", s)
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "500ms": 500 * time.Millisecond, "10.3s": 10300 * time.Millisecond, "1m30s": 90 * time.Second,
		"1d": 24 * time.Hour, "1.5h": 90 * time.Minute, "1d1h1m1s1ms1us": 25*time.Hour + 61*time.Second + 1001*time.Microsecond,
		"0.0000000019s": 1, "99999999999d": 1<<63 - 1,
	} {
		if got, ok := parseDuration(text); !ok || got != want {
			t.Errorf("%s is %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "1", "s", "-1s", "+1s", "1 s", "1s ", "1.s", ".5s", "1..5s", "1e3s", "1S", "1µs", "1ns", "1s1s", "1ms1s", "1s1"} {
		if got, ok := parseDuration(text); ok {
			t.Errorf("%q was read as %v", text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(0, int64(maxDuration/time.Microsecond)).Draw(t, "us")) * time.Microsecond
		if got, ok := parseDuration(formatDuration(want)); !ok || got != want {
			t.Errorf("%v became %s and then %v", want, formatDuration(want), got)
		}
	})
}

// FuzzParse: no text ends the process; a problem has a place in the text; what is accepted can be run.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(small + "events: [{at: 1s, member: a, does: hang}]\nexpect: [{member: a, share: {of: 0.5, within: 0.1}}]\n"))
	f.Add([]byte(strings.Replace(busy, "%d", "1", 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("s.yaml", text)
		if err != nil {
			var problems Problems
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatal(err)
			}
			lines := strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + strings.Count(string(text), "\u2028") +
				strings.Count(string(text), "\u2029") + strings.Count(string(text), "\u0085") + 2
			for _, p := range problems {
				if p.Line < 1 || p.Column < 1 || p.Line > lines {
					t.Errorf("%v", p)
				}
			}
			return
		}
		if requests, _ := s.size(); requests > 2000 {
			return
		}
		if _, err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
