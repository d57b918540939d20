package ctl

import "github.com/spf13/cobra"

// newConfig holds the commands about configuration files.
func newConfig(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check, plan and show configurations",
		Example: `  scalwsctl config validate /etc/scalws/scalws.yaml
  scalwsctl config plan new.yaml`,
	}
	group(cmd)
	cmd.AddCommand(newValidate(s), newPlan(s), newConfigShow(s), newSchema(s))
	return cmd
}
