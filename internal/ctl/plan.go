package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/api"
)

// planOptions are "config plan".
type planOptions struct {
	*session
	file     string
	against  string
	exitCode bool
}

func newPlan(s *session) *cobra.Command {
	o := planOptions{session: s}
	cmd := &cobra.Command{
		Use:   "plan NEW",
		Short: "Say what a reload with another configuration would do",
		Long: `Say what a reload with another configuration would do: which pools are kept, get other members, are rebuilt
or removed, why, and what is lost by that; which listeners and applications change. Nothing is changed.

The configuration is held against what the daemon serves at this moment; files that it names are read by the
daemon, relative to the folder of its own file. With --against it is held against another file and no daemon is
needed: the plan then knows nothing of members that were set at run time, nor of what is lost in numbers.
A file named - is the standard input.`,
		Example: `  scalwsctl config plan new.yaml
  scalwsctl config plan new.yaml --against /etc/scalws/scalws.yaml --exit-code
  scalwsctl config plan - -o json < new.yaml`,
		Annotations:       formats(formatText, formatJSON, formatYAML),
		Args:              countArgs(1, 1, "the name of a file, or - for the standard input"),
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.file = args[0]
		offline := cmd.Flags().Changed("against")
		switch {
		case offline && o.against == "":
			return usage(cmd, "--against needs the name of a file")
		case o.file == "-" && o.against == "-":
			return usage(cmd, "the standard input can be read once: there are two -")
		}
		return o.run(cmd.Context(), offline)
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.against, "against", "", "Compare with this file and not with the daemon")
	flags.BoolVar(&o.exitCode, "exit-code", false, "End with exit code 10 if there are differences")
	return cmd
}

func (o *planOptions) run(ctx context.Context, offline bool) error {
	ask := o.online
	if offline {
		ask = o.offline
	}
	plan, err := ask(ctx)
	if err != nil {
		return err
	}
	if err := o.showPlan(plan); err != nil {
		return err
	}
	if o.exitCode && !isEmpty(plan) {
		return &failure{code: ExitDifferent}
	}
	return nil
}

// online has the daemon make the plan.
func (o *planOptions) online(ctx context.Context) (*api.Plan, error) {
	name, text, err := o.read(ctx, o.file)
	if err != nil {
		return nil, err
	}
	daemon, _, err := o.daemon(ctx)
	if err != nil {
		return nil, err
	}
	plan, err := daemon.Plan(ctx, text)
	if err != nil {
		return nil, o.planRefused(ctx, fmt.Errorf("planning %s: %w", name, err), name, text)
	}
	return &plan, nil
}

// offline compares two files.
func (o *planOptions) offline(ctx context.Context) (*api.Plan, error) {
	from, _, err := o.load(ctx, o.against)
	if err != nil {
		return nil, err
	}
	to, warnings, err := o.load(ctx, o.file)
	if err != nil {
		return nil, err
	}
	plan, err := config.Compare(from, to, nil)
	if err != nil {
		return nil, invalid("correct the members, or keep the pool as it is", err)
	}
	told := plan.Wire()
	told.Warnings = config.WireProblems(warnings, strict.Warning)
	return told, nil
}

// read is the text of a configuration and its name in messages.
func (s *session) read(ctx context.Context, file string) (name string, text []byte, err error) {
	if file == "-" {
		name = stdinName
		text, err = readAll(ctx, s.In, maxConfigFile)
	} else {
		name = file
		text, err = readFile(ctx, file, maxConfigFile)
	}
	if err != nil {
		err = fmt.Errorf("reading the configuration: %w", err)
	}
	return name, text, err
}

// load reads and checks a configuration. Where it has errors they are shown.
func (o *planOptions) load(ctx context.Context, file string) (*config.Config, strict.Problems, error) {
	name, text, err := o.read(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	cfg, problems := config.Parse(name, text)
	if problems.Failed() {
		sources := sourceLines{}
		sources.keep(name, text)
		return nil, nil, o.invalidConfig(name, problems, sources)
	}
	return cfg, problems, nil
}

// planRefused shows the problems of a configuration that the daemon does not take. It read the text under the name
// of its own file; people know it by theirs.
func (s *session) planRefused(ctx context.Context, err error, name string, text []byte) error {
	problems := problemsOf(err)
	if len(problems) == 0 {
		return err
	}
	daemon, _, err2 := s.daemon(ctx)
	if err2 != nil {
		return err
	}
	if status, err2 := daemon.Status(ctx); err2 == nil {
		for i := range problems {
			if problems[i].File == status.Config.Source {
				problems[i].File = name
			}
		}
	}
	sources := s.sources(problems)
	sources.keep(name, text)
	return s.invalidConfig(name, problems, sources)
}

// sources are where the lines of the daemon's files come from. A daemon on another machine has files of its own:
// what has their names here is something else, and not shown.
func (s *session) sources(problems strict.Problems) sourceLines {
	sources := sourceLines{}
	if s.chosen.Server != "" {
		for _, p := range problems {
			sources[p.File] = nil
		}
	}
	return sources
}

// invalidConfig shows the problems of a configuration on the standard error: there is no data to go with them.
func (s *session) invalidConfig(name string, problems strict.Problems, sources sourceLines) error {
	if err := writeProblems(s.Err, problems, sources, newProblemStyle(s.Err, s.Getenv)); err != nil {
		return err
	}
	return invalid("see all problems of a file with 'scalwsctl config validate'",
		fmt.Errorf("%s is not a valid configuration: %s", name, summary(1, 1, problems)))
}

// problemsOf are the problems with a place that a refusal holds; nil for other errors.
func problemsOf(err error) strict.Problems {
	problem, ok := errors.AsType[*api.Problem](err)
	if !ok {
		return nil
	}
	var all strict.Problems
	for _, e := range problem.Errors {
		if e.File != "" {
			all = append(all, strict.Problem{Code: e.Code, Severity: strict.Error, File: e.File, Line: e.Line, Column: e.Column, Path: e.Path, Message: e.Detail})
		}
	}
	return all
}

// showPlan prints a plan, and what the configuration is warned of.
func (s *session) showPlan(plan *api.Plan) error {
	if s.isDocument() {
		return s.writeDocument(plan)
	}
	if _, err := io.WriteString(s.Out, planText(plan, newPalette(s.Out, s.Getenv))); err != nil {
		return err
	}
	if out, ok := s.Out.(*output); ok {
		out.flush()
	}
	for _, w := range plan.Warnings {
		fmt.Fprintf(s.Err, "warning: %s\n", printable(fieldErrorText(w)))
	}
	return nil
}

// fieldErrorText is a problem in one line: file:line:column: path: what.
func fieldErrorText(e api.FieldError) string {
	text := e.Detail
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	switch {
	case e.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, text)
	case e.File != "":
		return e.File + ": " + text
	}
	return text
}
