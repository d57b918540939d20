package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestText is a report that has every part.
func TestText(t *testing.T) {
	r := runScenario(t, parse(t, `schema: scalws.scenario/1
duration: 60s
load: {rate: 100}
pool: {retries: 1, retry_budget: {ratio: 0, min_per_second: 1}, members: [{address: "a:1"}, {address: "b:1", weight: 3}]}
events:
- {at: 20s, member: a, does: refuse}
- {at: 40s, members: [{address: "a:1", weight: 3}, {address: "b:1", weight: 3}]}
- {at: 40s, member: a, does: recover}
expect:
- {client_errors: {at_most: 1}}
- {amplification: {at_most: 2}}
`))
	want := `test.yaml: 6,000 requests in 1m, seed 1

clients   5,998 answered, 2 errors (0.03 %), the first at 20.051s, the last at 20.091s
errors    2 connect_refused
waits     half up to 10ms, 99 % up to 10ms, the longest 11ms
attempts  6,002, of which 2 retries: amplification 1.000; 2 more were refused by the budget

MEMBER  WEIGHT  REQUESTS    SHARE  BY WEIGHT  EJECTIONS  OUT FOR  FAILURES
a:1          3     1,497  24.94 %    50.00 %          2      20s  4 connect_refused
b:1          3     4,505  75.06 %    50.00 %          0        -  -

 AT  MEMBER  DOES    EJECTED AT  AFTER  REQUESTS SENT
20s  a:1     refuse     20.091s   91ms              3

share of attempts over time: a column is 4s, a full one 100.00 %
a:1            |:::::. .  =====|
b:1            |*****@@@@@=====|
errors for each request that arrived: a full column is 0.50 %
client errors  |     @         |

     AT  EVENT              MEMBER  BECAUSE
20.091s  ejected            a:1     3 connect_refused
30.091s  probation          a:1     -
30.131s  ejected            a:1     1 connect_refused
    40s  member_reweighted  a:1     weight 1 to 3
40.131s  probation          a:1     -
 40.16s  recovered          a:1     -

FAILED  line 10: {client_errors: {at_most: 1}}: found 2 errors
1 of 2 expectations hold
`
	var text bytes.Buffer
	if err := r.WriteText(&text, Style{Width: 33, ASCII: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWidth: plots keep within the width, whatever it is, and ASCII keeps to ASCII.
func TestWidth(t *testing.T) {
	r := runScenario(t, parse(t, fmt.Sprintf(busy, 1)))
	for _, width := range []int{1, 30, 40, 79, 80, 200} {
		for _, ascii := range []bool{false, true} {
			var text bytes.Buffer
			if err := r.WriteText(&text, Style{Width: width, ASCII: ascii}); err != nil {
				t.Fatal(err)
			}
			plots := 0
			for line := range strings.SplitSeq(text.String(), "\n") {
				if ascii && len(line) != utf8.RuneCountInString(line) {
					t.Errorf("%q is not ASCII", line)
				}
				if !strings.HasSuffix(line, "|") {
					continue
				}
				plots++
				if n := utf8.RuneCountInString(line); n > max(width, 27) {
					t.Errorf("%d columns for a width of %d: %s", n, width, line)
				}
			}
			if plots != len(r.Members)+1 {
				t.Errorf("%d plots for %d members", plots, len(r.Members))
			}
		}
	}
}

// TestManyOfEverything: the text has a bound, and says what it leaves out.
func TestManyOfEverything(t *testing.T) {
	var list, events strings.Builder
	for i := range 40 {
		fmt.Fprintf(&list, "{address: \"m%d:1\"}, ", i)
		fmt.Fprintf(&events, "{at: %dms, member: m%d, does: refuse}, ", i, i)
	}
	r := runScenario(t, parse(t, `schema: scalws.scenario/1
duration: 30s
load: {rate: 400}
pool: {passive_health: {failures: 1, cooldown: 1s}, members: [`+list.String()+`]}
events: [`+events.String()+`]
`))
	if len(r.Events) != maxEvents || r.EventsLeftOut == 0 {
		t.Errorf("%d events, %d left out", len(r.Events), r.EventsLeftOut)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text, Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"and 24 more members\n", fmt.Sprintf("and %s more events\n", grouped(maxEvents-mostEvents+r.EventsLeftOut))} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &text)
		}
	}
}

// TestJSON: the document begins with its schema, and lists are never null.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(runScenario(t, parse(t, small)))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"schema":"scalws.simulation/1","scenario":"test.yaml","seed":1,"duration_s":10,`; !strings.HasPrefix(string(text), want) {
		t.Errorf("%s", text)
	}
	if strings.Contains(string(text), "null") {
		t.Errorf("%s", text)
	}
}

func TestListed(t *testing.T) {
	for want, counts := range map[string]map[string]uint64{
		"-":                 {},
		"1 a":               {"a": 1},
		"2,000 b, 3 a, 3 c": {"a": 3, "b": 2000, "c": 3},
	} {
		if got := listed(counts); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

var errBroken = errors.New("broken")

func TestWriteFails(t *testing.T) {
	if err := runScenario(t, parse(t, small)).WriteText(broken{}, Style{}); !errors.Is(err, errBroken) {
		t.Errorf("%v", err)
	}
}
