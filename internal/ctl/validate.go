package ctl

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/internal/strict"
)

// stdinName is the file name of a configuration that came from the standard input.
const stdinName = "<stdin>"

// maxConfigFile bounds a configuration from the standard input in bytes.
const maxConfigFile = 64 << 20

func newConfig(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Check configuration files",
		Example: `  scalwsctl config validate /etc/scalws/scalws.yaml`,
	}
	group(cmd)
	cmd.AddCommand(newValidate(s))
	return cmd
}

// validateOptions are "config validate".
type validateOptions struct {
	*session
	files            []string
	warningsAsErrors bool
}

func newValidate(s *session) *cobra.Command {
	o := validateOptions{session: s}
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check configuration files and show every problem",
		Long: `Check configuration files and show every problem with its place, its path and what to do.

No daemon is needed, nothing is started and no name is resolved; files that a configuration names are
read. A file named - is the standard input. The exit code is 5 if there is an error.`,
		Example: `  scalwsctl config validate /etc/scalws/scalws.yaml
  scalwsctl config validate -o json - < scalws.yaml
  scalwsctl config validate --warnings-as-errors *.yaml`,
		Annotations:       formats(formatText, formatJSON),
		Args:              countArgs(1, -1, "the name of a file, or - for the standard input"),
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.files = args
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.warningsAsErrors, "warnings-as-errors", false, "Fail also if there are only warnings")
	return cmd
}

func (o *validateOptions) run(ctx context.Context) error {
	d := diagnostics{Schema: diagnosticsSchema, Valid: true, Problems: []strict.Problem{}}
	sources := sourceLines{}
	var invalid int
	for _, file := range o.files {
		problems, err := o.check(ctx, file, sources)
		if err != nil {
			return err
		}
		if problems.Failed() || o.warningsAsErrors && len(problems) > 0 {
			invalid++
			d.Valid = false
		}
		d.Problems = append(d.Problems, problems...)
	}

	var err error
	if o.format == formatJSON {
		err = writeJSON(o.Out, d)
	} else {
		err = writeProblems(o.Out, d.Problems, sources)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(o.Err, summary(len(o.files), invalid, d.Problems))
	if !d.Valid {
		return &failure{code: ExitInvalid}
	}
	return nil
}

// check loads one file, as the daemon would. The lines of a standard input are kept in sources: nobody can
// read them again.
func (o *validateOptions) check(ctx context.Context, file string, sources sourceLines) (strict.Problems, error) {
	if file != "-" {
		_, problems := config.Load(file)
		return problems, nil
	}
	text, err := readAll(ctx, o.In, maxConfigFile)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration from the standard input: %w", err)
	}
	sources.keep(stdinName, text)
	_, problems := config.Parse(stdinName, text)
	return problems, nil
}
