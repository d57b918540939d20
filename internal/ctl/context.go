package ctl

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
)

// newContext holds the commands about contexts: daemons that have a name.
func newContext(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "context",
		Short: "Name daemons and choose the one that is used",
		Long: `Name daemons and choose the one that is used where neither a flag nor the environment says.

Contexts are in $XDG_CONFIG_HOME/scalws/scalwsctl.yaml, which is for its user alone. It is replaced as a
whole when a context is added, used or removed; comments in it are lost.`,
		Example: `  scalwsctl context add prod --server https://lb1.example.com:9443 --cert me.pem --key me.key --ca ca.pem
  scalwsctl context use prod`,
	}
	group(cmd)
	cmd.AddCommand(newContextList(s), newContextUse(s), newContextAdd(s), newContextRemove(s))
	return cmd
}

// contextsDocument is "context list -o json".
type contextsDocument struct {
	Schema   string  `json:"schema"`
	Current  string  `json:"current"`
	Contexts []place `json:"contexts"`
}

func newContextList(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the contexts",
		Example: `  scalwsctl context list
  scalwsctl context list -o json | jq -r .current`,
		Annotations:       formats(formatTable, formatJSON),
		Args:              countArgs(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			known, err := readSettings(s.settingsFile())
			if err != nil {
				return err
			}
			return s.showContexts(known)
		},
	}
}

func (s *session) showContexts(known settings) error {
	if s.format == formatJSON {
		return writeJSON(s.Out, contextsDocument{"scalws.contexts/1", known.Current, append([]place{}, known.Contexts...)})
	}
	if len(known.Contexts) == 0 {
		fmt.Fprintln(s.Err, "there are no contexts")
		return nil
	}
	rows := make([][]string, len(known.Contexts))
	for i, c := range known.Contexts {
		current := ""
		if c.Name == known.Current {
			current = "current"
		}
		rows[i] = []string{c.Name, current, printable(c.way()), printable(c.Cert), printable(c.CA)}
	}
	titles := []string{"CONTEXT", "USED", "DAEMON", "CERTIFICATE", "CA"}
	return writeTable(s.Out, titles, make([]bool, len(titles)), rows)
}

func newContextUse(s *session) *cobra.Command {
	var none bool
	cmd := &cobra.Command{
		Use:   "use NAME",
		Short: "Make a context the one that is used",
		Example: `  scalwsctl context use prod
  scalwsctl context use --none`,
		ValidArgsFunction: s.completeContext,
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if none {
			return countArgs(0, 0, "")(cmd, args)
		}
		return countArgs(1, 1, "the name of a context")(cmd, args)
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return s.changeSettings(func(known *settings) (string, error) {
			if none {
				known.Current = ""
				return "no context is used", nil
			}
			c, ok := known.find(args[0])
			if !ok {
				return "", known.unknown(ExitNotFound, args[0], "")
			}
			known.Current = c.Name
			return fmt.Sprintf("using context %s: %s", c.Name, c.way()), nil
		})
	}
	cmd.Flags().BoolVar(&none, "none", false, "Use no context: the daemon of this machine")
	return cmd
}

func newContextAdd(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "add NAME",
		Short: "Add a context",
		Long: `Add a context: the daemon of --socket, or the one of --server with --cert, --key and --ca.

Paths are kept as absolute ones. A context that is there already is not changed: remove it first. The
daemon is not asked, so that it need not be there yet.`,
		Example: `  scalwsctl context add test --socket /run/scalws-test/admin.sock
  scalwsctl context add prod --server https://lb1.example.com:9443 --cert me.pem --key me.key --ca ca.pem`,
		Args:              countArgs(1, 1, "the name of a context"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			c := place{Name: args[0], Socket: s.socket, Server: s.server, Cert: s.cert, Key: s.key, CA: s.ca}
			if err := c.check(); err != nil {
				return usage(cmd, "%w", err)
			}
			here, err := os.Getwd()
			if err != nil {
				return fmt.Errorf("adding a context: %w", err)
			}
			c.beside(here)
			return s.changeSettings(func(known *settings) (string, error) {
				was, ok := known.find(c.Name)
				switch {
				case ok && was == c:
					return "unchanged", nil
				case ok:
					return "", invalid(fmt.Sprintf("remove it first with 'scalwsctl context remove %s'", c.Name),
						fmt.Errorf("there is a context %q already: %s", c.Name, was.way()))
				}
				known.Contexts = append(known.Contexts, c)
				return fmt.Sprintf("added context %s: %s", c.Name, c.way()), nil
			})
		},
	}
}

func newContextRemove(s *session) *cobra.Command {
	return &cobra.Command{
		Use:               "remove NAME",
		Short:             "Remove a context",
		Long:              `Remove a context. If it is the one that is used, none is used from then on.`,
		Example:           `  scalwsctl context remove test`,
		Args:              countArgs(1, 1, "the name of a context"),
		ValidArgsFunction: s.completeContext,
		RunE: func(_ *cobra.Command, args []string) error {
			return s.changeSettings(func(known *settings) (string, error) {
				i := known.index(args[0])
				if i < 0 {
					return "", known.unknown(ExitNotFound, args[0], "")
				}
				known.Contexts = slices.Delete(known.Contexts, i, i+1)
				if known.Current != args[0] {
					return "removed context " + args[0], nil
				}
				known.Current = ""
				return fmt.Sprintf("removed context %s; no context is used", args[0]), nil
			})
		},
	}
}

// changeSettings reads the settings, changes them and writes them. What was done is said on the standard error.
func (s *session) changeSettings(change func(*settings) (done string, err error)) error {
	file := s.settingsFile()
	known, err := readSettings(file)
	if err != nil {
		return err
	}
	done, err := change(&known)
	if err != nil {
		return err
	}
	if err := known.write(file); err != nil {
		return err
	}
	fmt.Fprintln(s.Err, printable(done))
	return nil
}

// completeContext offers the names of the contexts.
func (s *session) completeContext(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	known, err := readSettings(s.settingsFile())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, c := range known.Contexts {
		names = append(names, cobra.CompletionWithDesc(c.Name, printable(c.way())))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
