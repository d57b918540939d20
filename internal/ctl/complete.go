package ctl

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
)

// completionTimeout is how long a shell waits for names. Whatever goes wrong meanwhile, the shell gets
// no names and no message.
const completionTimeout = time.Second

// completeFlag sets what completes a flag's value. The flag exists: it is defined beside the call.
func completeFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}

// completePool offers the names of the pools.
func (s *session) completePool(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.poolNames(cmd.Context(), ""), cobra.ShellCompDirectiveNoFileComp
}

// completeSetPool offers the names of the pools whose members can be set.
func (s *session) completeSetPool(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.poolNames(cmd.Context(), api.FromAPI), cobra.ShellCompDirectiveNoFileComp
}

// completePoolAndMembers offers the names of the pools whose members can be set, then the members that
// the pool has now, with their weights, and are not on the command line yet.
func (s *session) completePoolAndMembers(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return s.poolNames(cmd.Context(), api.FromAPI), cobra.ShellCompDirectiveNoFileComp
	}
	return s.memberNames(cmd.Context(), args[0], args[1:]), cobra.ShellCompDirectiveNoFileComp
}

// poolNames are the pools whose members come from a source; any if it is empty.
func (s *session) poolNames(ctx context.Context, from string) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	daemon, _, err := s.daemon(ctx)
	if err != nil {
		return nil
	}
	pools, err := daemon.Upstreams(ctx)
	if err != nil {
		return nil
	}
	var names []string
	for _, pool := range pools {
		if from == "" || pool.MembersFrom == from {
			names = append(names, cobra.CompletionWithDesc(printable(pool.Name), count(len(pool.Members), "member")))
		}
	}
	return names
}

// memberNames are the members of a pool but those that are given already, with whatever weight.
func (s *session) memberNames(ctx context.Context, pool string, given []string) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	daemon, _, err := s.daemon(ctx)
	if err != nil {
		return nil
	}
	now, err := daemon.Upstream(ctx, pool)
	if err != nil {
		return nil
	}
	var addresses []string
	for _, arg := range given {
		if m, err := parseMember(arg); err == nil {
			addresses = append(addresses, m.Address)
		}
	}
	var names []string
	for _, m := range now.Members {
		if slices.Contains(addresses, m.Address) {
			continue
		}
		name := m.Address
		if m.Weight != 1 {
			name = fmt.Sprintf("%s=%d", m.Address, m.Weight)
		}
		names = append(names, cobra.CompletionWithDesc(printable(name), stateWord(m.State)))
	}
	return names
}
