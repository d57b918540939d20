package ctl

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// NewRoot is the whole command tree over a system. Completions, man pages and documentation are made
// from the same tree that runs.
func NewRoot(sys System) *cobra.Command { return newRoot(&session{System: sys}) }

func newRoot(s *session) *cobra.Command {
	root := &cobra.Command{
		Use:   "scalwsctl",
		Short: "Look into a running ScalWS and change it",
		Long: `Look into a running ScalWS and change it.

scalwsctl talks to scalwsd over its admin socket, or over TLS to a remote one: to the daemon of --socket
or --server, of the environment, of the context that is used, or else at the first of
/run/scalws/admin.sock, $XDG_RUNTIME_DIR/scalws/admin.sock and /tmp/scalws-UID/admin.sock that accepts a
connection. Data goes to the standard output, everything else to the standard error.`,
		Example: `  scalwsctl upstreams
  scalwsctl upstreams set api 192.0.2.5:8080=2 192.0.2.6:8080
  scalwsctl config validate /etc/scalws/scalws.yaml`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: s.prepare,
	}
	group(root)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(cmd, "%w", err) })

	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&s.socket, "socket", "", "Talk to the daemon at this admin socket")
	flags.StringVar(&s.server, "server", "", "Talk to the remote daemon at this address, https://HOST:PORT")
	flags.StringVar(&s.cert, "cert", "", "Show the server this certificate, a PEM file")
	flags.StringVar(&s.key, "key", "", "Use this key with the certificate, a PEM file")
	flags.StringVar(&s.ca, "ca", "", "Trust servers with a certificate of these CAs, a PEM file")
	flags.StringVar(&s.context, "context", "", "Talk to the daemon of this context")
	flags.StringVarP(&s.output, "output", "o", "", "Write the output in this format: table, wide, text, json, yaml, name or another that the command has")
	flags.DurationVar(&s.timeout, "request-timeout", 10*time.Second, "Wait this long for an answer, 0 for ever")
	flags.BoolP("help", "h", false, "Show this help")
	completeFlag(root, "server", cobra.NoFileCompletions)
	completeFlag(root, "context", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return s.completeContext(cmd, nil, "")
	})
	completeFlag(root, "output", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return formatsOf(cmd), cobra.ShellCompDirectiveNoFileComp
	})

	root.AddCommand(
		newUpstreams(s),
		newConfig(s),
		newSimulate(s),
		newContext(s),
		newStatus(s),
		newReload(s),
		newConsole(s),
		newVersion(s),
		newCompletion(s),
		newTopic("exit-codes", "Exit codes and their meaning", exitCodesHelp()),
		newTopic("environment", "Environment variables that scalwsctl reads", environmentHelp()),
	)
	root.SetHelpCommand(newHelp())
	return root
}

// group makes a command that only holds others: alone it shows its help, which is wrong usage.
func group(cmd *cobra.Command) {
	cmd.Args = subcommandArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cmd.SetOut(cmd.ErrOrStderr())
		if err := cmd.Help(); err != nil {
			return err
		}
		return &failure{code: ExitUsage}
	}
}

// subcommandArgs takes no argument: one that is there was meant as a command.
func subcommandArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usage(cmd, "unknown command %q for '%s'; did you mean %s?", args[0], cmd.CommandPath(), strings.Join(near, " or "))
	}
	return usage(cmd, "unknown command %q for '%s'", args[0], cmd.CommandPath())
}

// countArgs checks the number of arguments: at least minimum, at most maximum, without limit if that is
// negative. The names are for the message.
func countArgs(minimum, maximum int, names string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < minimum:
			return usage(cmd, "'%s' needs %s", cmd.CommandPath(), names)
		case maximum == 0 && len(args) > 0:
			return usage(cmd, "'%s' takes no arguments, there is %q", cmd.CommandPath(), args[0])
		case maximum > 0 && len(args) > maximum:
			return usage(cmd, "'%s' takes only %s, there is also %q", cmd.CommandPath(), names, args[maximum])
		}
		return nil
	}
}
