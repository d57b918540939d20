package sim

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/strict"
)

const manual = "../../docs/simulation.md"

var update = flag.Bool("update", false, "write the reports and the table of the manual")

// TestManual holds every number of the manual against a run: the reports behind "<!-- report FILE -->" and
// the table. With -update it writes them.
func TestManual(t *testing.T) {
	page, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	want := regexp.MustCompile(`(?s)<!-- (report|scenario|table)( [a-z-]+\.yaml)? -->\n.*?<!-- end -->`).ReplaceAllFunc(page, func(block []byte) []byte {
		blocks++
		head, _, _ := bytes.Cut(block, []byte("\n"))
		words := strings.Fields(string(head))
		var text bytes.Buffer
		switch words[1] {
		case "table":
			text.WriteString(priceTable(t))
		case "scenario":
			source, err := os.ReadFile(examples + "/" + words[2])
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "```yaml\n%s```\n", source)
		default:
			s, err := readScenario(examples + "/" + words[2])
			if err != nil {
				t.Fatal(err)
			}
			text.WriteString("```text\n$ scalwsctl simulate examples/simulate/" + words[2] + "\n")
			if err := runScenario(t, s).WriteText(&text, Style{}); err != nil {
				t.Fatal(err)
			}
			text.WriteString("```\n")
		}
		return fmt.Appendf(nil, "%s\n%s<!-- end -->", head, &text)
	})
	if blocks < 3 {
		t.Errorf("only %d blocks were found", blocks)
	}
	if *update {
		if err := os.WriteFile(manual, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(page)); diff != "" {
		t.Errorf("%s is stale, run the test with -update (-want +got):\n%s", manual, diff)
	}
}

// priceTable is what the manual says that a dead member costs.
func priceTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| app-1 | retries | probation_requests | noticed after | requests sent until then | requests sent in all | errors for clients | longest wait |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, does := range []string{"refuse", "hang"} {
		for _, retries := range []int{0, 1} {
			for _, places := range []int{1, 0} {
				r := runScenario(t, parse(t, fmt.Sprintf(`
schema: scalws.scenario/1
duration: 10m
load: {rate: 400}
pool:
  passive_health: {probation_requests: %d}
  retries: %d
  members: [{address: "app-1:1"}, {address: "app-2:1"}, {address: "app-3:1"}, {address: "app-4:1"}]
timeouts: {response: 5s}
events: [{at: 0s, member: app-1, does: %s}]
`, places, retries, does)))
				m := r.Members[0]
				fmt.Fprintf(&b, "| %ss | %d | %d | %v | %s | %s | %s | %v |\n", does, retries, places, *m.Faults[0].After,
					grouped(m.Faults[0].Sent), grouped(m.Requests), percent(r.Clients.ErrorShare), r.Clients.WaitLongest)
			}
		}
	}
	return b.String()
}

// TestManualNamesEveryKey: the keys that a scenario is read by, and the codes of what is wrong with one.
// Members of later lists have the keys of the first, and bounds those of requests.
func TestManualNamesEveryKey(t *testing.T) {
	page, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	keys := strict.Keys("", scenarioFields(new(Scenario)))
	if len(keys) < 60 {
		t.Errorf("only %d keys were found", len(keys))
	}
	bounds := regexp.MustCompile(`^expect\[\]\.\w+\.(at_|from|to)`)
	for _, k := range keys {
		path := strings.Replace(k.Path, "events[].members[].", "pool.members[].", 1)
		if !strings.HasPrefix(path, "expect[].share.") {
			path = bounds.ReplaceAllString(path, "expect[].requests.$1")
		}
		if !bytes.Contains(page, []byte("| `"+path+"` |")) {
			t.Errorf("the manual does not have the key %s", path)
		}
	}
	for _, code := range []string{codeInvalidMember, codeUnknownMember, codeMisplacedKey, codeInvalidEvent, codeInvalidExpectation, codeScenarioTooLarge} {
		if !bytes.Contains(page, []byte("`"+code+"`")) {
			t.Errorf("the manual does not have the code %s", code)
		}
	}
}

// TestManualNamesEveryField: what the JSON document has is explained.
func TestManualNamesEveryField(t *testing.T) {
	page, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("report.go")
	if err != nil {
		t.Fatal(err)
	}
	fields := regexp.MustCompile("json:\"([a-z0-9_]+)").FindAllSubmatch(source, -1)
	if len(fields) < 40 {
		t.Errorf("only %d fields were found", len(fields))
	}
	for _, field := range fields {
		if !bytes.Contains(page, []byte("`"+string(field[1])+"`")) {
			t.Errorf("the manual does not have the field %s", field[1])
		}
	}
}

// TestManualExamples: every other scenario of the manual is accepted.
func TestManualExamples(t *testing.T) {
	page, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	whole := slices.DeleteFunc(found, func(m [][]byte) bool { return !bytes.Contains(m[1], []byte("schema:")) })
	if len(whole) == 0 {
		t.Fatal("the manual has no scenario")
	}
	for _, m := range whole {
		if _, err := Parse("manual.yaml", m[1]); err != nil {
			t.Errorf("%v\n%s", err, m[1])
		}
	}
}
