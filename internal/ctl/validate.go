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

// validateOptions are "config validate".
type validateOptions struct {
	*session
	args             []string
	warningsAsErrors bool
}

func newValidate(s *session) *cobra.Command {
	o := validateOptions{session: s}
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check configuration files and show every problem",
		Long: `Check configuration files and show every problem with its place, its path and what to do.

No daemon is needed, nothing is started and no name is resolved; files that a configuration names are
read. A file named - is the standard input. A folder stands for the configurations below it: the files
whose names end in .yaml or .yml and that have the key server or upstreams at the beginning of a line;
hidden folders are passed over. Site files are checked with the file that names them.

The format sarif is SARIF 2.1.0, github the annotations of GitHub Actions. The exit code is 5 if there is
an error.`,
		Example: `  scalwsctl config validate /etc/scalws/scalws.yaml
  scalwsctl config validate -o json - < scalws.yaml
  scalwsctl config validate --warnings-as-errors deploy/`,
		Annotations:       formats(formatText, formatJSON, formatSARIF, formatGitHub),
		Args:              countArgs(1, -1, "the name of a file or a folder, or - for the standard input"),
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.args = args
		return o.run(cmd.Context(), cmd)
	}
	cmd.Flags().BoolVar(&o.warningsAsErrors, "warnings-as-errors", false, "Fail also if there are only warnings")
	return cmd
}

func (o *validateOptions) run(ctx context.Context, cmd *cobra.Command) error {
	files, err := configFiles(o.args)
	if err != nil {
		return err
	}
	d := diagnostics{Schema: diagnosticsSchema, Valid: true, Problems: []strict.Problem{}}
	sources := sourceLines{}
	var invalid int
	fromStdin := false
	for _, file := range files {
		if file == "-" && fromStdin {
			return usage(cmd, "the standard input can be read once: there are two -")
		}
		fromStdin = fromStdin || file == "-"
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

	if err := o.write(d, sources); err != nil {
		return err
	}
	if out, ok := o.Out.(*output); ok {
		out.flush()
	}
	fmt.Fprintln(o.Err, summary(len(files), invalid, d.Problems))
	if !d.Valid {
		return &failure{code: ExitInvalid}
	}
	return nil
}

// write prints what was found in the format that was asked for.
func (o *validateOptions) write(d diagnostics, sources sourceLines) error {
	switch o.format {
	case formatJSON:
		return writeJSON(o.Out, d)
	case formatSARIF:
		return writeJSON(o.Out, sarifLog(d.Problems, versionOf(o.Version, o.Build).Version))
	case formatGitHub:
		return writeAnnotations(o.Out, d.Problems)
	}
	return writeProblems(o.Out, d.Problems, sources, newProblemStyle(o.Out, o.Getenv))
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
