package ctl

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/scalws/scalws/pkg/api"
)

// eventLines writes events for people.
type eventLines struct{ palette palette }

func newEventLines(p palette) eventLines { return eventLines{p} }

// of is an event in a line, and a line for each piece of its evidence.
func (e eventLines) of(event api.Event) []string {
	lines := []string{e.line(event)}
	for _, f := range event.Evidence {
		text := fmt.Sprintf("      %s %s", clock(f.Time), printable(f.Cause))
		if f.Detail != "" {
			text += ": " + printable(f.Detail)
		}
		lines = append(lines, text)
	}
	return lines
}

// brief is an event for a narrow place: the time of day, and no actor for what members do by themselves.
func (e eventLines) brief(event api.Event) string {
	when := nothing
	if event.Time != nil {
		when = event.Time.Format("15:04:05")
	}
	parts := []string{when}
	for _, part := range []string{printable(event.Pool), printable(event.Member), e.happened(event)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if n := len(event.Evidence); n > 0 {
		parts = append(parts, "after "+printable(event.Evidence[n-1].Cause))
	}
	if event.Actor != "" && event.Actor != "health" {
		parts = append(parts, "by "+printable(event.Actor))
	}
	return strings.Join(parts, " ")
}

// line is "#41 2026-11-29 12:00:00.000 UTC api 192.0.2.6:8080 ejected until 12:00:10.000 by health".
func (e eventLines) line(event api.Event) string {
	when := "-"
	if event.Time != nil {
		when = event.Time.Format("2006-01-02 15:04:05.000 MST")
	}
	parts := []string{fmt.Sprintf("#%d", event.Seq), when, cmp.Or(printable(event.Pool), nothing)}
	if event.Member != "" {
		parts = append(parts, printable(event.Member))
	}
	parts = append(parts, e.happened(event))
	if event.Actor != "" {
		parts = append(parts, "by "+printable(event.Actor))
	}
	return strings.Join(parts, " ")
}

// happened is what happened, in words.
func (e eventLines) happened(event api.Event) string {
	switch event.Kind {
	case api.EventEjected:
		text := e.palette.bad("ejected")
		if event.Until != nil {
			text += " until " + clock(*event.Until)
		}
		return text
	case api.EventProbation:
		return e.palette.warn("on probation")
	case api.EventRecovered:
		return e.palette.good("recovered")
	case api.EventAdded:
		return "added"
	case api.EventRemoved:
		return "removed"
	case api.EventReweighted:
		return fmt.Sprintf("reweighted from %d to %d", event.From, event.To)
	case api.EventReload:
		return "configuration reloaded"
	case api.EventPoolAdded:
		return "pool added"
	case api.EventPoolRebuilt:
		return "pool rebuilt"
	case api.EventPoolRemoved:
		return "pool removed"
	case api.EventGap:
		return e.palette.warn("gap: earlier events are gone")
	}
	return printable(event.Kind)
}

// clock is a time of day.
func clock(t time.Time) string { return t.Format("15:04:05.000") }
