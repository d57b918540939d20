package ctl

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newTopic is a page of help that is no command: "help NAME" shows it.
func newTopic(name, short, long string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, Long: long}
}

// newHelp is "help": like cobra's own, but a topic that does not exist is wrong usage and not a success.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Show the help of a command or about a topic",
		Example: `  scalwsctl help upstreams set
  scalwsctl help exit-codes`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if at, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, c := range at.Commands() {
					if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
						names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usage(cmd, "there is no help about %q", strings.Join(args, " "))
			}
			return at.Help()
		},
	}
}

// variable is an environment variable that scalwsctl reads.
type variable struct {
	name    string
	meaning string
}

// variables are all of them.
func variables() []variable {
	return []variable{
		{"SCALWSCTL_SOCKET", "admin socket of the daemon, like --socket"},
		{"SCALWSCTL_SERVER", "address of a remote daemon, like --server"},
		{"SCALWSCTL_CERT", "certificate for it, like --cert"},
		{"SCALWSCTL_KEY", "key of the certificate, like --key"},
		{"SCALWSCTL_CA", "CAs of the server's certificate, like --ca"},
		{"SCALWSCTL_CONTEXT", "name of a context, like --context"},
		{"SCALWSCTL_OUTPUT", "output format, like --output, for the commands that have it"},
		{"XDG_CONFIG_HOME", "where scalws/scalwsctl.yaml with the contexts is; without it $HOME/.config"},
		{"HOME", "see XDG_CONFIG_HOME"},
		{"XDG_RUNTIME_DIR", "where a user's daemon has its socket by default"},
		{"NO_COLOR", "not empty: no colour"},
		{"TERM", "dumb: no colour"},
		{"COLUMNS", "width of the terminal, where it is one"},
	}
}

// environmentHelp is the text of "help environment".
func environmentHelp() string {
	var b strings.Builder
	b.WriteString("scalwsctl reads these environment variables. A flag wins over a variable, --context too; a variable wins\n" +
		"over the context that is used, SCALWSCTL_SOCKET and SCALWSCTL_SERVER over SCALWSCTL_CONTEXT.\n\n")
	for _, v := range variables() {
		fmt.Fprintf(&b, "    %-18s %s\n", v.name, v.meaning)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
