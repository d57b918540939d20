package ctl

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
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
	title string
	// right aligns numbers.
	right bool
	cell  func(pool api.Upstream, m api.Member) string
}

// memberColumns are the columns that every table of members has.
func (s *session) memberColumns() []memberColumn {
	now := s.Now()
	states := newStatePalette(s.Out, s.Getenv)
	return []memberColumn{
		{"MEMBER", false, func(_ api.Upstream, m api.Member) string { return printable(m.Address) }},
		{"WEIGHT", true, func(_ api.Upstream, m api.Member) string { return strconv.Itoa(m.Weight) }},
		{"STATE", false, func(_ api.Upstream, m api.Member) string { return states.paint(m.State) }},
		{"IN FLIGHT", true, func(_ api.Upstream, m api.Member) string { return strconv.Itoa(m.InFlight) }},
		{"FAILURES", true, func(_ api.Upstream, m api.Member) string { return strconv.Itoa(m.ConsecutiveFailures) }},
		{"EJECTED FOR", true, func(_ api.Upstream, m api.Member) string { return ejectedFor(m, now) }},
		{"LAST FAILURE", false, func(_ api.Upstream, m api.Member) string { return cmp.Or(printable(m.LastFailure), nothing) }},
	}
}

// memberTable prints a row for each member of the pools. A pool without members has a row as well: it
// is there, and it answers 503.
func (s *session) memberTable(columns []memberColumn, pools []api.Upstream) error {
	titles := make([]string, len(columns))
	right := make([]bool, len(columns))
	for i, c := range columns {
		titles[i], right[i] = c.title, c.right
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
	return writeTable(s.Out, titles, right, rows)
}

// emptyRow is the row of a pool without members: what comes from the pool, and nothing of a member.
func emptyRow(columns []memberColumn, pool api.Upstream) []string {
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = nothing
		if c.title == "POOL" || c.title == "BALANCE" {
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

// fieldTable prints the lines of a page.
func (s *session) fieldTable(fields []field) error {
	rows := make([][]string, len(fields))
	for i, f := range fields {
		rows[i] = []string{printable(f.name) + ":", printable(f.value)}
	}
	return writeTable(s.Out, nil, []bool{false, false}, rows)
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

// statePalette has the states of a member in their colours. Colour is only where something is wrong, and
// only on a terminal that has it; NO_COLOR and TERM=dumb switch it off.
type statePalette map[string]string

func newStatePalette(out io.Writer, getenv func(string) string) statePalette {
	painter := newPainter(out, getenv)
	colour := func(state, ansi string) string {
		return painter.NewStyle().Foreground(lipgloss.Color(ansi)).Render(state)
	}
	return statePalette{
		api.StateEjected:   colour(api.StateEjected, "1"),
		api.StateProbation: colour(api.StateProbation, "3"),
	}
}

// paint is the state in its colour, if it has one.
func (p statePalette) paint(state string) string { return cmp.Or(p[state], printable(state)) }

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
