package lb_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/lb"
)

// manual is the page that explains the engine. What it shows of the engine is computed by the engine:
//
//	```lb KIND key=value ...      a block of text; where its lines have a "->" the left side is the question
//	<!-- table KIND -->           a table, up to <!-- end -->
//
// go test ./pkg/lb -run TestManual -update writes the answers.
const manual = "../../docs/load-balancing.md"

var (
	manualBlock = regexp.MustCompile("(?m)^```lb (\\w+)(.*)\n((?:[^`].*\n|\n)*)```$")
	manualTable = regexp.MustCompile(`(?m)^<!-- table (\w+) -->\n((?:[^<].*\n)*)<!-- end -->$`)
)

// manualKinds are what a page can ask. Each is used by the page.
func manualKinds() map[string]func(*question) string {
	return map[string]func(*question) string{
		"address":   addresses,
		"bounds":    bounds,
		"budget":    budgets,
		"health":    healthOfA,
		"keys":      keys,
		"moved":     moved,
		"probation": probation,
		"retries":   retries,
		"sequence":  sequence,
		"split":     split,
		"token":     tokens,
	}
}

func TestManual(t *testing.T) {
	page := readManual(t)
	kinds, used := manualKinds(), map[string]bool{}
	answer := func(kind, options, body string) string {
		f := kinds[kind]
		if f == nil {
			t.Fatalf("there is no answer to lb %s", kind)
		}
		used[kind] = true
		q := newQuestion(t, kind, options, body)
		text := f(q)
		for name := range q.options {
			t.Errorf("lb %s has no option %s here", kind, name)
		}
		return strings.TrimRight(text, "\n") + "\n"
	}
	got := manualBlock.ReplaceAllStringFunc(page, func(block string) string {
		m := manualBlock.FindStringSubmatch(block)
		return "```lb " + m[1] + m[2] + "\n" + answer(m[1], m[2], m[3]) + "```"
	})
	got = manualTable.ReplaceAllStringFunc(got, func(table string) string {
		m := manualTable.FindStringSubmatch(table)
		return "<!-- table " + m[1] + " -->\n" + answer(m[1], "", m[2]) + "<!-- end -->"
	})
	for kind := range kinds {
		if !used[kind] {
			t.Errorf("the page does not ask for lb %s", kind)
		}
	}
	asked := strings.Count(page, "```lb ") + strings.Count(page, "<!-- table ")
	if found := len(manualBlock.FindAllString(page, -1)) + len(manualTable.FindAllString(page, -1)); asked != found {
		t.Errorf("%d blocks and tables begin, %d are whole", asked, found)
	}
	if flag.Lookup("update").Value.String() == "true" { // declared by the tests inside the package
		if err := os.WriteFile(manual, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(page, got); diff != "" {
		t.Errorf("the page does not say what the engine says (-page +engine):\n%s", diff)
	}
}

// TestManualNamesEveryCause holds the table of failures against the causes that there are.
func TestManualNamesEveryCause(t *testing.T) {
	var want, got []string
	for c := lb.ConnectRefused; c.String() != ""; c++ {
		want = append(want, c.String())
	}
	_, section, _ := strings.Cut(readManual(t), "\n## Passive health\n")
	section, _, _ = strings.Cut(section, "\n#")
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(section, -1) {
		got = append(got, row[1])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-causes +page:\n%s", diff)
	}
}

func readManual(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// question is what a block or a table of the page asks for.
type question struct {
	t    *testing.T
	kind string
	// options that were not looked at yet.
	options map[string]string
	body    []string
}

func newQuestion(t *testing.T, kind, options, body string) *question {
	q := &question{t: t, kind: kind, options: map[string]string{}, body: strings.Split(strings.TrimSuffix(body, "\n"), "\n")}
	for option := range strings.FieldsSeq(options) {
		name, value, _ := strings.Cut(option, "=")
		q.options[name] = value
	}
	return q
}

// text is an option; without a default it must be there.
func (q *question) text(name string, otherwise ...string) string {
	value, ok := q.options[name]
	delete(q.options, name)
	switch {
	case ok:
		return value
	case len(otherwise) == 0:
		q.t.Fatalf("lb %s needs the option %s", q.kind, name)
	}
	return otherwise[0]
}

func (q *question) number(name string, otherwise ...string) int {
	return q.parseInt(q.text(name, otherwise...))
}

func (q *question) duration(name string, otherwise ...string) time.Duration {
	return q.parseDuration(q.text(name, otherwise...))
}

func (q *question) parseInt(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		q.t.Fatalf("lb %s: %v", q.kind, err)
	}
	return n
}

func (q *question) parseDuration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		q.t.Fatalf("lb %s: %v", q.kind, err)
	}
	return d
}

// numbers is a list such as weights=5,1,1.
func (q *question) numbers(name string) []int {
	var all []int
	for s := range strings.SplitSeq(q.text(name), ",") {
		all = append(all, q.parseInt(s))
	}
	return all
}

// members of these weights are called a, b, c and so on.
func (q *question) members() []lb.Member {
	var list []lb.Member
	for i, w := range q.numbers("weights") {
		list = append(list, lb.Member{Address: addressOf(string(rune('a' + i))), Weight: w})
	}
	return list
}

func addressOf(name string) string { return name + ".internal:8080" }
func nameOf(address string) string { return strings.TrimSuffix(address, ".internal:8080") }

// begin is when the answers' pools begin.
func begin() time.Time { return time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC) }

func (q *question) pool(s lb.Settings, members []lb.Member, key string) *lb.Pool {
	p, err := lb.NewPool(lb.Options{Name: "p", Settings: s, Members: members, Key: []byte(key), Now: begin()})
	if err != nil {
		q.t.Fatalf("lb %s: %v", q.kind, err)
	}
	return p
}

func (q *question) pick(p *lb.Pool, now time.Time, key lb.Key) *lb.Lease {
	l, ok := p.Pick(now, key, nil)
	if !ok {
		q.t.Fatalf("lb %s: no member", q.kind)
	}
	return &l
}

// each answers the lines, all of which have a "->", one by one.
func (q *question) each(answer func(asked string) string) string {
	var asked []string
	width := 0
	for _, line := range q.body {
		left, _, ok := strings.Cut(line, "->")
		if !ok {
			q.t.Fatalf("lb %s: no -> in %q", q.kind, line)
		}
		left = strings.TrimRight(left, " ")
		asked, width = append(asked, left), max(width, len(left))
	}
	var b strings.Builder
	for _, left := range asked {
		fmt.Fprintf(&b, "%-*s -> %s\n", width, left, answer(left))
	}
	return b.String()
}
