package ctl

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// The pauses between two looks at a pool: short first, because much is true at once or soon.
const (
	firstLook = 50 * time.Millisecond
	laterLook = time.Second
)

// waitOptions are "upstreams wait".
type waitOptions struct {
	*session
	pool      string
	condition string
	limit     time.Duration
}

func newWait(s *session) *cobra.Command {
	o := waitOptions{session: s}
	cmd := &cobra.Command{
		Use:   "wait NAME --for CONDITION",
		Short: "Wait until a pool is as a script needs it",
		Long: `Wait until a pool is as a script needs it. The conditions are:

  up=N           N members or more are up: neither ejected nor on probation
  none-ejected   no member is ejected
  revision=N     the revision is N or more

The exit code is 0 once the condition holds, 8 if it does not in time, 3 if there is no such pool, and 7 if
the daemon is not there. What was waited for goes to the standard error.`,
		Example: `  scalwsctl upstreams set api --from-file members.txt && scalwsctl upstreams wait api --for up=3
  scalwsctl upstreams wait api --for none-ejected --timeout 2m`,
		Args:              countArgs(1, 1, "the name of a pool"),
		ValidArgsFunction: s.completePool,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.pool = args[0]
		if o.limit < 0 {
			return usage(cmd, "--timeout must not be negative; 0 waits for ever")
		}
		holds, err := parseCondition(o.condition)
		if err != nil {
			return usage(cmd, "--for: %w", err)
		}
		return o.run(cmd.Context(), holds)
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.condition, "for", "", "Wait for this: up=N, none-ejected or revision=N")
	flags.DurationVar(&o.limit, "timeout", 30*time.Second, "Wait this long, 0 for ever")
	completeFlag(cmd, "for", cobra.FixedCompletions([]string{"up=", "none-ejected", "revision="},
		cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	completeFlag(cmd, "timeout", cobra.NoFileCompletions)
	return cmd
}

// condition tells whether a pool is as it is waited for, and how it is.
type condition func(pool api.Upstream) (holds bool, is string)

// parseCondition reads up=N, none-ejected or revision=N.
func parseCondition(text string) (condition, error) {
	name, value, hasValue := strings.Cut(text, "=")
	switch {
	case text == "none-ejected":
		return func(pool api.Upstream) (bool, string) {
			n := inState(pool, api.StateEjected)
			return n == 0, fmt.Sprintf("%d of %s ejected", n, count(len(pool.Members), "member"))
		}, nil
	case name == "up" && hasValue:
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("up=N needs a whole number, it is %q", value)
		}
		return func(pool api.Upstream) (bool, string) {
			up := inState(pool, api.StateUp)
			return up >= int(n), fmt.Sprintf("%d of %s up", up, count(len(pool.Members), "member"))
		}, nil
	case name == "revision" && hasValue:
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("revision=N needs a whole number, it is %q", value)
		}
		return func(pool api.Upstream) (bool, string) {
			return pool.Revision >= n, fmt.Sprintf("revision %d", pool.Revision)
		}, nil
	}
	return nil, fmt.Errorf("say up=N, none-ejected or revision=N, not %q", text)
}

// inState counts the members in a state.
func inState(pool api.Upstream, state string) int {
	n := 0
	for _, m := range pool.Members {
		if m.State == state {
			n++
		}
	}
	return n
}

func (o *waitOptions) run(ctx context.Context, holds condition) error {
	daemon, _, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	waiting, cancel := ctx, context.CancelFunc(func() {})
	if o.limit > 0 {
		waiting, cancel = context.WithTimeout(ctx, o.limit)
	}
	defer cancel()
	is, err := o.until(waiting, daemon, holds)
	switch {
	case err == nil:
		fmt.Fprintf(o.Err, "%s: %s\n", printable(o.pool), is)
		return nil
	case waiting.Err() != nil && ctx.Err() == nil:
		return &failure{
			code: ExitTimeout,
			err:  fmt.Errorf("waiting for %s of pool %s: not within %v%s", o.condition, o.pool, o.limit, lastSeen(is)),
			hint: fmt.Sprintf("see why with 'scalwsctl upstreams events %s'", o.pool),
		}
	}
	return fmt.Errorf("waiting for %s of pool %s: %w", o.condition, o.pool, err)
}

func lastSeen(is string) string {
	if is == "" {
		return ""
	}
	return ", there is " + is
}

// until looks at the pool until it is as it should be, and says how it was when it was looked at last.
func (o *waitOptions) until(ctx context.Context, daemon *client.Client, holds condition) (is string, err error) {
	pause := firstLook
	for {
		pool, err := daemon.Upstream(ctx, o.pool)
		if err != nil {
			return is, err
		}
		var yes bool
		if yes, is = holds(pool); yes {
			return is, nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return is, ctx.Err()
		}
		pause = min(2*pause, laterLook)
	}
}
