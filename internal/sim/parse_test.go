package sim

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/scalws/scalws/internal/strict"
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
		{"empty", "", "s.yaml:1:1: error: there is no scenario in it (the smallest one has schema, duration, load and pool) [empty_file]"},
		{"only a comment", "# nothing\n", "s.yaml:1:1: error: there is no scenario in it (the smallest one has schema, duration, load and pool) [empty_file]"},
		{"a text", "scenario", `s.yaml:1:1: error: must be a section (key: value), found the text "scenario" [wrong_type]`},
		{"not YAML", "a: [\n", "s.yaml:1:1: error: not YAML: did not find expected node content (a value is missing or has a bracket too many; a text that starts with [ or { needs quotes) [invalid_yaml]"},
		{"two documents", small + "---\na: b\n", "s.yaml:5:1: error: a second document begins here (a scenario is one document: remove the ---) [several_documents]"},
		{"alias", "a: &x 1\n", "s.yaml:1:4: error: anchors are not accepted: &x (write the value out where it is used) [anchor_or_alias]"},
		{"merge", "<<: {a: b}\n", "s.yaml:1:1: error: merge keys are not accepted: << (write the value out where it is used) [anchor_or_alias]"},
		{"tag", "a: !!str 1\n", "s.yaml:1:4: error: tags are not accepted: !!str (remove the tag) [tag]"},
		{"deep", strings.Repeat("[", 40) + strings.Repeat("]", 40), "s.yaml:1:33: error: values lie more than 32 levels deep [nested_too_deep]"},

		{"unknown key", base("duration:", "time:"),
			"s.yaml:1:1: error: duration: this key is required [missing_key]\n" +
				"s.yaml:2:1: error: time: unknown key (keys here: schema, seed, duration, load, pool, timeouts, events, expect) [unknown_key]"},
		{"misspelled key", base("duration:", "duraton:"), "s.yaml:2:1: error: duraton: unknown key (did you mean duration?) [unknown_key]"},
		{"misspelled list", base("members:", "membrs:") + "events:\n- {at: 1s, member: a, does: hang}\n",
			"s.yaml:4:8: error: pool.membrs: unknown key (did you mean members?) [unknown_key]"},
		{"misspelled event", event("{at: 1s, member: a, dose: hang}"), "s.yaml:6:23: error: events[0].dose: unknown key (did you mean does?) [unknown_key]"},
		{"misspelled expectation", expect("{retrys: {at_most: 1}}"), "s.yaml:6:4: error: expect[0].retrys: unknown key (did you mean retries?) [unknown_key]"},
		{"misspelled choice", event("{at: 1s, member: a, does: hangs}"),
			`s.yaml:6:29: error: events[0].does: must be refuse, discard, hang, reset, fail, slow or recover, found "hangs" (did you mean hang?) [invalid_choice]`},
		{"broken address", base("a:1", "a") + "events:\n- {at: 1s, member: a, does: hang}\n", "s.yaml:4:28: error: pool.members[0].address: ..."},
		{"large seed", small + "seed: 18446744073709551616\n", "s.yaml:5:7: error: seed: must be between 0 and 18446744073709551615 [out_of_range]"},
		{"twice", small + "duration: 1s\n", "s.yaml:5:1: error: duration: the key was given before, on line 2 (remove one of the two) [duplicate_key]"},
		{"no value", small + "seed:\n", "s.yaml:5:1: error: seed: must be a whole number, found nothing (give it a value, or remove it) [wrong_type]"},
		{"a list as key", small + "[a]: b\n", "s.yaml:5:1: error: a key must be a text, found a list [wrong_type]"},
		{"schema", base("scenario/1", "scenario/2"), `s.yaml:1:9: error: schema: must be scalws.scenario/1, found "scalws.scenario/2" (did you mean scalws.scenario/1?) [invalid_choice]`},
		{"seed", small + "seed: -1\n", "s.yaml:5:7: error: seed: must be between 0 and 18446744073709551615 [out_of_range]"},
		{"duration", base("10s", "10"), `s.yaml:2:11: error: duration: must be a duration such as 500ms, 10.3s or 1m30s, found "10" (a unit is missing: 10s?) [invalid_duration]`},
		{"too long", base("10s", "31d"), "s.yaml:2:11: error: duration: must be between 1ms and 30d [out_of_range]"},
		{"units out of order", base("10s", "1s1m"), `s.yaml:2:11: error: duration: must be a duration such as 500ms, 10.3s or 1m30s, found "1s1m" (units are us, ms, s, m, h and d, the largest first, each with a number) [invalid_duration]`},
		{"rate", base("rate: 10", "rate: 0"), "s.yaml:3:14: error: load.rate: must be between 0.001 and 1000000 [out_of_range]"},
		{"rate in words", base("rate: 10", "rate: many"), `s.yaml:3:14: error: load.rate: must be a number, found the text "many" (write it like 0.2) [wrong_type]`},
		{"fine rate", base("rate: 10", "rate: 0.0015"), "s.yaml:3:14: error: load.rate: must not have more than three decimals [out_of_range]"},
		{"rate as list", base("rate: 10", "rate: [1]"), "s.yaml:3:14: error: load.rate: must be a number, found a list [wrong_type]"},
		{"keys", base("rate: 10", "rate: 1, keys: 1.5"), "s.yaml:3:23: error: load.keys: must be a whole number, found the number 1.5 (write it in plain decimal digits) [wrong_type]"},
		{"share", base("rate: 10", "rate: 1, non_idempotent: 2"), "s.yaml:3:33: error: load.non_idempotent: must be between 0 and 1 [out_of_range]"},
		{"arrival", base("rate: 10", "rate: 1, arrival: often"), `s.yaml:3:26: error: load.arrival: must be constant or poisson, found "often" [invalid_choice]`},
		{"a number for a text", base(`"a:1"`, "1"), "s.yaml:4:28: error: pool.members[0].address: must be an address, found the number 1 (put it in quotes) [wrong_type]"},

		// The words of these two are the engine's.
		{"address", base("a:1", "http://a:1"), "s.yaml:4:28: error: pool.members[0].address: ..."},
		{"same member", base("b:1", "A:01"), "s.yaml:4:46: error: pool.members[1].address: ..."},
		{"weight", base(`"b:1"`, `"b:1", weight: 0`), "s.yaml:4:61: error: pool.members[1].weight: must be between 1 and 1000 [out_of_range]"},
		{"no address", base(`{address: "b:1"}`, "{weight: 1}"), "s.yaml:4:36: error: pool.members[1].address: this key is required [missing_key]"},
		{"members no list", base(`[{address: "a:1"}, {address: "b:1"}]`, "a"), `s.yaml:4:17: error: pool.members: must be a list, found the text "a" (write [value] or one line that starts with - for each entry) [wrong_type]`},
		{"hash without by", base("{members", "{balance: hash, members"), "s.yaml:4:8: error: pool.hash.by: balance: hash needs hash.by (add hash: {by: cookie}, or by: header or client_ip) [missing_key]"},
		{"hash without balance", base("{members", "{hash: {by: cookie}, members"), "s.yaml:4:8: error: pool.hash: has no effect without balance: hash (add balance: hash, or remove hash) [misplaced_key]"},
		{"header without name", base("{members", "{balance: hash, hash: {by: header}, members"), "s.yaml:4:23: error: pool.hash.name: this key is required (by: header needs the name of the header) [missing_key]"},
		{"cooldown", base("{members", "{passive_health: {cooldown: 2h}, members"), "s.yaml:4:35: error: pool.passive_health.cooldown: must be between 1ms and 1h [out_of_range]"},
		{"retries", base("{members", "{retries: 6, members"), "s.yaml:4:17: error: pool.retries: must be between 0 and 5 [out_of_range]"},
		{"half a budget", base("{members", "{retry_budget: {ratio: 0.1}, members"), "s.yaml:4:8: error: pool.retry_budget.min_per_second: this key is required [missing_key]"},

		{"event after the end", event("{at: 10s, rate: 1}"), "s.yaml:6:8: error: events[0].at: must be before the end, at 10s [out_of_range]"},
		{"event of nothing", event("{at: 1s}"), "s.yaml:6:3: error: events[0]: must have one of does, members and rate (write {at, member, does}, {at, members} or {at, rate}) [invalid_event]"},
		{"event of two", event("{at: 1s, rate: 1, members: []}"), "s.yaml:6:3: error: events[0]: must have one of does, members and rate (write {at, member, does}, {at, members} or {at, rate}) [invalid_event]"},
		{"event of nobody", event("{at: 1s, does: hang}"), "s.yaml:6:3: error: events[0]: must have member and does together [invalid_event]"},
		{"event of a stranger", event("{at: 1s, member: c, does: hang}"), `s.yaml:6:20: error: events[0].member: no list of members has "c" (did you mean a?) [unknown_member]`},
		{"ambiguous", event(`{at: 1s, member: a, does: hang}`) + `- {at: 2s, members: [{address: "a:2"}]}` + "\n",
			`s.yaml:6:20: error: events[0].member: several members have the host "a": write the port too [unknown_member]`},
		{"does", event("{at: 1s, member: a, does: explode}"), `s.yaml:6:29: error: events[0].does: must be refuse, discard, hang, reset, fail, slow or recover, found "explode" [invalid_choice]`},
		{"slow without latency", event("{at: 1s, member: a, does: slow}"), "s.yaml:6:3: error: events[0].latency: this key is required (say how slow) [missing_key]"},
		{"latency of a hang", event("{at: 1s, member: a, does: hang, latency: 1s}"), "s.yaml:6:35: error: events[0].latency: has no effect here (remove it) [misplaced_key]"},
		{"status of a refusal", event("{at: 1s, member: a, does: refuse, status: 503}"), "s.yaml:6:37: error: events[0].status: has no effect here (remove it) [misplaced_key]"},
		{"share of a recovery", event("{at: 1s, member: a, does: recover, share: 1}"), "s.yaml:6:38: error: events[0].share: has no effect here (remove it) [misplaced_key]"},
		{"status", event("{at: 1s, member: a, does: fail, status: 500}"), "s.yaml:6:43: error: events[0].status: must be between 502 and 504 [out_of_range]"},

		{"expect nothing", expect("{member: a}"), "s.yaml:6:3: error: expect[0]: must have one expectation, found 0 (write each on a line of its own) [invalid_expectation]"},
		{"expect two", expect("{retries: {at_most: 1}, amplification: {at_most: 1}}"), "s.yaml:6:3: error: expect[0]: must have one expectation, found 2 (write each on a line of its own) [invalid_expectation]"},
		{"expect of nobody", expect("{ejected_by: 1s}"), "s.yaml:6:3: error: expect[0].member: this key is required (ejected_by is about a member) [missing_key]"},
		{"expect of somebody", expect("{member: a, retries: {at_most: 1}}"), "s.yaml:6:4: error: expect[0].member: retries is about all members (remove it) [misplaced_key]"},
		{"expect of a stranger", expect("{member: c, ejected_by: 1s}"), `s.yaml:6:12: error: expect[0].member: no list of members has "c" (did you mean a?) [unknown_member]`},
		{"no bound", expect("{retries: {}}"), "s.yaml:6:4: error: expect[0].retries: needs at_least or at_most [invalid_expectation]"},
		{"no window there", expect("{retries: {at_most: 1, from: 1s}}"), "s.yaml:6:26: error: expect[0].retries.from: unknown key (keys here: at_least, at_most) [unknown_key]"},
		{"crossed bounds", expect("{retries: {at_least: 2, at_most: 1}}"), "s.yaml:6:4: error: expect[0].retries: at_least is more than at_most [invalid_expectation]"},
		{"crossed window", expect("{client_errors: {at_most: 1, from: 2s, to: 1s}}"), "s.yaml:6:42: error: expect[0].client_errors.to: must be after from [invalid_expectation]"},
		{"empty window", expect("{client_errors: {at_most: 1, from: 2s, to: 2s}}"), "s.yaml:6:42: error: expect[0].client_errors.to: must be after from [invalid_expectation]"},
		{"share without width", expect("{member: a, share: {of: 0.5}}"), "s.yaml:6:15: error: expect[0].share.within: this key is required [missing_key]"},
		{"share of more than all", expect("{client_error_share: {at_most: 1.1}}"), "s.yaml:6:34: error: expect[0].client_error_share.at_most: must be between 0 and 1 [out_of_range]"},

		{"too many requests", strings.NewReplacer("10s", "30d", "rate: 10", "rate: 1000").Replace(small),
			"s.yaml:1:1: error: the scenario has 2592000000 requests, more than 1,000,000,000 (lower the rate or the duration) [scenario_too_large]"},
		{"too many later", strings.NewReplacer("10s", "1d").Replace(small) + "events: [{at: 1s, rate: 100000}]\n",
			"s.yaml:1:1: error: the scenario has 8639900010 requests, more than 1,000,000,000 (lower the rate or the duration) [scenario_too_large]"},
		{"too many in flight", base("rate: 10", "rate: 1000000") + "events: [{at: 1s, member: a, does: hang}]\n",
			"s.yaml:1:1: error: as many as 120000000 requests could be in flight at once, more than 2,000,000 (lower the rate or timeouts.response) [scenario_too_large]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Parse("s.yaml", []byte(test.text))
			if err == nil {
				t.Fatal("it was accepted")
			}
			var problems strict.Problems
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
	var problems strict.Problems
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

// TestSeed: all of its 64 bits are read.
func TestSeed(t *testing.T) {
	if s := parse(t, small+"seed: 18446744073709551615\n"); s.seed != math.MaxUint64 {
		t.Errorf("the seed is %d", s.seed)
	}
}

// TestReportedTimesAreRead: a time of the report can be written into the next scenario.
func TestReportedTimesAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(0, int64(maxDuration/time.Microsecond)).Draw(t, "us")) * time.Microsecond
		if got, fault := strict.FineDuration(0, maxDuration).Parse(formatDuration(want)); fault != nil || got != want {
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
			var problems strict.Problems
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
