package ctl

import "github.com/spf13/cobra"

// newConfig holds the commands about configuration files.
func newConfig(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Check configuration files",
		Example: `  scalwsctl config validate /etc/scalws/scalws.yaml`,
	}
	group(cmd)
	cmd.AddCommand(newValidate(s), newSchema(s))
	return cmd
}
