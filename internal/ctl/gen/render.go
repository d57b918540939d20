package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/scalws/scalws/internal/ctl"
)

// folders are those that hold generated files only.
func folders() []string { return []string{"completions", "man"} }

// render makes all files, by their path in the repository. It is a function of the command tree alone:
// no date, no environment.
func render() (map[string][]byte, error) {
	root := ctl.NewRoot(ctl.System{
		In: strings.NewReader(""), Out: os.Stdout, Err: os.Stderr,
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return time.Time{} },
	})
	files := make(map[string][]byte)
	for _, shell := range ctl.Shells() {
		var script bytes.Buffer
		if err := ctl.WriteCompletion(&script, root, shell); err != nil {
			return nil, fmt.Errorf("writing the completions of %s: %w", shell, err)
		}
		files["completions/"+completionFile(shell)] = script.Bytes()
	}
	if err := renderMan(files, root); err != nil {
		return nil, err
	}
	return files, nil
}

// completionFile is the name under which a shell looks for the completions of scalwsctl.
func completionFile(shell string) string {
	switch shell {
	case "zsh":
		return "_scalwsctl"
	case "powershell":
		return "scalwsctl.ps1"
	}
	return "scalwsctl." + shell
}

// renderMan makes a page for a command and for all below it. Help topics are sections of their parent's
// page.
func renderMan(files map[string][]byte, cmd *cobra.Command) error {
	for _, c := range cmd.Commands() {
		switch {
		case c.IsAdditionalHelpTopicCommand():
			cmd.Long += "\n\n# " + strings.ToUpper(strings.ReplaceAll(c.Name(), "-", " ")) + "\n\n" + c.Long
		case c.IsAvailableCommand():
			if err := renderMan(files, c); err != nil {
				return err
			}
		}
	}
	var page bytes.Buffer
	header := doc.GenManHeader{Section: "1", Source: "ScalWS", Manual: "ScalWS Manual", Date: &time.Time{}}
	if err := doc.GenMan(cmd, &header, &page); err != nil {
		return fmt.Errorf("writing the man page of %s: %w", cmd.CommandPath(), err)
	}
	// A page is as new as the program; the zero date stands for none.
	text := bytes.Replace(page.Bytes(), []byte(`"Jan 0001"`), []byte(`""`), 1)
	text = tagFlags(text)
	files["man/"+strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"] = text
	return nil
}

// tagFlags makes tagged paragraphs of the flags of a page, which come as paragraphs with a tab in them: man shows
// a tab as wide as it likes. A flag that takes a value says so, and not that it is empty without one.
func tagFlags(page []byte) []byte {
	flag := regexp.MustCompile(`(?m)^(?:\.PP\n)?(\\fB-.*)\n\t(.*)\n$`)
	page = flag.ReplaceAll(page, []byte(".TP\n$1\n$2"))
	value := regexp.MustCompile(`(?m)^(\\fB-.*\\fP)=""$`)
	page = value.ReplaceAll(page, []byte(`$1=\fIVALUE\fP`))
	return bytes.ReplaceAll(page, []byte("[=false]"), nil)
}
