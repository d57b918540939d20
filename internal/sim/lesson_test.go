package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parse is a scenario that must be accepted.
func parse(t testing.TB, text string) *Scenario {
	t.Helper()
	s, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// TestDetection is how long passive health takes to notice a member that has died, against arithmetic on
// paper: four members share 400 requests/s in turn, app-3 fails at 10.3 s, three failures in a row take
// it out.
//
// Four conventions give these numbers. app-3 is first in the list, so that its turns come at whole 10 ms
// and one of them at 10.3 s. The failure is there before the request of the same moment, and the end of an
// attempt comes before a request of the same moment: the one that would be sent at 15.32 s goes elsewhere.
// A refusal is known after 1 ms. Nothing is retried: retries take turns too.
func TestDetection(t *testing.T) {
	type found struct {
		Out  string
		Sent uint64
	}
	for _, test := range []struct {
		does string
		want found
	}{
		{"refuse", found{"10.32s", 3}},
		{"hang", found{"15.32s", 502}},
	} {
		t.Run(test.does, func(t *testing.T) {
			r := runScenario(t, parse(t, fmt.Sprintf(`
schema: scalws.scenario/1
duration: 20s
load: {rate: 400}
pool:
  passive_health: {failures: 3}
  retries: 0
  members: [{address: "app-3:1"}, {address: "app-1:1"}, {address: "app-2:1"}, {address: "app-4:1"}]
timeouts: {response: 5s}
events: [{at: 10.3s, member: app-3, does: %s}]
`, test.does)))
			fault := r.Members[0].Faults[0]
			if fault.EjectedAt == nil {
				t.Fatal("app-3 was not ejected")
			}
			got := found{fmt.Sprintf("%.2fs", *fault.EjectedAt), fault.Sent}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDetectionIsExact is the same to the nanosecond, which two decimals hide.
func TestDetectionIsExact(t *testing.T) {
	for does, want := range map[string]time.Duration{"refuse": 10_321 * time.Millisecond, "hang": 15_320 * time.Millisecond} {
		r := runScenario(t, parse(t, `
schema: scalws.scenario/1
duration: 20s
load: {rate: 400}
pool: {retries: 0, members: [{address: "app-3:1"}, {address: "app-1:1"}, {address: "app-2:1"}, {address: "app-4:1"}]}
timeouts: {response: 5s}
events: [{at: 10.3s, member: app-3, does: `+does+`}]
`))
		if got := *r.Members[0].First; got != seconds(want) {
			t.Errorf("%s: ejected at %v, want %v", does, got, want)
		}
	}
}

// TestPriceOfProbation is what a hung member costs of all requests, over ten minutes from the moment it
// hangs: four members, 400 requests/s, a response timeout of 5 s, a cooldown of 10 s. At first 502 or 503
// requests meet it, as above. Then a cycle of 15 s repeats 39 times: 10 s of cooldown, and on probation 5 s
// until the failure of the first request is known. With probation_requests: 0 the member gets a request
// every 10 ms of these 5 s, with 1 it gets one.
//
// Whether the full share is 500 or 501 a cycle hangs on a tie: the 501st request comes in the moment in
// which the first one times out. A timeout that is noticed a millisecond later lets it through, and then
// it is (503 + 39*501) / 240,000 = 8.35 %, against (503 + 39) / 240,000 = 0.23 %.
func TestPriceOfProbation(t *testing.T) {
	for _, test := range []struct {
		name     string
		places   int
		response string
		errors   uint64
		share    string
	}{
		{"full share", 0, "5001ms", 503 + 39*501, "8.35 %"},
		{"full share, noticed at once", 0, "5s", 502 + 39*500 + 1, "8.33 %"},
		{"one probe", 1, "5001ms", 503 + 39, "0.23 %"},
		{"one probe, noticed at once", 1, "5s", 502 + 39, "0.23 %"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := runScenario(t, parse(t, fmt.Sprintf(`
schema: scalws.scenario/1
duration: 10m
load: {rate: 400}
pool:
  passive_health: {failures: 3, cooldown: 10s, probation_requests: %d}
  retries: 0
  members: [{address: "a:1"}, {address: "b:1"}, {address: "c:1"}, {address: "d:1"}]
timeouts: {response: %s}
events: [{at: 0s, member: a, does: hang}]
`, test.places, test.response)))
			if got := percent(r.Clients.ErrorShare); got != test.share {
				t.Errorf("%s of the requests failed, want %s", got, test.share)
			}
			if r.Clients.Errors != test.errors || r.Members[0].Requests != test.errors {
				t.Errorf("%d errors and %d requests to the member, want %d", r.Clients.Errors, r.Members[0].Requests, test.errors)
			}
			if r.Clients.Requests != 240_000 {
				t.Errorf("%d requests, want 240,000", r.Clients.Requests)
			}
		})
	}
}
