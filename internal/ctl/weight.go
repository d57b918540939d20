package ctl

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
)

// newWeight is "upstreams weight".
func newWeight(s *session) *cobra.Command {
	o := &editOptions{session: s}
	cmd := &cobra.Command{
		Use:   "weight NAME ADDR=WEIGHT...",
		Short: "Change the weights of members of a pool",
		Long: `Change the weights of members of a pool that has members_from: api.

The list is read, changed and set only if nobody else has changed it meanwhile; if somebody has, it begins
again. An address that is no member is an error.`,
		Example: `  scalwsctl upstreams weight api 192.0.2.5:8080=3
  scalwsctl upstreams weight api 192.0.2.5:8080=1 192.0.2.6:8080=9 --dry-run`,
		ValidArgsFunction: s.completePoolAndMembers,
	}
	o.attach(cmd, func(given []api.SetMember) (edit, error) {
		for _, m := range given {
			if m.Weight == nil {
				return nil, invalid("say ADDR=WEIGHT, for example "+m.Address+"=2", fmt.Errorf("%s has no weight", m.Address))
			}
		}
		return func(now []api.SetMember) ([]api.SetMember, error) { return reweighted(o.pool, now, given) }, nil
	})
	return cmd
}

// reweighted is a list with other weights.
func reweighted(pool string, now, given []api.SetMember) ([]api.SetMember, error) {
	known := places(now)
	for _, m := range given {
		at, is := known[canonical(m.Address)]
		if !is {
			return nil, invalid(fmt.Sprintf("nothing was changed; see the members with 'scalwsctl upstreams show %s'", pool),
				fmt.Errorf("%s is no member of pool %s", m.Address, pool))
		}
		now[at].Weight = m.Weight
	}
	return now, nil
}
