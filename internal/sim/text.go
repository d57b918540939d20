package sim

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Style is how a report is written as text.
type Style struct {
	// Width in columns; 0 is 80. Tables are as wide as they must be.
	Width int
	// ASCII keeps to ASCII.
	ASCII bool
}

// mostEvents and mostPlots bound the text, which is for reading; the JSON document has everything.
const (
	mostEvents = 20
	mostPlots  = 16
)

// WriteText writes the report for people. Its form may change; programs read the JSON document.
func (r *Report) WriteText(w io.Writer, s Style) error {
	if s.Width == 0 {
		s.Width = 80
	}
	b := bufio.NewWriter(w)
	r.writeSummary(b)
	r.writeMembers(b)
	r.writeFaults(b)
	r.writePlots(b, s)
	r.writeEvents(b)
	r.writeExpect(b)
	return b.Flush()
}

func (r *Report) writeSummary(w io.Writer) {
	c := r.Clients
	fmt.Fprintf(w, "%s: %s requests in %v, seed %d\n\n", r.Scenario, grouped(c.Requests), r.Duration, r.Seed)
	fmt.Fprintf(w, "clients   %s answered, %s errors (%s)", grouped(c.Answered), grouped(c.Errors), percent(c.ErrorShare))
	if c.FirstError != nil {
		fmt.Fprintf(w, ", the first at %v, the last at %v", *c.FirstError, *c.LastError)
	}
	if len(c.ErrorsBy) > 0 {
		fmt.Fprintf(w, "\nerrors    %s", listed(c.ErrorsBy))
	}
	fmt.Fprintf(w, "\nwaits     half up to %v, 99 %% up to %v, the longest %v\n", c.WaitHalf, c.Wait99, c.WaitLongest)
	fmt.Fprintf(w, "attempts  %s, of which %s retries: amplification %.3f", grouped(r.Attempts), grouped(r.Retries), r.Amplification)
	if r.BudgetRefusals > 0 {
		fmt.Fprintf(w, "; %s more were refused by the budget", grouped(r.BudgetRefusals))
	}
	fmt.Fprintln(w)
}

func (r *Report) writeMembers(w io.Writer) {
	rows := [][]string{{"MEMBER", "-WEIGHT", "-REQUESTS", "-SHARE", "-BY WEIGHT", "-EJECTIONS", "-OUT FOR", "FAILURES"}}
	for _, m := range r.Members {
		out := "-"
		if m.Ejections > 0 {
			out = m.Ejected.String()
		}
		rows = append(rows, []string{m.Address, strconv.Itoa(m.Weight), grouped(m.Requests), percent(m.Share),
			percent(m.WeightShare), strconv.Itoa(m.Ejections), out, listed(m.Failures)})
	}
	writeTable(w, rows)
}

func (r *Report) writeFaults(w io.Writer) {
	rows := [][]string{{"-AT", "MEMBER", "DOES", "-EJECTED AT", "-AFTER", "-REQUESTS SENT"}}
	type entry struct {
		member string
		Fault
	}
	var all []entry
	for _, m := range r.Members {
		for _, f := range m.Faults {
			all = append(all, entry{m.Address, f})
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
	for _, f := range all {
		at, after := "never", "-"
		if f.EjectedAt != nil {
			at, after = f.EjectedAt.String(), f.After.String()
		}
		rows = append(rows, []string{f.At.String(), f.member, f.Does, at, after, grouped(f.Sent)})
	}
	if len(all) > 0 {
		writeTable(w, rows)
	}
}

func (r *Report) writeEvents(w io.Writer) {
	if len(r.Events) == 0 {
		return
	}
	rows := [][]string{{"-AT", "EVENT", "MEMBER", "BECAUSE"}}
	for _, e := range r.Events[:min(mostEvents, len(r.Events))] {
		rows = append(rows, []string{e.At.String(), e.Kind, e.Member, e.because()})
	}
	writeTable(w, rows)
	if more := len(r.Events) + r.EventsLeftOut - mostEvents; more > 0 {
		fmt.Fprintf(w, "and %s more events\n", grouped(more))
	}
}

// because is the evidence of an event in a few words.
func (e Event) because() string {
	switch {
	case len(e.Evidence) > 0:
		counts := make(map[string]uint64)
		for _, failure := range e.Evidence {
			counts[failure.Cause]++
		}
		return listed(counts)
	case e.From != 0:
		return fmt.Sprintf("weight %d to %d", e.From, e.To)
	default:
		return "-"
	}
}

func (r *Report) writeExpect(w io.Writer) {
	if r.Expect.Checked == 0 {
		return
	}
	fmt.Fprintln(w)
	for _, f := range r.Expect.Failed {
		fmt.Fprintf(w, "FAILED  line %d: %s: found %s\n", f.Line, f.Expect, f.Found)
	}
	fmt.Fprintf(w, "%d of %d expectations hold\n", r.Expect.Checked-len(r.Expect.Failed), r.Expect.Checked)
}

// writeTable writes rows under their heads. A column whose head begins with "-" is aligned to the right,
// and what is behind the last column's text is cut.
func writeTable(w io.Writer, rows [][]string) {
	fmt.Fprintln(w)
	widths := make([]int, len(rows[0]))
	right := make([]bool, len(rows[0]))
	for i := range rows[0] {
		rows[0][i], right[i] = strings.CutPrefix(rows[0][i], "-")
	}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if right[i] {
				line.WriteString(space + cell + "  ")
			} else {
				line.WriteString(cell + space + "  ")
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// listed is counts by name: "3 connect_refused, 1 reset", the largest first; "-" without any.
func listed(counts map[string]uint64) string {
	all := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(all, func(a, b string) int {
		switch {
		case counts[a] > counts[b]:
			return -1
		case counts[a] < counts[b]:
			return 1
		}
		return 0
	})
	for i, name := range all {
		all[i] = grouped(counts[name]) + " " + name
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, ", ")
}

// percent has two decimals.
func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 2, 64) + " %" }

// grouped is a number with a comma between thousands.
func grouped[N ~int | ~uint64](n N) string {
	s := strconv.FormatUint(uint64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
