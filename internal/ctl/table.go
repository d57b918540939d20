package ctl

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/scalws/scalws/pkg/api"
)

// nothing stands in a cell that has no value, so that every row has the same number of words.
const nothing = "-"

// memberColumn is one column of a table of members.
type memberColumn struct {
	column
	// ofPool is true for what a pool without members has as well.
	ofPool bool
	cell   func(pool api.Upstream, m api.Member) string
}

// poolColumns are what the rows of several pools begin with.
func poolColumns() []memberColumn {
	return []memberColumn{
		{column{title: "POOL", cut: true}, true,
			func(pool api.Upstream, _ api.Member) string { return printable(pool.Name) }},
		{column{title: "BALANCE", rank: 9}, true,
			func(pool api.Upstream, _ api.Member) string { return printable(balance(pool)) }},
	}
}

// widePoolColumns are those that only a wide table has.
func widePoolColumns() []memberColumn {
	return []memberColumn{
		{column{title: "MEMBERS FROM", rank: 11}, true,
			func(pool api.Upstream, _ api.Member) string { return printable(pool.MembersFrom) }},
		{column{title: "SCHEME", rank: 12}, true,
			func(pool api.Upstream, _ api.Member) string { return printable(pool.Scheme) }},
		{column{title: "REVISION", right: true, rank: 10}, true,
			func(pool api.Upstream, _ api.Member) string { return strconv.FormatUint(pool.Revision, 10) }},
	}
}

// memberColumns are the columns that every table of members has.
func (s *session) memberColumns() []memberColumn {
	now := s.Now()
	states := newStatePalette(s.Out, s.Getenv)
	weights := totalWeights{}
	columns := []memberColumn{
		{column{title: "MEMBER", cut: true}, false,
			func(_ api.Upstream, m api.Member) string { return printable(m.Address) }},
		{column{title: "WEIGHT", right: true, rank: 6}, false,
			func(_ api.Upstream, m api.Member) string { return strconv.Itoa(m.Weight) }},
		{column{title: "SHARE", right: true, rank: 7}, false,
			func(pool api.Upstream, m api.Member) string { return percent(weights.share(pool, m)) }},
		{column{title: "STATE"}, false,
			func(_ api.Upstream, m api.Member) string { return states.paint(m.State) }},
		{column{title: "IN FLIGHT", right: true, rank: 5}, false,
			func(_ api.Upstream, m api.Member) string { return strconv.Itoa(m.InFlight) }},
		{column{title: "FAILURES", right: true, rank: 8}, false,
			func(_ api.Upstream, m api.Member) string { return strconv.Itoa(m.ConsecutiveFailures) }},
		{column{title: "EJECTED FOR", right: true, rank: 3}, false,
			func(_ api.Upstream, m api.Member) string { return ejectedFor(m, now) }},
		{column{title: "LAST FAILURE", rank: 4}, false,
			func(_ api.Upstream, m api.Member) string { return cmp.Or(printable(m.LastFailure), nothing) }},
	}
	if s.format == formatWide {
		columns = append(columns, memberColumn{column{title: "EJECTED UNTIL", rank: 10}, false,
			func(_ api.Upstream, m api.Member) string {
				if m.EjectedUntil == nil {
					return nothing
				}
				return timestamp(*m.EjectedUntil)
			}})
	}
	return columns
}

// totalWeights are the sums of the weights of pools, by their names.
type totalWeights map[string]int

// share is a member's part of the requests by weight, 0 to 1. It knows nothing of ejections.
func (w totalWeights) share(pool api.Upstream, m api.Member) float64 {
	total, known := w[pool.Name]
	if !known {
		for _, other := range pool.Members {
			total += other.Weight
		}
		w[pool.Name] = total
	}
	if total == 0 {
		return 0
	}
	return float64(m.Weight) / float64(total)
}

// percent is a part of one with a digit behind the point. What is there is never shown as nothing, and what is
// not the whole never as the whole.
func percent(part float64) string {
	switch {
	case part > 0 && part < 0.0005:
		return "<0.1%"
	case part < 1 && part > 0.9995:
		return ">99.9%"
	}
	return strconv.FormatFloat(100*part, 'f', 1, 64) + "%"
}

// memberTable prints a row for each member of the pools. A pool without members has a row as well: it
// is there, and it answers 503.
func (s *session) memberTable(columns []memberColumn, pools []api.Upstream) error {
	plain, rows := memberRows(columns, pools)
	return writeColumns(s.Out, plain, rows, terminalWidth(s.Out, s.Getenv))
}

// memberRows are the columns and the rows of that table.
func memberRows(columns []memberColumn, pools []api.Upstream) ([]column, [][]string) {
	plain := make([]column, len(columns))
	for i, c := range columns {
		plain[i] = c.column
	}
	var rows [][]string
	for _, pool := range pools {
		for _, m := range pool.Members {
			row := make([]string, len(columns))
			for i, c := range columns {
				row[i] = c.cell(pool, m)
			}
			rows = append(rows, row)
		}
		if len(pool.Members) == 0 {
			rows = append(rows, emptyRow(columns, pool))
		}
	}
	return plain, rows
}

// emptyRow is the row of a pool without members: what comes from the pool, and nothing of a member.
func emptyRow(columns []memberColumn, pool api.Upstream) []string {
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = nothing
		if c.ofPool {
			row[i] = c.cell(pool, api.Member{})
		}
	}
	return row
}

// field is a name and a value, one line of a page about one thing.
type field struct {
	name  string
	value string
}

// fieldTable prints the lines of a page. On a terminal a long value goes on below itself.
func (s *session) fieldTable(fields []field) error {
	names := 0
	for _, f := range fields {
		names = max(names, lipgloss.Width(printable(f.name))+1)
	}
	room := terminalWidth(s.Out, s.Getenv) - names - gap
	var rows [][]string
	for _, f := range fields {
		name := printable(f.name) + ":"
		for _, line := range foldText(printable(f.value), room) {
			rows = append(rows, []string{name, line})
			name = " "
		}
	}
	return writeTable(s.Out, nil, []bool{false, false}, rows)
}

// foldText is a text in lines of at most width columns, in one where there is hardly any width at all.
func foldText(text string, width int) []string {
	if width < leastCell || lipgloss.Width(text) <= width {
		return []string{text}
	}
	lines := strings.Split(lipgloss.NewStyle().Width(width).Render(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// writeTable prints rows in columns that are two spaces apart, without lines around them: easy to read
// and easy to cut. Nothing is wrapped or shortened, whatever the width of the terminal.
func writeTable(w io.Writer, titles []string, right []bool, rows [][]string) error {
	aligns := make([]tw.Align, len(right))
	padding := make([]tw.Padding, len(right))
	for i := range right {
		aligns[i] = tw.AlignLeft
		if right[i] {
			aligns[i] = tw.AlignRight
		}
		padding[i] = tw.Padding{Right: "  ", Overwrite: true}
	}
	cells := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone},
		Alignment:  tw.CellAlignment{PerColumn: aligns},
		Padding:    tw.CellPadding{PerColumn: padding},
	}
	table := tablewriter.NewTable(trimRight{w},
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Symbols:  tw.NewSymbols(tw.StyleNone),
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone},
		})),
		tablewriter.WithConfig(tablewriter.Config{
			Header:   cells,
			Row:      cells,
			Behavior: tw.Behavior{TrimSpace: tw.Off, AutoHide: tw.Off},
		}),
	)
	if titles != nil {
		table.Header(titles)
	}
	for _, row := range rows {
		for i := range row {
			if row[i] == "" {
				row[i] = nothing
			}
		}
	}
	if err := table.Bulk(rows); err != nil {
		return err
	}
	return table.Render()
}

// trimRight takes the padding of the last column away. The table writes whole lines.
type trimRight struct{ to io.Writer }

func (t trimRight) Write(line []byte) (int, error) {
	trimmed := append(bytes.TrimRight(line, " \n"), '\n')
	if _, err := t.to.Write(trimmed); err != nil {
		return 0, err
	}
	return len(line), nil
}

// ejectedFor is how long a member stays out from now, rounded up to what a person cares about.
func ejectedFor(m api.Member, now time.Time) string {
	if m.EjectedUntil == nil {
		return nothing
	}
	left := max(m.EjectedUntil.Sub(now), 0)
	step := time.Second
	if left < 10*time.Second {
		step = 100 * time.Millisecond
	}
	return ((left + step - 1) / step * step).String()
}

// timestamp is a time for people: local, to the second, with its zone.
func timestamp(t time.Time) string { return t.Format("2006-01-02 15:04:05 MST") }
