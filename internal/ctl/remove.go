package ctl

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
)

// newRemove is "upstreams remove".
func newRemove(s *session) *cobra.Command {
	o := &editOptions{session: s}
	cmd := &cobra.Command{
		Use:   "remove NAME ADDR...",
		Short: "Remove members from a pool",
		Long: `Remove members from a pool that has members_from: api. Requests in flight to them finish.

The list is read, changed and set only if nobody else has changed it meanwhile; if somebody has, it begins
again. An address that is no member, or no longer, is nothing to change. The last member goes only with
--empty.`,
		Example: `  scalwsctl upstreams remove api 192.0.2.7:8080
  scalwsctl upstreams remove api --from-file retired.txt`,
		ValidArgsFunction: s.completePoolAndMembers,
	}
	o.attach(cmd, func(given []api.SetMember) (edit, error) {
		for _, m := range given {
			if m.Weight != nil {
				return nil, invalid("give addresses alone", fmt.Errorf("%s=%d: a member is removed whatever its weight", m.Address, *m.Weight))
			}
		}
		return func(now []api.SetMember) ([]api.SetMember, error) { return without(now, given), nil }, nil
	})
	o.attachEmpty(cmd)
	return cmd
}

// without is a list without some members.
func without(now, gone []api.SetMember) []api.SetMember {
	addresses := make(map[string]bool, len(gone))
	for _, m := range gone {
		addresses[canonical(m.Address)] = true
	}
	return slices.DeleteFunc(now, func(m api.SetMember) bool { return addresses[m.Address] })
}
