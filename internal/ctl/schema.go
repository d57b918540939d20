package ctl

import (
	"github.com/spf13/cobra"

	"github.com/scalws/scalws/internal/config"
)

// newSchema is "config schema".
func newSchema(s *session) *cobra.Command {
	var site bool
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration file",
		Long: `Print the JSON Schema of the configuration file (draft 2020-12), for editors.

It has every key with its meaning, its default and its bounds. It takes every file that is valid and lets
some pass that are not: a schema cannot compare values. "scalwsctl config validate" has the last word.`,
		Example: `  scalwsctl config schema > scalws.schema.json
  scalwsctl config schema --site > site.schema.json`,
		Annotations:       formats(formatJSON),
		Args:              countArgs(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if site {
				return writeJSON(s.Out, config.SiteSchema())
			}
			return writeJSON(s.Out, config.Schema())
		},
	}
	cmd.Flags().BoolVar(&site, "site", false, "Print the schema of site files")
	return cmd
}
