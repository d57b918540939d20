package ctl

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// eventsOptions are "upstreams events".
type eventsOptions struct {
	*session
	pool   string
	follow bool
	since  uint64
}

func newEvents(s *session) *cobra.Command {
	o := eventsOptions{session: s}
	cmd := &cobra.Command{
		Use:   "events [NAME]",
		Short: "Show ejections and changes with their evidence",
		Long: `Show ejections and changes with their evidence, of one pool or of all, the oldest first.

Each event has its number, its time, its pool, what happened and who did it; the failures that led to an
ejection stand below it. The daemon keeps a bounded number of events: a gap stands for those that are gone.
With --follow new events come as they happen, one JSON document a line with -o json.`,
		Example: `  scalwsctl upstreams events api
  scalwsctl upstreams events --follow --since 41
  scalwsctl upstreams events -o json | jq '.events[] | select(.kind == "ejected")'`,
		Annotations:       formats(formatTable, formatJSON, formatYAML),
		Args:              countArgs(0, 1, "the name of a pool"),
		ValidArgsFunction: s.completePool,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.pool = args[0]
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVarP(&o.follow, "follow", "f", false, "Go on and show what happens, until interrupted")
	flags.Uint64Var(&o.since, "since", 0, "Leave out the events up to this number")
	completeFlag(cmd, "since", cobra.NoFileCompletions)
	return cmd
}

func (o *eventsOptions) run(ctx context.Context) error {
	daemon, _, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	if o.follow {
		return o.followEvents(ctx, daemon, o.pool, o.since)
	}
	events, err := daemon.Events(ctx, o.pool, o.since)
	if err != nil {
		return fmt.Errorf("reading the events: %w", err)
	}
	if o.isDocument() {
		return o.writeDocument(events)
	}
	lines := newEventLines(newPalette(o.Out, o.Getenv))
	for _, event := range events.Events {
		for _, line := range lines.of(event) {
			fmt.Fprintln(o.Out, line)
		}
	}
	return nil
}

// followEvents prints events as they happen, until the context ends or nobody reads any more.
func (s *session) followEvents(ctx context.Context, daemon *client.Client, pool string, since uint64) error {
	lines := newEventLines(newPalette(s.Out, s.Getenv))
	reading, stop := untilHangup(ctx, s.Out)
	defer stop()
	for event, err := range daemon.Follow(reading, pool, since) {
		if reading.Err() != nil && ctx.Err() == nil {
			return nil // nobody reads any more
		}
		if err != nil {
			return fmt.Errorf("following the events: %w", err)
		}
		if err := s.printEvent(lines, event); err != nil {
			return fmt.Errorf("writing an event: %w", err)
		}
		if out, ok := s.Out.(*output); ok {
			out.flush()
			if out.failed() {
				return nil // Main says what was lost, if anybody wants to know
			}
		}
	}
	return nil
}

func (s *session) printEvent(lines eventLines, event api.Event) error {
	if s.isDocument() {
		return s.writeStreamed(event)
	}
	for _, line := range lines.of(event) {
		fmt.Fprintln(s.Out, line)
	}
	return nil
}
