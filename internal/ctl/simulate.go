package ctl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/internal/sim"
	"github.com/scalws/scalws/internal/strict"
)

// maxScenario bounds what is read of a scenario in bytes: far more than a scenario may have, so that
// the limit of its text is the one that people meet.
const maxScenario = 64 << 20

// simulateOptions are "simulate".
type simulateOptions struct {
	*session
	file  string
	ascii bool
}

func newSimulate(s *session) *cobra.Command {
	o := simulateOptions{session: s}
	cmd := &cobra.Command{
		Use:   "simulate SCENARIO",
		Short: "Play a load and failures with the real engine, in seconds",
		Long: `Play a load and a script of failures with the engine that serves traffic, under a clock of its own.

The report says who got which requests, when members were ejected, what clients saw and what retries
cost. The same scenario always gives the same report. No daemon is needed. A scenario named - is the
standard input. The exit code is 5 if the scenario has problems or an expectation of it does not hold.`,
		Example: `  scalwsctl simulate examples/simulate/hang.yaml
  scalwsctl simulate -o json - < scenario.yaml`,
		Annotations:       formats(formatText, formatJSON),
		Args:              countArgs(1, 1, "the name of a scenario, or - for the standard input"),
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.ascii, "ascii", false, "Draw with plain characters")
	return cmd
}

// saySimulating is after how long a run says that it is under way.
const saySimulating = time.Second

func (o *simulateOptions) run(ctx context.Context) error {
	sources := sourceLines{}
	scenario, err := o.load(ctx, sources)
	if problems, ok := errors.AsType[strict.Problems](err); ok {
		if err := writeProblems(o.Err, problems, sources, newProblemStyle(o.Err, o.Getenv)); err != nil {
			return err
		}
		return &failure{code: ExitInvalid}
	}
	if err != nil {
		return err
	}
	if isTerminal(o.Err) {
		say := time.AfterFunc(saySimulating, func() { fmt.Fprintf(o.Err, "simulating %s ...\n", o.file) })
		defer say.Stop()
	}
	report, err := scenario.Run(ctx)
	if err != nil {
		return err
	}
	if o.format == formatJSON {
		err = writeJSON(o.Out, report)
	} else {
		err = report.WriteText(o.Out, sim.Style{ASCII: o.ascii})
	}
	if err == nil && len(report.Failed()) > 0 {
		return &failure{code: ExitInvalid}
	}
	return err
}

func (o *simulateOptions) load(ctx context.Context, sources sourceLines) (*sim.Scenario, error) {
	if o.file != "-" {
		text, err := readFile(ctx, o.file, maxScenario)
		if err != nil {
			return nil, fmt.Errorf("reading the scenario: %w", err)
		}
		return sim.Parse(o.file, text)
	}
	text, err := readAll(ctx, o.In, maxScenario)
	if err != nil {
		return nil, fmt.Errorf("reading the scenario from the standard input: %w", err)
	}
	sources.keep(stdinName, text)
	return sim.Parse(stdinName, text)
}
