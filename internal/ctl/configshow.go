package ctl

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// configShowOptions are "config show".
type configShowOptions struct {
	*session
}

func newConfigShow(s *session) *cobra.Command {
	o := configShowOptions{session: s}
	return &cobra.Command{
		Use:   "show",
		Short: "Show the configuration that the daemon serves",
		Long: `Show the configuration that the daemon serves, with every default filled in and no secrets.

The text is a configuration file: loaded again, it configures the same. Applications of site files stand in
their tenant. Members that were set at run time are not in it; 'scalwsctl upstreams' has them.`,
		Example: `  scalwsctl config show
  scalwsctl config show -o json | jq .upstreams.api`,
		Annotations:       formats(formatYAML, formatJSON),
		Args:              countArgs(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

func (o *configShowOptions) run(ctx context.Context) error {
	daemon, _, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	text, err := daemon.Config(ctx)
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	return o.writeDocument(text)
}
