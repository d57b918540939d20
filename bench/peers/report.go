package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is a whole comparison, as the JSON file has it.
type report struct {
	Began     time.Time `json:"began"`
	Versions  []string  `json:"versions"`
	Rounds    int       `json:"rounds"`
	Seconds   int       `json:"seconds"`
	Threads   int       `json:"threads"`
	Scenarios []outcome `json:"scenarios"`
}

// outcome is every run of a scenario, in the order in which they were made.
type outcome struct {
	Name  string   `json:"name"`
	Title string   `json:"title"`
	Runs  []sample `json:"runs"`
}

func (r *report) heading() string {
	return fmt.Sprintf("%d rounds of %d s, %d threads each, %d processors, %s\n%s\n",
		r.Rounds, r.Seconds, r.Threads, runtime.NumCPU(), r.Began.Format(time.DateOnly), strings.Join(r.Versions, "\n"))
}

// measure is a column of the table.
type measure struct {
	title string
	of    func(sample) float64
	form  string
	ratio bool // with a column of ratios to nginx
}

func measures() []measure {
	milliseconds := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	return []measure{
		{"us/request", sample.processorPerRequest, "%.1f", true},
		{"requests/s", sample.perSecond, "%.0f", true},
		{"p50 ms", func(r sample) float64 { return milliseconds(r.P50) }, "%.2f", false},
		{"p99 ms", func(r sample) float64 { return milliseconds(r.P99) }, "%.2f", true},
		{"peak MiB", func(r sample) float64 { return float64(r.Peak) / (1 << 20) }, "%.1f", true},
	}
}

// reference is the proxy that the ratios are to.
const reference = "nginx"

// table is in Markdown: medians over the rounds with the least and the most, and medians of the ratios to
// nginx in the same round.
func (o outcome) table() string {
	title := []string{o.Title}
	for _, m := range measures() {
		title = append(title, m.title)
		if m.ratio {
			title = append(title, "/ "+reference)
		}
	}
	rows := [][]string{title}
	for _, name := range o.proxies() {
		row := []string{name}
		for _, m := range measures() {
			values := o.values(name, m.of)
			row = append(row, fmt.Sprintf(m.form+" ("+m.form+" - "+m.form+")", median(values), slices.Min(values), slices.Max(values)))
			if m.ratio {
				row = append(row, fmt.Sprintf("%.2f", median(quotients(values, o.values(reference, m.of)))))
			}
		}
		rows = append(rows, row)
	}
	return markdown(rows)
}

// proxies are the names in the order of the peers.
func (o outcome) proxies() []string {
	var list []string
	for _, p := range peers() {
		if slices.ContainsFunc(o.Runs, func(r sample) bool { return r.Proxy == p.name }) {
			list = append(list, p.name)
		}
	}
	return list
}

// values are those of one proxy by round.
func (o outcome) values(proxy string, of func(sample) float64) []float64 {
	var list []float64
	for _, r := range o.Runs {
		if r.Proxy == proxy {
			list = append(list, of(r))
		}
	}
	return list
}

// median is the middle one, or the mean of both middle ones.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func quotients(a, b []float64) []float64 {
	list := make([]float64, len(a))
	for i := range a {
		list[i] = a[i] / b[i]
	}
	return list
}

// markdown aligns the columns: the first to the left, numbers to the right.
func markdown(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var b strings.Builder
	for n, row := range rows {
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(&b, "| %-*s |", widths[i], cell)
			} else {
				fmt.Fprintf(&b, " %*s |", widths[i], cell)
			}
		}
		b.WriteByte('\n')
		if n == 0 {
			fmt.Fprintf(&b, "|%s|", strings.Repeat("-", widths[0]+2))
			for _, w := range widths[1:] {
				fmt.Fprintf(&b, "%s:|", strings.Repeat("-", w+1))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
