package ctl

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
)

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
		Long: `Show one pool with its settings, its members and their state.

The format wide adds the ETag, for --if-match, and the fingerprint: where it is the same on two daemons,
both lead each header or client address to the same member. The format name has the members' addresses.`,
		Example: `  scalwsctl upstreams show api
  scalwsctl upstreams show api -o wide
  scalwsctl upstreams show api -o json`,
		Annotations:       poolFormats(),
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

// showPool prints one pool: the API's document, the names of its members, or its settings above the table of its
// members.
func (s *session) showPool(pool api.Upstream) error {
	switch {
	case s.isDocument():
		return s.writeDocument(pool)
	case s.format == formatName:
		for _, m := range pool.Members {
			fmt.Fprintln(s.Out, printable(m.Address))
		}
		return nil
	}
	fields := poolFields(pool)
	if s.format == formatWide {
		fields = append(fields, identityFields(pool)...)
	}
	if err := s.fieldTable(fields); err != nil {
		return err
	}
	if len(pool.Members) == 0 {
		return nil
	}
	fmt.Fprintln(s.Out)
	return s.memberTable(s.memberColumns(), []api.Upstream{pool})
}

// identityFields are what tells this pool, as it is now, from another.
func identityFields(pool api.Upstream) []field {
	return []field{
		{"ETag", cmp.Or(pool.ETag, nothing)},
		{"Fingerprint", cmp.Or(pool.Fingerprint, nothing)},
	}
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
	fields = append(fields,
		field{"Keepalive", fmt.Sprintf("%s a member", count(pool.Keepalive, "idle connection"))},
		field{"Passive health", passiveHealth(pool.PassiveHealth)},
		field{"Revision", fmt.Sprint(pool.Revision)},
	)
	if pool.RestoredFrom != nil {
		fields = append(fields, field{"Restored from", "the state of " + timestamp(*pool.RestoredFrom)})
	}
	return append(fields, field{"Members", memberStates(pool.Members)})
}
