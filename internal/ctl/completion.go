package ctl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Shells are those that completions can be written for.
func Shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

func newCompletion(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Write the completion script of a shell",
		Long: fmt.Sprintf(`Write the completion script of a shell: %s.

It completes commands and flags, and the names of pools and members that the daemon has at that moment.`,
			strings.Join(Shells(), ", ")),
		Example: `  source <(scalwsctl completion bash)
  scalwsctl completion zsh > "${fpath[1]}/_scalwsctl"
  scalwsctl completion fish > ~/.config/fish/completions/scalwsctl.fish`,
		Args:              countArgs(1, 1, "the name of a shell: "+strings.Join(Shells(), ", ")),
		ValidArgsFunction: cobra.FixedCompletions(Shells(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(Shells(), args[0]) {
				return usage(cmd, "there are no completions for %q, only for %s", args[0], strings.Join(Shells(), ", "))
			}
			return WriteCompletion(s.Out, cmd.Root(), args[0])
		},
	}
}
