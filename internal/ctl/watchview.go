package ctl

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/lipgloss"

	"github.com/scalws/scalws/pkg/api"
)

// The lines of the screen besides members and events: the head, the titles of the table, the foot.
const fixedLines = 3

func (m watchModel) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	v.WindowTitle = "scalwsctl upstreams watch"
	return v
}

// screen is the whole of it, a line for each line of the terminal.
func (m watchModel) screen() string {
	lines := append([]string{m.head()}, m.table()...)
	for len(lines) < fixedLines-1+m.rowsShown() {
		lines = append(lines, "")
	}
	lines = append(lines, m.eventPane()...)
	return strings.Join(append(lines, m.foot()), "\n")
}

// eventLines is how many lines the pane of events has, its title included.
func (m watchModel) eventLines() int {
	if m.hideEvents || m.height < 12 {
		return 0
	}
	return max(4, m.height/4)
}

// rowsShown is how many members there is room for.
func (m watchModel) rowsShown() int { return max(1, m.height-fixedLines-m.eventLines()) }

// fits cuts a line to the width of the screen.
func (m watchModel) fits(line string) string { return firstColumns(line, m.width) }

// head says what is watched, when, and how many are in trouble.
func (m watchModel) head() string {
	if m.shown.lost != nil {
		return m.palette.bad(m.fits("not read since " + m.shown.at.Format("15:04:05") + ": " + printable(m.shown.lost.Error())))
	}
	members, ejected, probation := 0, 0, 0
	for _, pool := range m.shown.pools {
		members += len(pool.Members)
		ejected += inState(pool, api.StateEjected)
		probation += inState(pool, api.StateProbation)
	}
	parts := []string{
		m.shown.at.Format("15:04:05"),
		count(len(m.shown.pools), "pool"),
		count(members, "member"),
	}
	if ejected > 0 {
		parts = append(parts, fmt.Sprintf("%d ejected", ejected))
	}
	if probation > 0 {
		parts = append(parts, fmt.Sprintf("%d on probation", probation))
	}
	if m.frozen {
		parts = append(parts, "FROZEN")
	}
	line := m.fits(strings.Join(append(parts, printable(m.daemon)), "  "))
	if ejected > 0 {
		return m.palette.bad(line)
	}
	return m.palette.bold(line)
}

// columns of the table, with what a row has in them.
func (m watchModel) columns() []watchColumn {
	full := m.shown.rates.highest()
	weights := totalWeights{}
	return []watchColumn{
		{column{title: "POOL", cut: true}, func(w watchedMember) string { return printable(w.pool.Name) }},
		{column{title: "MEMBER", cut: true}, func(w watchedMember) string { return printable(w.member.Address) }},
		{column{title: "WEIGHT", right: true, rank: 5}, func(w watchedMember) string { return strconv.Itoa(w.member.Weight) }},
		{column{title: "SHARE", right: true, rank: 6}, func(w watchedMember) string { return percent(weights.share(w.pool, w.member)) }},
		{column{title: "STATE"}, func(w watchedMember) string { return m.state(w.member) }},
		{column{title: "IN FLIGHT", right: true, rank: 2}, func(w watchedMember) string { return strconv.Itoa(w.member.InFlight) }},
		{column{title: "FAILURES", right: true, rank: 7}, func(w watchedMember) string { return strconv.Itoa(w.member.ConsecutiveFailures) }},
		{column{title: "LAST FAILURE", rank: 4}, func(w watchedMember) string { return cmp.Or(printable(w.member.LastFailure), nothing) }},
		{column{title: "REQ/S", right: true, rank: 1}, func(w watchedMember) string {
			return perSecond(m.shown.rates.latest(memberKey{w.pool.Name, w.member.Address}))
		}},
		{column{title: "TREND", rank: 3}, func(w watchedMember) string {
			return m.shown.rates.trend(memberKey{w.pool.Name, w.member.Address}, full)
		}},
	}
}

// watchColumn is one column of the view.
type watchColumn struct {
	column
	cell func(watchedMember) string
}

// state is a state, with the time to the end of an ejection, in as many columns as most have.
func (m watchModel) state(member api.Member) string {
	text := printable(member.State)
	if member.EjectedUntil != nil {
		text += " " + ejectedFor(member, m.shown.at)
	}
	return fmt.Sprintf("%-13s", text)
}

// table is the titles and the members that are on the screen. All members have a say in the widths, so that
// nothing moves when the table scrolls or the filter changes.
func (m watchModel) table() []string {
	own := m.columns()
	columns := make([]column, len(own))
	for i, c := range own {
		columns[i] = c.column
		columns[i].steady = true
	}
	l := fit(columns, watchRows(own, m.all()), m.width)
	members := m.members()
	members = members[m.top:min(m.top+m.rowsShown(), len(members))]
	var text strings.Builder
	if err := l.write(&text, columns, watchRows(own, members)); err != nil {
		return []string{m.palette.bad(m.fits(err.Error()))}
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	for i, line := range lines {
		line = m.fits(line)
		switch {
		case i == 0:
			line = m.palette.bold(line)
		case members[i-1].member.State == api.StateEjected:
			line = m.palette.bad(line)
		case members[i-1].member.State == api.StateProbation:
			line = m.palette.warn(line)
		}
		lines[i] = line
	}
	return lines
}

// watchRows are the cells of members.
func watchRows(columns []watchColumn, members []watchedMember) [][]string {
	rows := make([][]string, len(members))
	for i, w := range members {
		rows[i] = make([]string, len(columns))
		for j, c := range columns {
			rows[i][j] = nothing
			if w.exists || c.title == "POOL" {
				rows[i][j] = c.cell(w)
			}
		}
	}
	return rows
}

// eventPane is the latest events, the last at the bottom.
func (m watchModel) eventPane() []string {
	lines := m.eventLines()
	if lines == 0 {
		return nil
	}
	title := "events"
	if m.shown.noEvents != nil {
		title = "no events: " + printable(m.shown.noEvents.Error())
	}
	title = m.fits("── " + title + " ")
	pane := []string{m.palette.dim(title + strings.Repeat("─", max(0, m.width-lipgloss.Width(title))))}
	words := newEventLines(plain())
	events := m.shown.events[max(0, len(m.shown.events)-lines+1):]
	for _, event := range events {
		line := m.fits(words.brief(event))
		switch event.Kind {
		case api.EventEjected:
			line = m.palette.bad(line)
		case api.EventProbation, api.EventGap:
			line = m.palette.warn(line)
		case api.EventRecovered:
			line = m.palette.good(line)
		}
		pane = append(pane, line)
	}
	for len(pane) < lines {
		pane = append(pane, "")
	}
	return pane
}

// foot is the filter while it is typed, else the keys.
func (m watchModel) foot() string {
	if m.typing {
		return m.fits("filter: " + m.filter + "_   enter keeps it, esc clears it")
	}
	by := orders()[m.sortBy].name
	if m.backward {
		by += ", backward"
	}
	keys := []string{"q quit", "s sort: " + by, "r reverse", "/ filter", "space freeze", "e events"}
	if m.filter != "" {
		keys[3] = "/ filter: " + m.filter
	}
	if total := len(m.members()); total > m.rowsShown() {
		last := min(m.top+m.rowsShown(), total)
		keys = append([]string{fmt.Sprintf("%d-%d of %d", m.top+1, last, total)}, keys...)
	}
	return m.palette.dim(m.fits(strings.Join(keys, "  ")))
}
