package ctl

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// column is one column of a table.
type column struct {
	title string
	// right aligns numbers.
	right bool
	// rank says when a narrow terminal loses the column: the highest rank goes first, rank 0 never.
	rank int
	// cut allows to shorten the cells where losing columns is not enough. The end of them stays: that is where
	// addresses differ.
	cut bool
	// steady keeps a column that is empty for the moment from going for that: in a live view columns stay put.
	steady bool
}

// gap is the space between two columns, leastCell how short a cell may become.
const (
	gap       = 2
	leastCell = 8
)

// layout is the part of a table that a terminal has room for.
type layout struct {
	// at are the places of the columns that are left.
	at []int
	// widths of those columns.
	widths []int
	// total width of a line; 0 is no limit.
	total int
}

// fit lays columns out for a width; 0 has room for all. A table never wraps: what has no room loses first the
// columns in which no row has anything, then others by their rank; then cells are shortened, and at last lines
// end where the terminal does.
func fit(columns []column, rows [][]string, width int) layout {
	l := layout{total: width}
	for i := range columns {
		l.at = append(l.at, i)
	}
	if width <= 0 {
		return l
	}
	full := make([]int, len(columns))
	empty := make([]bool, len(columns))
	for i, c := range columns {
		full[i], empty[i] = lipgloss.Width(c.title), true
		for _, row := range rows {
			full[i] = max(full[i], lipgloss.Width(row[i]))
			empty[i] = empty[i] && (row[i] == "" || row[i] == nothing)
		}
	}
	for _, mayGo := range []func(i int) bool{
		func(i int) bool { return columns[i].rank > 0 && empty[i] && !columns[i].steady },
		func(i int) bool { return columns[i].rank > 0 },
	} {
		for l.width(full) > width && l.lose(columns, mayGo) {
		}
	}
	for _, i := range l.at {
		l.widths = append(l.widths, full[i])
	}
	l.shorten(columns)
	return l
}

// width of a line with the columns that are left.
func (l *layout) width(full []int) int {
	total := -gap
	for _, i := range l.at {
		total += full[i] + gap
	}
	return total
}

// lose takes one column away, the one of the highest rank of those that may go.
func (l *layout) lose(columns []column, mayGo func(i int) bool) bool {
	worst := -1
	for place, i := range l.at {
		if mayGo(i) && (worst < 0 || columns[i].rank > columns[l.at[worst]].rank) {
			worst = place
		}
	}
	if worst < 0 {
		return false
	}
	l.at = slices.Delete(l.at, worst, worst+1)
	return true
}

// shorten takes what is too much from the columns that may be cut, the widest first.
func (l *layout) shorten(columns []column) {
	excess := -gap - l.total
	for _, w := range l.widths {
		excess += w + gap
	}
	for excess > 0 {
		widest := -1
		for place, i := range l.at {
			if columns[i].cut && l.widths[place] > leastCell && (widest < 0 || l.widths[place] > l.widths[widest]) {
				widest = place
			}
		}
		if widest < 0 {
			return
		}
		l.widths[widest]--
		excess--
	}
}

// row is a row as it is laid out.
func (l *layout) row(columns []column, cells []string) []string {
	out := make([]string, len(l.at))
	for place, i := range l.at {
		out[place] = cells[i]
		if l.widths != nil && columns[i].cut {
			out[place] = lastPart(cells[i], l.widths[place])
		}
	}
	return out
}

// lastPart is the end of a text in at most width columns.
func lastPart(text string, width int) string {
	const dots = ".."
	if lipgloss.Width(text) <= width {
		return text
	}
	return dots + lastColumns(text, width-len(dots))
}

// write prints the titles and rows that were laid out, or some of them: the columns are as wide as all need.
func (l *layout) write(w io.Writer, columns []column, rows [][]string) error {
	titles, right := make([]string, len(l.at)), make([]bool, len(l.at))
	for place, i := range l.at {
		titles[place], right[place] = columns[i].title, columns[i].right
		if l.widths != nil {
			titles[place] = l.title(columns[i], l.widths[place])
		}
	}
	if l.widths != nil {
		w = &lineCutter{to: w, style: lipgloss.NewStyle().MaxWidth(l.total).Inline(true)}
	}
	laid := make([][]string, len(rows))
	for i, row := range rows {
		laid[i] = l.row(columns, row)
	}
	return writeTable(w, titles, right, laid)
}

// title is a column's title as wide as the column.
func (l *layout) title(c column, width int) string {
	text := firstColumns(c.title, width)
	space := strings.Repeat(" ", width-lipgloss.Width(text))
	if c.right {
		return space + text
	}
	return text + space
}

// writeColumns prints a table that fits into a width; 0 is no limit.
func writeColumns(w io.Writer, columns []column, rows [][]string, width int) error {
	l := fit(columns, rows, width)
	return l.write(w, columns, rows)
}

// lineCutter ends lines where the terminal does. Whole lines are written to it.
type lineCutter struct {
	to    io.Writer
	style lipgloss.Style
}

func (c *lineCutter) Write(p []byte) (int, error) {
	line := strings.TrimSuffix(string(p), "\n")
	if _, err := io.WriteString(c.to, strings.TrimRight(c.style.Render(line), " ")+"\n"); err != nil {
		return 0, err
	}
	return len(p), nil
}
