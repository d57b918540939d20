package ctl

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
)

// poolFormats are those of the commands that show pools.
func poolFormats() map[string]string {
	return formats(formatTable, formatWide, formatJSON, formatYAML, formatName)
}

// listOptions are "upstreams" and "upstreams list".
type listOptions struct {
	*session
}

func newList(s *session) *cobra.Command {
	o := listOptions{session: s}
	return &cobra.Command{
		Use:   "list",
		Short: "List every pool with its members and their state",
		Long: `List every pool with its members and their state.

SHARE is a member's part of the requests by weight; it knows nothing of ejections. FAILURES counts those
since the last success. A terminal that is too narrow loses columns, the least important first; into a file
or a pipe all are written. The format name has the names of the pools, wide more columns.`,
		Example: `  scalwsctl upstreams list
  scalwsctl upstreams list | grep ejected`,
		Annotations:       poolFormats(),
		Args:              countArgs(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

func (o *listOptions) run(ctx context.Context) error {
	daemon, _, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	pools, err := daemon.Upstreams(ctx)
	if err != nil {
		return fmt.Errorf("listing the pools: %w", err)
	}
	if o.isDocument() {
		return o.writeDocument(api.Upstreams{Upstreams: pools})
	}
	if o.format == formatName {
		for _, pool := range pools {
			fmt.Fprintln(o.Out, printable(pool.Name))
		}
		return nil
	}
	if len(pools) == 0 {
		fmt.Fprintln(o.Err, "there are no pools")
		return nil
	}
	columns := append(poolColumns(), o.memberColumns()...)
	if o.format == formatWide {
		columns = append(columns, widePoolColumns()...)
	}
	return o.memberTable(columns, pools)
}
