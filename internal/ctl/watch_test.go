package ctl

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/lipgloss"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"github.com/scalws/scalws/pkg/api"
)

var update = flag.Bool("update", false, "write the golden files")

// watched is the view after a dozen looks at the usual pools, and some events.
func watched(width, height int) watchModel {
	m := newWatchModel("/run/scalws/admin.sock", plain())
	m = press(m, tea.WindowSizeMsg{Width: width, Height: height})
	sent := attempts{}
	for i := range 13 {
		now := attempts{}
		for n, member := range fakePools(noon())[0].Members {
			key := memberKey{"api", member.Address}
			now[key] = sent[key] + float64((i*(n+1))%7)
		}
		now[memberKey{"web", "198.51.100.11:8443"}] = float64(120 * i)
		m = m.saw(seen{at: noon().Add(time.Duration(i-12) * time.Second), pools: fakePools(noon()), attempts: now})
		sent = now
	}
	at, until := noon().Add(-2*time.Second), noon().Add(8*time.Second)
	for _, event := range []api.Event{
		{Seq: 1, Time: &at, Kind: api.EventReload, Actor: "SIGHUP"},
		{Seq: 2, Time: &at, Pool: "api", Member: "192.0.2.6:8080", Kind: api.EventEjected, Until: &until, Actor: "health",
			Evidence: []api.Evidence{{Time: at, Cause: "connect_refused"}}},
		{Seq: 3, Time: &at, Pool: "api", Member: "[2001:db8::7]:8080", Kind: api.EventProbation, Actor: "health"},
		{Seq: 4, Time: &at, Pool: "canary", Member: "a:1", Kind: api.EventReweighted, From: 1, To: 2, Actor: "uid=0 gid=0 pid=7"},
	} {
		m = press(m, happened{event: event})
	}
	return m
}

func press(m watchModel, messages ...tea.Msg) watchModel {
	for _, msg := range messages {
		next, _ := m.Update(msg)
		m = next.(watchModel)
	}
	return m
}

// keys are key presses, one a character; those with a name are given by it.
func keys(names ...string) []tea.Msg {
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace, "space": tea.KeySpace,
		"down": tea.KeyDown, "up": tea.KeyUp, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "end": tea.KeyEnd, "home": tea.KeyHome}
	var all []tea.Msg
	for _, name := range names {
		if code, ok := codes[name]; ok {
			all = append(all, tea.KeyPressMsg{Code: code})
			continue
		}
		for _, r := range name {
			all = append(all, tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return all
}

// The picture at two widths, and what keys make of it.
func TestWatchView(t *testing.T) {
	for name, m := range map[string]watchModel{
		"80":     watched(80, 20),
		"120":    watched(120, 20),
		"40":     watched(40, 12),
		"sorted": press(watched(80, 20), keys("s", "r")...),
		"filter": press(watched(80, 20), keys("/", "API")...),
		"small":  press(watched(80, 10), keys("down", "down")...),
		"lost":   press(watched(80, 20), seen{err: errors.New("connecting to /run/scalws/admin.sock: connection refused")}),
	} {
		t.Run(name, func(t *testing.T) {
			got := m.screen() + "\n"
			for line := range strings.Lines(got) {
				if width := lipgloss.Width(strings.TrimSuffix(line, "\n")); width > m.width {
					t.Errorf("%q has %d columns, more than %d", line, width, m.width)
				}
			}
			if lines := strings.Count(got, "\n"); lines != m.height {
				t.Errorf("%d lines on a screen of %d", lines, m.height)
			}
			file := filepath.Join("testdata", "watch", name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("screen (-want +got):\n%s", diff)
			}
		})
	}
}

// A frozen picture stays while the view learns more, and shows it when it thaws.
func TestWatchFreezes(t *testing.T) {
	m := press(watched(80, 20), keys("space")...)
	before := m.screen()
	m = press(m, seen{at: noon().Add(time.Second), pools: fakePools(noon())[:1]}, happened{err: errors.New("gone")})
	if diff := cmp.Diff(before, m.screen()); diff != "" {
		t.Errorf("the frozen picture changed (-before +after):\n%s", diff)
	}
	if m = press(m, keys("space")...); !strings.Contains(m.screen(), "1 pool ") || !strings.Contains(m.screen(), "no events: gone") {
		t.Errorf("the picture that thawed is old:\n%s", m.screen())
	}
}

func TestWatchKeys(t *testing.T) {
	m := watched(80, 10)
	for name, test := range map[string]struct {
		keys []string
		is   func(watchModel) bool
	}{
		"scrolling ends at the end":       {[]string{"end", "down"}, func(m watchModel) bool { return m.top == 6-m.rowsShown() || m.rowsShown() >= 6 }},
		"scrolling ends at the beginning": {[]string{"down", "pgup", "up"}, func(m watchModel) bool { return m.top == 0 }},
		"a page and back":                 {[]string{"pgdown", "home"}, func(m watchModel) bool { return m.top == 0 }},
		"a filter is corrected":           {[]string{"/", "webx", "backspace", "enter"}, func(m watchModel) bool { return m.filter == "web" && !m.typing && len(m.members()) == 2 }},
		"a filter is dropped":             {[]string{"/", "web", "esc"}, func(m watchModel) bool { return m.filter == "" && len(m.members()) == 6 }},
		"keys are text in a filter":       {[]string{"/", "qs"}, func(m watchModel) bool { return m.filter == "qs" && m.sortBy == 0 }},
		"events go and come":              {[]string{"e", "e"}, func(m watchModel) bool { return !m.hideEvents }},
		"orders come round":               {[]string{strings.Repeat("s", len(orders()))}, func(m watchModel) bool { return m.sortBy == 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			if got := press(m, keys(test.keys...)...); !test.is(got) {
				t.Errorf("after %q: %+v", test.keys, got.screen())
			}
		})
	}
	for key, interrupted := range map[tea.KeyPressMsg]bool{{Code: 'q', Text: "q"}: false, {Code: 'c', Mod: tea.ModCtrl}: true} {
		next, cmd := m.Update(key)
		if cmd == nil || cmd() != (tea.QuitMsg{}) || next.(watchModel).interrupted != interrupted {
			t.Errorf("%s does not quit as it should", key)
		}
	}
}

// Members in trouble stand out where there are colours.
func TestWatchHighlights(t *testing.T) {
	m := watched(120, 20)
	m.palette.painter.SetColorProfile(termenv.ANSI)
	text := m.screen()
	for _, want := range []string{"\x1b[31mapi     192.0.2.6:8080", "\x1b[33mapi     [2001:db8::7]:8080", "\x1b[31m11:59:58 api 192.0.2.6:8080 ejected"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%q", want, text)
		}
	}
}

// Rates are the difference of two counts; a count that began anew is all that there is.
func TestRates(t *testing.T) {
	a, b := memberKey{"p", "a"}, memberKey{"p", "b"}
	r := rates(nil).next(attempts{a: 10, b: 50}, attempts{a: 30, b: 5}, 2*time.Second)
	if diff := cmp.Diff(rates{a: {10}, b: {2.5}}, r, cmp.AllowUnexported(memberKey{})); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
	if got := r.trend(a, r.highest()); got != strings.Repeat(" ", trendLength-1)+"█" {
		t.Errorf("trend %q", got)
	}
	for range 2 * trendLength {
		r = r.next(attempts{a: 1}, attempts{a: 1}, time.Second)
	}
	if got := r.trend(a, 0); got != strings.Repeat("▁", trendLength) {
		t.Errorf("trend without traffic %q", got)
	}
	if _, known := r.latest(b); known {
		t.Error("a member that is gone has a rate")
	}
}

func TestReadAttempts(t *testing.T) {
	got, err := readAttempts([]byte(`# TYPE scalws_upstream_requests_total counter
scalws_upstream_requests_total{class="2xx",member="a:1",pool="p"} 3
scalws_upstream_requests_total{class="error",member="a:1",pool="p"} 2
scalws_upstream_members{pool="p"} 1
`))
	if diff := cmp.Diff(attempts{{"p", "a:1"}: 5}, got, cmp.AllowUnexported(memberKey{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := readAttempts([]byte("nonsense{")); err == nil {
		t.Error("nonsense is read")
	}
}
