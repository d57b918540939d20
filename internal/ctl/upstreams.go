package ctl

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
)

// newUpstreams is "upstreams": the list, and the commands about one pool below it.
func newUpstreams(s *session) *cobra.Command {
	cmd := newList(s)
	cmd.Use = "upstreams"
	cmd.Example = `  scalwsctl upstreams
  scalwsctl upstreams -o json | jq -r '.upstreams[].name'`
	cmd.Args = subcommandArgs
	cmd.AddCommand(newList(s), newShow(s), newSet(s))
	return cmd
}

// listOptions are "upstreams" and "upstreams list".
type listOptions struct {
	*session
}

func newList(s *session) *cobra.Command {
	o := listOptions{session: s}
	return &cobra.Command{
		Use:   "list",
		Short: "List every pool with its members and their state",
		Example: `  scalwsctl upstreams list
  scalwsctl upstreams list | grep ejected`,
		Annotations:       formats(formatTable, formatJSON),
		Args:              countArgs(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

func (o *listOptions) run(ctx context.Context) error {
	daemon, _, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	pools, err := daemon.Upstreams(ctx)
	if err != nil {
		return fmt.Errorf("listing the pools: %w", err)
	}
	if o.format == formatJSON {
		return writeJSON(o.Out, api.Upstreams{Upstreams: pools})
	}
	if len(pools) == 0 {
		fmt.Fprintln(o.Err, "there are no pools")
		return nil
	}
	columns := []memberColumn{
		{title: "POOL", cell: func(pool api.Upstream, _ api.Member) string { return printable(pool.Name) }},
		{title: "BALANCE", cell: func(pool api.Upstream, _ api.Member) string { return printable(balance(pool)) }},
	}
	return o.memberTable(append(columns, o.memberColumns()...), pools)
}

// showOptions are "upstreams show".
type showOptions struct {
	*session
	pool string
}

func newShow(s *session) *cobra.Command {
	o := showOptions{session: s}
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Show one pool with its settings, members and their state",
		Example: `  scalwsctl upstreams show api
  scalwsctl upstreams show api -o json`,
		Annotations:       formats(formatTable, formatJSON),
		Args:              countArgs(1, 1, "the name of a pool"),
		ValidArgsFunction: s.completePool,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.pool = args[0]
			return o.run(cmd.Context())
		},
	}
}

func (o *showOptions) run(ctx context.Context) error {
	daemon, _, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	pool, err := daemon.Upstream(ctx, o.pool)
	if err != nil {
		return fmt.Errorf("showing pool %s: %w", o.pool, err)
	}
	return o.showPool(pool)
}

// showPool prints one pool: the API's document, or its settings above the table of its members.
func (s *session) showPool(pool api.Upstream) error {
	if s.format == formatJSON {
		return writeJSON(s.Out, pool)
	}
	if err := s.fieldTable(poolFields(pool)); err != nil {
		return err
	}
	if len(pool.Members) == 0 {
		return nil
	}
	fmt.Fprintln(s.Out)
	return s.memberTable(append(s.memberColumns(), memberColumn{
		title: "EJECTED UNTIL",
		cell: func(_ api.Upstream, m api.Member) string {
			if m.EjectedUntil == nil {
				return nothing
			}
			return timestamp(*m.EjectedUntil)
		},
	}), []api.Upstream{pool})
}

// poolFields are the settings of a pool, for people.
func poolFields(pool api.Upstream) []field {
	fields := []field{
		{"Pool", pool.Name},
		{"Members from", pool.MembersFrom},
		{"Balance", balance(pool)},
	}
	if h := pool.Hash; h != nil && h.CookieMaxAge != "" {
		fields = append(fields, field{"Cookie max age", h.CookieMaxAge})
	}
	fields = append(fields, field{"Scheme", pool.Scheme})
	if t := pool.TLS; t != nil {
		fields = append(fields,
			field{"CA file", cmp.Or(t.CAFile, nothing)},
			field{"Server name", cmp.Or(t.ServerName, "the member's host")})
	}
	fields = append(fields, field{"Retries", fmt.Sprint(pool.Retries)})
	if b := pool.RetryBudget; b != nil {
		fields = append(fields, field{"Retry budget", fmt.Sprintf("%g of the requests, at least %d a second", b.Ratio, b.MinPerSecond)})
	}
	return append(fields,
		field{"Keepalive", fmt.Sprintf("%s a member", count(pool.Keepalive, "idle connection"))},
		field{"Passive health", passiveHealth(pool.PassiveHealth)},
		field{"Revision", fmt.Sprint(pool.Revision)},
		field{"Members", memberStates(pool.Members)},
	)
}

// balance is the algorithm, with what is hashed.
func balance(pool api.Upstream) string {
	if pool.Hash == nil {
		return pool.Balance
	}
	text := pool.Balance + "/" + pool.Hash.By
	if pool.Hash.Name != "" {
		text += ":" + pool.Hash.Name
	}
	return text
}

// passiveHealth says when a member is ejected.
func passiveHealth(h api.PassiveHealth) string {
	if h.Failures == 0 {
		return "off"
	}
	text := fmt.Sprintf("ejected after %s for %s", count(h.Failures, "failure"), h.Cooldown)
	if h.ProbationRequests > 0 {
		text += fmt.Sprintf(", then %s at once on probation", count(h.ProbationRequests, "request"))
	}
	return text
}

// memberStates counts the members, by state where not all are up.
func memberStates(members []api.Member) string {
	states := map[string]int{}
	for _, m := range members {
		states[m.State]++
	}
	text := fmt.Sprint(len(members))
	for _, state := range []string{api.StateEjected, api.StateProbation} {
		if n := states[state]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, stateWord(state))
		}
	}
	return text
}

// stateWord is a state in a sentence.
func stateWord(state string) string {
	if state == api.StateProbation {
		return "on probation"
	}
	return state
}

// count is a number with its noun, whose plural takes an s.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
