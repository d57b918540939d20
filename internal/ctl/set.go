package ctl

import (
	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
)

// newSet is "upstreams set".
func newSet(s *session) *cobra.Command {
	o := &editOptions{session: s, whole: true}
	cmd := &cobra.Command{
		Use:   "set NAME ADDR[=WEIGHT]...",
		Short: "Replace the whole member list of a pool",
		Long: `Replace the whole member list of a pool that has members_from: api.

Members that stay keep their connections, load and health; requests in flight to a removed member finish.`,
		Example: `  scalwsctl upstreams set api 192.0.2.5:8080=2 192.0.2.6:8080
  scalwsctl upstreams set api --from-file members.txt --dry-run
  scalwsctl upstreams set api --empty`,
		ValidArgsFunction: s.completePoolAndMembers,
	}
	o.attach(cmd, func(given []api.SetMember) (edit, error) {
		return func([]api.SetMember) ([]api.SetMember, error) { return given, nil }, nil
	})
	o.attachEmpty(cmd)
	return cmd
}
