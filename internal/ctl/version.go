package ctl

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionDocument is "version -o json".
type versionDocument struct {
	Schema string `json:"schema"`
	// Version of the release or of the module, "(devel)" for a build from a working tree.
	Version string `json:"version"`
	// Commit is absent where the build does not know it.
	Commit string `json:"commit,omitempty"`
	// Modified is true for a build from a working tree with changes.
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go,omitempty"`
}

func newVersion(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of scalwsctl",
		Long:  `Print the version of scalwsctl. No daemon is needed; its version is in "scalwsctl status".`,
		Example: `  scalwsctl version
  scalwsctl version -o json`,
		Annotations:       formats(formatText, formatJSON),
		Args:              countArgs(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			doc := versionOf(s.Version, s.Build)
			if s.format == formatJSON {
				return writeJSON(s.Out, doc)
			}
			_, err := fmt.Fprintln(s.Out, doc)
			return err
		},
	}
}

// versionOf is the version of a release, empty for none, with what the build says about itself.
func versionOf(release string, build *debug.BuildInfo) versionDocument {
	doc := versionDocument{Schema: "scalws.version/1", Version: cmp.Or(release, "unknown")}
	if build == nil {
		return doc
	}
	doc.Version = cmp.Or(release, build.Main.Version, doc.Version)
	doc.Go = build.GoVersion
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			doc.Commit = setting.Value
		case "vcs.modified":
			doc.Modified = setting.Value == "true"
		}
	}
	return doc
}

// String is the version in one line.
func (d versionDocument) String() string {
	text := "scalwsctl " + d.Version
	if d.Commit != "" {
		text += " " + d.Commit
	}
	if d.Modified {
		text += " (modified)"
	}
	if d.Go != "" {
		text += " " + d.Go
	}
	return text
}
