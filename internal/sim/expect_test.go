package sim

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExpectations has every kind of expectation once as it holds and once as it does not, with what is
// said then. Two members take turns at 100 requests/s; a refuses from 2 s to 5 s, is out from its third
// failure on, and recovers with its first answer after the cooldown.
func TestExpectations(t *testing.T) {
	for _, test := range []struct{ holds, fails, found string }{
		{"{member: a, ejected_by: 2.041s}", "{member: a, ejected_by: 2.04s}", "ejected at 2.041s"},
		{"{member: a, ejected_by: 1m}", "{member: b, ejected_by: 1m}", "it was never ejected"},
		{"{member: a, recovered_by: 12.07s}", "{member: a, recovered_by: 12s}", "recovered at 12.07s"},
		{"{member: a, recovered_by: 1h}", "{member: b, recovered_by: 1h}", "it never recovered from an ejection"},
		{"{member: a, ejections: {at_least: 1, at_most: 1}}", "{member: a, ejections: {at_most: 0}}", "1 ejection"},
		{"{member: b, ejections: {at_most: 0}}", "{member: b, ejections: {at_least: 1}}", "0 ejections"},
		{"{member: a, requests: {from: 2s, to: 12s, at_least: 3, at_most: 3}}", "{member: a, requests: {from: 2s, to: 12s, at_most: 2}}", "3 requests"},
		{"{member: a, requests: {to: 2s, at_least: 100}}", "{member: a, requests: {to: 2s, at_least: 101}}", "100 requests"},
		{"{member: a, share: {of: 0.5, within: 0, to: 2s}}", "{member: a, share: {of: 0.5, within: 0.01}}", "0.249626"},
		{"{member: a, share: {of: 0, within: 0, from: 3s, to: 12s}}", "{member: a, share: {of: 0.01, within: 0.009, from: 3s, to: 12s}}", "0.000000"},
		{"{client_errors: {at_most: 0}}", "{client_errors: {at_least: 1}}", "0 errors"},
		{"{client_error_share: {at_most: 0}}", "{client_error_share: {at_least: 0.5}}", "0.000000"},
		{"{retries: {at_least: 3, at_most: 3}}", "{retries: {at_most: 2}}", "3 retries"},
		{"{amplification: {at_most: 1.0015}}", "{amplification: {at_most: 1.0014}}", "1.001500"},
		{"{budget_refusals: {at_most: 0}}", "{budget_refusals: {at_least: 1}}", "0 refusals"},
	} {
		t.Run(test.fails, func(t *testing.T) {
			r := runScenario(t, parse(t, `schema: scalws.scenario/1
duration: 20s
load: {rate: 100}
pool: {members: [{address: "a:1"}, {address: "b:1"}]}
events: [{at: 2s, member: a, does: refuse}, {at: 5s, member: a, does: recover}]
expect:
- `+test.holds+`
- `+test.fails+`
`))
			want := []Failure{{Line: 8, Expect: test.fails, Found: test.found}}
			if diff := cmp.Diff(want, r.Failed()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if r.Expect.Checked != 2 {
				t.Errorf("%d were checked", r.Expect.Checked)
			}
		})
	}
}

// TestErrorsInAPart: errors are counted when the client gets them.
func TestErrorsInAPart(t *testing.T) {
	r := runScenario(t, parse(t, `schema: scalws.scenario/1
duration: 3s
load: {rate: 10}
pool: {retries: 0, passive_health: {failures: 0}, members: [{address: "a:1"}]}
timeouts: {response: 1s}
events: [{at: 1s, member: a, does: hang}, {at: 1.3s, member: a, does: recover}]
expect:
- {client_errors: {to: 2s, at_most: 0}}
- {client_errors: {from: 2s, to: 2.2s, at_least: 2, at_most: 2}}
- {client_errors: {from: 2.2s, at_least: 1, at_most: 1}}
`))
	if len(r.Failed()) > 0 {
		t.Errorf("%+v", r.Failed())
	}
}

// TestTextOfExpectations: an expectation of several lines is shown on one, as it could have been written.
func TestTextOfExpectations(t *testing.T) {
	s := parse(t, small+`expect:
- client_errors:   # none
    at_most: 0
    from: 1s
`)
	if got, want := s.expect[0].text, "{client_errors: {at_most: 0, from: 1s}}"; got != want || s.expect[0].line != 6 {
		t.Errorf("line %d: %s, want %s", s.expect[0].line, got, want)
	}
	long := parse(t, small+"expect:\n- {member: a, requests: {at_least: 100000000000, at_most: 200000000000, from: 1s200ms, to: 9s999ms}}\n")
	if strings.Contains(long.expect[0].text, "\n") {
		t.Errorf("%q", long.expect[0].text)
	}
}
