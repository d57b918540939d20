package ctl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/pkg/api"
)

// planText is a plan for people: plain lines that can be pasted into a change request.
func planText(plan *api.Plan, colours palette) string {
	t := planPage{colours: colours}
	pools := make([]planItem, len(plan.Pools))
	for i, p := range plan.Pools {
		pools[i] = planItem{printable(p.Name), p.Action, poolNotes(p)}
	}
	listeners := make([]planItem, len(plan.Listeners))
	for i, l := range plan.Listeners {
		listeners[i] = planItem{printable(l.Name + " " + l.Address), l.Action, because(l.Because)}
	}
	applications := make([]planItem, len(plan.Applications))
	for i, a := range plan.Applications {
		applications[i] = planItem{printable(a.Tenant + "/" + a.Name), a.Action, because(a.Because)}
	}
	settings := make([]planItem, len(plan.Settings))
	for i, s := range plan.Settings {
		settings[i] = planItem{printable(s), string(config.Changed), nil}
	}
	t.section("Pools", pools)
	t.section("Listeners", listeners)
	t.section("Applications", applications)
	t.section("Settings", settings)
	fmt.Fprintln(&t, planSummary(plan))
	return t.String()
}

// planItem is one thing of a plan: what becomes of it, and what there is to say about that.
type planItem struct {
	name, action string
	notes        []string
}

// stays is true for what is left as it is.
func (i planItem) stays() bool { return stays(i.action) }

func stays(action string) bool {
	return action == string(config.Kept) || action == string(config.Unchanged)
}

// planPage is the text of a plan.
type planPage struct {
	strings.Builder
	colours palette
}

// section writes what changes, an item a line with its notes below it, and counts what stays.
func (t *planPage) section(title string, items []planItem) {
	if !slices.ContainsFunc(items, func(i planItem) bool { return !i.stays() }) {
		return
	}
	fmt.Fprintf(t, "%s\n", t.colours.bold(title))
	var names, actions, kept int
	for _, i := range items {
		if i.stays() {
			kept++
			continue
		}
		names, actions = max(names, len(i.name)), max(actions, len(i.action))
	}
	for _, i := range items {
		if i.stays() {
			continue
		}
		fmt.Fprintf(t, "  %s %-*s  %s\n", mark(i.action), names, i.name, t.paint(i.action))
		for _, note := range i.notes {
			fmt.Fprintf(t, "      %s\n", printable(note))
		}
	}
	if kept > 0 {
		fmt.Fprintf(t, "    %d more unchanged\n", kept)
	}
	fmt.Fprintln(t)
}

// mark is the sign of an action, as in a diff. A rebuild is the one that loses something.
func mark(action string) string {
	switch config.Action(action) {
	case config.Added:
		return "+"
	case config.Removed:
		return "-"
	case config.Rebuilt:
		return "!"
	}
	return "~"
}

func (t *planPage) paint(action string) string {
	words := strings.ReplaceAll(printable(action), "_", " ")
	switch config.Action(action) {
	case config.Added:
		return t.colours.good(words)
	case config.Removed, config.Rebuilt:
		return t.colours.bad(words)
	}
	return t.colours.warn(words)
}

// because are the keys that differ.
func because(keys []string) []string {
	if len(keys) == 0 {
		return nil
	}
	return []string{"because of " + strings.Join(keys, ", ")}
}

// poolNotes are why something becomes of a pool, which members change, and what is lost.
func poolNotes(p api.PoolPlan) []string {
	notes := because(p.Because)
	if c := p.Change; c != nil && p.Action != string(config.Removed) {
		notes = append(notes, listNotes(*c)...)
	}
	if lost := losses(p.Loses); lost != "" {
		notes = append(notes, "loses "+lost)
	}
	return notes
}

// listNotes are the members that come, go and get another weight.
func listNotes(c api.ListChange) []string {
	var notes []string
	for _, part := range []struct {
		verb    string
		members []string
	}{
		{"adds", entryTexts(c.Added)}, {"removes", entryTexts(c.Removed)}, {"reweights", reweightTexts(c.Reweighted)},
	} {
		if len(part.members) > 0 {
			notes = append(notes, fmt.Sprintf("%s %s: %s", part.verb, count(len(part.members), "member"), listed(part.members)))
		}
	}
	if len(notes) == 0 && c.Unchanged > 0 {
		notes = append(notes, fmt.Sprintf("the same %s", count(c.Unchanged, "member")))
	}
	return notes
}

func entryTexts(entries []api.Entry) []string {
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = e.Address
		if e.Weight != api.MinWeight {
			texts[i] += fmt.Sprintf("=%d", e.Weight)
		}
	}
	return texts
}

func reweightTexts(entries []api.Reweight) []string {
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = fmt.Sprintf("%s from %d to %d", e.Address, e.From, e.To)
	}
	return texts
}

// losses is what does not outlive the change.
func losses(l *api.Loses) string {
	if l == nil {
		return ""
	}
	var parts []string
	for _, part := range []struct {
		n    int
		noun string
	}{{l.Ejections, "ejection"}, {l.IdleConnections, "idle connection"}} {
		if part.n > 0 {
			parts = append(parts, count(part.n, part.noun))
		}
	}
	if l.InFlight > 0 {
		parts = append(parts, "the retries of "+count(l.InFlight, "request")+" in flight")
	}
	if l.Affinity {
		parts = append(parts, "affinity: clients move to other members")
	}
	return strings.Join(parts, ", ")
}

// isEmpty is true for a plan that leaves everything as it is.
func isEmpty(p *api.Plan) bool {
	return len(p.Settings) == 0 &&
		!slices.ContainsFunc(p.Pools, func(x api.PoolPlan) bool { return !stays(x.Action) }) &&
		!slices.ContainsFunc(p.Listeners, func(x api.ListenerPlan) bool { return !stays(x.Action) }) &&
		!slices.ContainsFunc(p.Applications, func(x api.ApplicationPlan) bool { return !stays(x.Action) })
}

// planSummary counts everything: "Plan: pools 1 added, 3 kept; listeners 1 kept".
func planSummary(p *api.Plan) string {
	title := "Plan"
	if p.Result == api.PlanDone {
		title = "Done"
	}
	if isEmpty(p) {
		return title + ": no differences"
	}
	var parts []string
	add := func(noun string, actions []string) {
		if text := countActions(actions); text != "" {
			parts = append(parts, noun+" "+text)
		}
	}
	add("pools", actionsOf(p.Pools, func(x api.PoolPlan) string { return x.Action }))
	add("listeners", actionsOf(p.Listeners, func(x api.ListenerPlan) string { return x.Action }))
	add("applications", actionsOf(p.Applications, func(x api.ApplicationPlan) string { return x.Action }))
	if n := len(p.Settings); n > 0 {
		parts = append(parts, count(n, "other setting")+" changed")
	}
	return title + ": " + strings.Join(parts, "; ")
}

func actionsOf[T any](items []T, action func(T) string) []string {
	actions := make([]string, len(items))
	for i, item := range items {
		actions[i] = action(item)
	}
	return actions
}

// countActions is "1 added, 2 kept": what changes first.
func countActions(actions []string) string {
	counts := map[string]int{}
	for _, a := range actions {
		counts[a]++
	}
	names := make([]string, 0, len(counts))
	for a := range counts {
		names = append(names, a)
	}
	slices.SortFunc(names, func(a, b string) int {
		if stays(a) != stays(b) {
			if stays(a) {
				return 1
			}
			return -1
		}
		return cmp.Compare(a, b)
	})
	parts := make([]string, len(names))
	for i, a := range names {
		parts[i] = fmt.Sprintf("%d %s", counts[a], strings.ReplaceAll(printable(a), "_", " "))
	}
	return strings.Join(parts, ", ")
}
