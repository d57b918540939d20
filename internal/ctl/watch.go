package ctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// watchOptions are "upstreams watch".
type watchOptions struct {
	*session
	pool     string
	interval time.Duration
}

func newWatch(s *session) *cobra.Command {
	o := watchOptions{session: s}
	cmd := &cobra.Command{
		Use:   "watch [NAME]",
		Short: "Watch pools, members and events live",
		Long: `Watch pools, members and events live: the state of each member, its requests a second and their trend, and what
happens. Where the standard output is no terminal, or with -o json, it prints one line for each change from
now on, as 'scalwsctl upstreams events --follow' does.

The keys: s sorts by the next column, r the other way round, / filters by pool, address and state, the space bar
freezes the picture, e shows and hides the events, arrows and page keys scroll, q quits.`,
		Example: `  scalwsctl upstreams watch
  scalwsctl upstreams watch api --interval 5s
  scalwsctl upstreams watch | tee -a changes.log`,
		Annotations:       formats(formatTable, formatJSON),
		Args:              countArgs(0, 1, "the name of a pool"),
		ValidArgsFunction: s.completePool,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			o.pool = args[0]
		}
		if o.interval < 100*time.Millisecond {
			return usage(cmd, "--interval must be 100ms or more")
		}
		return o.run(cmd.Context())
	}
	cmd.Flags().DurationVar(&o.interval, "interval", time.Second, "Look at the daemon this often")
	completeFlag(cmd, "interval", cobra.NoFileCompletions)
	return cmd
}

func (o *watchOptions) run(ctx context.Context) error {
	daemon, _, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	out, isFile := stream(o.Out).(*os.File)
	in, hasKeys := o.In.(*os.File)
	if o.format == formatJSON || !isFile || !hasKeys || !isTerminal(out) || !isTerminal(in) || o.Getenv("TERM") == "dumb" {
		return o.lines(ctx, daemon)
	}
	return o.view(ctx, daemon, in, out)
}

// lines prints what happens from now on.
func (o *watchOptions) lines(ctx context.Context, daemon *client.Client) error {
	past, err := daemon.Events(ctx, o.pool, 0)
	if err != nil {
		return fmt.Errorf("reading the events: %w", err)
	}
	return o.followEvents(ctx, daemon, o.pool, latest(past.Events))
}

// latest is the number of the last of some events; 0 if there is none.
func latest(events []api.Event) uint64 {
	if len(events) == 0 {
		return 0
	}
	return events[len(events)-1].Seq
}

// view runs the live view until its user quits.
func (o *watchOptions) view(ctx context.Context, daemon *client.Client, in, out *os.File) error {
	first := o.look(ctx, daemon) // before the screen is taken: a daemon that is not there is an error like any other
	if first.err != nil {
		return fmt.Errorf("watching the pools: %w", first.err)
	}
	m := newWatchModel(o.chosen.way(), newPalette(out, o.Getenv))
	m.next = func() tea.Cmd {
		return tea.Tick(o.interval, func(time.Time) tea.Msg { return o.look(ctx, daemon) })
	}
	m = m.saw(first)
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler(),
		tea.WithEnvironment(o.terminalEnvironment()))

	following, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event, err := range daemon.Follow(following, o.pool, 0) {
			program.Send(happened{event, err})
		}
	}()
	end, err := program.Run()
	stop()
	<-done
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("showing the live view: %w", err)
	}
	if last, ok := end.(watchModel); ok && last.interrupted {
		return interrupted(errors.New("interrupted"))
	}
	return nil
}

// terminalEnvironment is what the view may know of the environment: what kind of terminal it has.
func (o *watchOptions) terminalEnvironment() []string {
	var environment []string
	for _, name := range []string{"TERM", "COLORTERM", "NO_COLOR", "TERM_PROGRAM", "TMUX"} {
		if value := o.Getenv(name); value != "" {
			environment = append(environment, name+"="+value)
		}
	}
	return environment
}

// look asks the daemon how things are.
func (o *watchOptions) look(ctx context.Context, daemon *client.Client) seen {
	s := seen{at: o.Now()}
	if o.pool == "" {
		s.pools, s.err = daemon.Upstreams(ctx)
	} else {
		var pool api.Upstream
		pool, s.err = daemon.Upstream(ctx, o.pool)
		s.pools = []api.Upstream{pool}
	}
	if s.err != nil {
		return s
	}
	// Rates are there to be looked at: where they cannot be read, the rest still can.
	if text, err := daemon.Metrics(ctx); err == nil {
		s.attempts, _ = readAttempts(text)
	}
	return s
}

// seen is how things are at a moment.
type seen struct {
	at       time.Time
	pools    []api.Upstream
	attempts attempts
	err      error
}

// happened is an event, or why no more come.
type happened struct {
	event api.Event
	err   error
}

// order is a way to sort the members of the view.
type order struct {
	name    string
	compare func(a, b watchedMember) int
}

// orders are all ways to sort; members that are alike stay in the order of their pools and lists.
func orders() []order {
	trouble := map[string]int{api.StateEjected: 0, api.StateProbation: 1, api.StateUp: 2}
	return []order{
		{"pool", func(a, b watchedMember) int { return 0 }},
		{"trouble", func(a, b watchedMember) int { return cmp.Compare(trouble[a.member.State], trouble[b.member.State]) }},
		{"req/s", func(a, b watchedMember) int { return cmp.Compare(b.rate, a.rate) }},
		{"in flight", func(a, b watchedMember) int { return cmp.Compare(b.member.InFlight, a.member.InFlight) }},
		{"failures", func(a, b watchedMember) int {
			return cmp.Compare(b.member.ConsecutiveFailures, a.member.ConsecutiveFailures)
		}},
		{"weight", func(a, b watchedMember) int { return cmp.Compare(b.member.Weight, a.member.Weight) }},
		{"member", func(a, b watchedMember) int { return cmp.Compare(a.member.Address, b.member.Address) }},
	}
}
