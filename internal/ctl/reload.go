package ctl

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// reloadOptions are "reload".
type reloadOptions struct {
	*session
}

func newReload(s *session) *cobra.Command {
	o := reloadOptions{session: s}
	return &cobra.Command{
		Use:   "reload",
		Short: "Have the daemon load its configuration file again",
		Long: `Have the daemon load its configuration file again, and say what became of everything.

A configuration that is not valid, or that the process cannot take, is refused as a whole: its problems go to
the standard error, and the daemon serves on as before. See first what a reload would do with
'scalwsctl config plan FILE'.`,
		Example: `  scalwsctl reload
  scalwsctl config validate /etc/scalws/scalws.yaml && scalwsctl reload`,
		Annotations:       formats(formatText, formatJSON, formatYAML),
		Args:              countArgs(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

func (o *reloadOptions) run(ctx context.Context) error {
	daemon, found, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	if found {
		fmt.Fprintf(o.Err, "using the daemon at %s\n", daemon.Socket)
	}
	plan, err := daemon.Reload(ctx)
	if err != nil {
		return o.refused(fmt.Errorf("reloading the configuration: %w", err))
	}
	return o.showPlan(&plan)
}

// refused shows the problems that a refusal holds, with the lines of the file where this machine has it.
func (o *reloadOptions) refused(err error) error {
	f := &failure{err: err}
	if problems := problemsOf(err); len(problems) > 0 {
		if err := writeProblems(o.Err, problems, o.sources(problems), newProblemStyle(o.Err, o.Getenv)); err != nil {
			return err
		}
		f.err = fmt.Errorf("reloading the configuration: it is not valid: %s", summary(1, 1, problems))
		f.code = ExitInvalid
	}
	if code := classify(err).code; code == ExitInvalid || code == ExitRefused {
		f.hint = "the daemon serves on as before; correct the file and reload again"
	} else if code != ExitUnreachable {
		f.hint = "the configuration may have been reloaded; look with 'scalwsctl status'"
	}
	return f
}
