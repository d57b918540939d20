package ctl

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
)

// newAdd is "upstreams add".
func newAdd(s *session) *cobra.Command {
	o := &editOptions{session: s}
	cmd := &cobra.Command{
		Use:   "add NAME ADDR[=WEIGHT]...",
		Short: "Add members to a pool",
		Long: `Add members to a pool that has members_from: api, at the end of its list.

The list is read, changed and set only if nobody else has changed it meanwhile; if somebody has, it begins
again. A member that is there already stays as it is; one that is there with another weight is an error.`,
		Example: `  scalwsctl upstreams add api 192.0.2.7:8080
  scalwsctl upstreams add api 192.0.2.7:8080=2 192.0.2.8:8080 --dry-run`,
		ValidArgsFunction: s.completeSetPool,
	}
	o.attach(cmd, func(given []api.SetMember) (edit, error) {
		return func(now []api.SetMember) ([]api.SetMember, error) { return added(o.pool, now, given) }, nil
	})
	return cmd
}

// added is a list with more members.
func added(pool string, now, more []api.SetMember) ([]api.SetMember, error) {
	known := places(now) // what is given twice is for the daemon to refuse
	for _, m := range more {
		at, is := known[canonical(m.Address)]
		if !is {
			now = append(now, m)
			continue
		}
		if was := weightOf(now[at]); m.Weight != nil && was != *m.Weight {
			return nil, invalid(fmt.Sprintf("nothing was changed; change its weight with 'scalwsctl upstreams weight %s %s=%d'", pool, m.Address, *m.Weight),
				fmt.Errorf("%s is a member of pool %s already, with weight %d", m.Address, pool, was))
		}
	}
	return now, nil
}
