package ctl

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

//go:generate go run ./gen ../..

// WriteCompletion writes the completion script of a shell for the tree below root.
func WriteCompletion(w io.Writer, root *cobra.Command, shell string) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return fmt.Errorf("writing completions: there is no shell %q", shell)
}
