package ctl

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scalws/scalws/pkg/api"
)

// keptEvents is how many events the view holds.
const keptEvents = 100

// watchModel is the state of the live view. What it knows comes in as [seen] and [happened].
type watchModel struct {
	daemon  string
	palette palette
	// next asks for the next look; nil: never.
	next func() tea.Cmd

	width, height int
	// live is how things are, shown what the screen has: the same, unless the picture is frozen.
	live, shown picture
	frozen      bool
	// sortBy is a place in orders.
	sortBy   int
	backward bool
	filter   string
	// typing is true while the filter is typed.
	typing     bool
	hideEvents bool
	// top is the first member on the screen.
	top         int
	interrupted bool
}

// picture is what can be shown.
type picture struct {
	at       time.Time
	pools    []api.Upstream
	attempts attempts
	rates    rates
	// events, the oldest first.
	events []api.Event
	// lost is why the daemon could not be read last; it is nil where it could.
	lost, noEvents error
}

// watchedMember is a member with what is known of it.
type watchedMember struct {
	pool   api.Upstream
	member api.Member
	// exists is false for the row of a pool without members.
	exists bool
	rate   float64
}

func newWatchModel(daemon string, p palette) watchModel {
	return watchModel{daemon: daemon, palette: p, width: 80, height: 24}
}

func (m watchModel) Init() tea.Cmd { return m.ask() }

func (m watchModel) ask() tea.Cmd {
	if m.next == nil {
		return nil
	}
	return m.next()
}

func (m watchModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case seen:
		return m.saw(msg), m.ask()
	case happened:
		return m.heard(msg), nil
	case tea.KeyPressMsg:
		return m.pressed(msg)
	}
	return m.within(), nil
}

// saw takes a look in.
func (m watchModel) saw(s seen) watchModel {
	m.live.lost = s.err
	if s.err == nil {
		if m.live.attempts != nil && s.attempts != nil {
			m.live.rates = m.live.rates.next(m.live.attempts, s.attempts, s.at.Sub(m.live.at))
		}
		m.live.at, m.live.pools, m.live.attempts = s.at, s.pools, s.attempts
	}
	return m.refresh()
}

// heard takes an event in.
func (m watchModel) heard(h happened) watchModel {
	m.live.noEvents = h.err
	if h.err == nil {
		m.live.events = append(slices.Clone(m.live.events), h.event)
		m.live.events = m.live.events[max(0, len(m.live.events)-keptEvents):]
	}
	return m.refresh()
}

// refresh shows what is there, unless the picture is frozen.
func (m watchModel) refresh() watchModel {
	if !m.frozen {
		m.shown = m.live
	}
	return m.within()
}

// pressed does what a key says.
func (m watchModel) pressed(key tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	if key.String() == "ctrl+c" {
		m.interrupted = true
		return m, tea.Quit
	}
	if m.typing {
		return m.typed(key).within(), nil
	}
	page := max(m.rowsShown()-1, 1)
	switch key.String() {
	case "q":
		return m, tea.Quit
	case "s":
		m.sortBy = (m.sortBy + 1) % len(orders())
	case "r":
		m.backward = !m.backward
	case "/":
		m.typing = true
	case "esc":
		m.filter = ""
	case "space":
		m.frozen = !m.frozen
		return m.refresh(), nil
	case "e":
		m.hideEvents = !m.hideEvents
	case "up", "k":
		m.top--
	case "down", "j":
		m.top++
	case "pgup":
		m.top -= page
	case "pgdown":
		m.top += page
	case "home", "g":
		m.top = 0
	case "end", "G":
		m.top = len(m.members())
	}
	return m.within(), nil
}

// typed changes the filter by a key.
func (m watchModel) typed(key tea.KeyPressMsg) watchModel {
	switch key.String() {
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.filter = false, ""
	case "backspace":
		runes := []rune(m.filter)
		m.filter = string(runes[:max(0, len(runes)-1)])
	default:
		m.filter += printable(key.Text)
	}
	return m
}

// within keeps the first row where there is one.
func (m watchModel) within() watchModel {
	m.top = max(0, min(m.top, len(m.members())-m.rowsShown()))
	return m
}

// members are those that pass the filter, in the order that was chosen.
func (m watchModel) members() []watchedMember {
	wanted := strings.ToLower(m.filter)
	passed := slices.DeleteFunc(m.all(), func(w watchedMember) bool {
		return !strings.Contains(strings.ToLower(w.pool.Name+" "+w.member.Address+" "+w.member.State), wanted)
	})
	slices.SortStableFunc(passed, orders()[m.sortBy].compare)
	if m.backward {
		slices.Reverse(passed)
	}
	return passed
}

// all are the members of all pools. A pool without members has a row as well.
func (m watchModel) all() []watchedMember {
	var all []watchedMember
	for _, pool := range m.shown.pools {
		for _, member := range pool.Members {
			rate, _ := m.shown.rates.latest(memberKey{pool.Name, member.Address})
			all = append(all, watchedMember{pool, member, true, rate})
		}
		if len(pool.Members) == 0 {
			all = append(all, watchedMember{pool: pool})
		}
	}
	return all
}
