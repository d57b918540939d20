package sim

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// writePlots draws a line for each member and one for the clients' errors, a column for each part of the
// timeline or for a few of them.
func (r *Report) writePlots(w io.Writer, s Style) {
	members := r.Members[:min(mostPlots, len(r.Members))]
	const errors = "client errors"
	label := len(errors)
	for _, m := range members {
		label = max(label, utf8.RuneCountInString(m.Address))
	}
	columns := buckets
	for columns > 10 && (buckets%columns != 0 || columns > s.Width-label-len("  ||")) {
		columns-- // to a width of which all columns are equally long
	}

	attempts := make([]uint64, buckets)
	for _, counts := range r.Timeline.Members {
		add(attempts, counts)
	}
	attempts = merged(attempts, columns)
	lines := make([][]float64, len(members))
	most := 0.0
	for i := range members {
		lines[i] = shares(merged(r.Timeline.Members[i], columns), attempts)
		for _, x := range lines[i] {
			most = max(most, x)
		}
	}
	column := Seconds(float64(r.Timeline.Bucket) * buckets / float64(columns))
	fmt.Fprintf(w, "\nshare of attempts over time: a column is %v, a full one %s\n", column, percent(most))
	for i, m := range members {
		draw(w, s, m.Address, label, lines[i], most)
	}
	if more := len(r.Members) - len(members); more > 0 {
		fmt.Fprintf(w, "and %d more members\n", more)
	}

	failing := shares(merged(r.Timeline.Errors, columns), merged(r.Timeline.Requests, columns))
	most = 0
	for _, x := range failing {
		most = max(most, x)
	}
	if most > 0 {
		fmt.Fprintf(w, "errors for each request that arrived: a full column is %s\n", percent(most))
	}
	draw(w, s, errors, label, failing, most)
}

// draw writes one line. What is not zero is always seen.
func draw(w io.Writer, s Style, name string, label int, values []float64, most float64) {
	steps := []rune(" ▁▂▃▄▅▆▇█")
	if s.ASCII {
		steps = []rune(" .:-=+*#@")
	}
	var line strings.Builder
	for _, x := range values {
		level := 0
		if x > 0 {
			level = max(1, min(len(steps)-1, int(x/most*float64(len(steps)-1)+0.5)))
		}
		line.WriteRune(steps[level])
	}
	fmt.Fprintf(w, "%-*s  |%s|\n", label, name, line.String())
}

// merged sums neighbours up, so that there are as many values as columns.
func merged(counts []uint64, columns int) []uint64 {
	out := make([]uint64, columns)
	for i, n := range counts {
		out[i*columns/len(counts)] += n
	}
	return out
}

func add(to, counts []uint64) {
	for i, n := range counts {
		to[i] += n
	}
}

func shares(of, all []uint64) []float64 {
	out := make([]float64, len(of))
	for i := range of {
		if all[i] > 0 {
			out[i] = float64(of[i]) / float64(all[i])
		} else if of[i] > 0 {
			out[i] = 1 // behind the last arrival
		}
	}
	return out
}
