package ctl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// output is the standard output. Writing never fails for a command, so that what the command did decides
// how it ends; whether everything arrived is asked once, at the end.
type output struct {
	to  io.Writer // the stream itself, for what wants to know whether it is a terminal
	buf *bufio.Writer
	err error
}

func newOutput(to io.Writer) *output {
	return &output{to: to, buf: bufio.NewWriterSize(to, 32<<10)}
}

func (o *output) Write(p []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.buf.Write(p)
	}
	return len(p), nil
}

// flush writes what is there, before something is said on the standard error: on a terminal one follows the
// other.
func (o *output) flush() {
	if o.err == nil {
		o.err = o.buf.Flush()
	}
}

// failed is true once something got lost: a command that goes on and on has nobody left to write for.
func (o *output) failed() bool { return o.err != nil }

// close writes what is left and says whether something got lost. A reader that stopped early got what
// it wanted: that is no failure.
func (o *output) close() error {
	o.flush()
	if o.err == nil || errors.Is(o.err, syscall.EPIPE) || errors.Is(o.err, io.ErrClosedPipe) {
		return nil
	}
	return &failure{
		code: ExitFailed,
		err:  fmt.Errorf("writing the output: %w", o.err),
		hint: "the output is incomplete; the command itself was carried out",
	}
}

// isTerminal is true if a person is looking at the stream.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// formatsKey is the annotation of a command with the formats that it knows, the default first.
const formatsKey = "formats"

// The formats of -o.
const (
	formatTable = "table"
	formatText  = "text"
	formatJSON  = "json"
	formatYAML  = "yaml"
	// formatWide is a table with more columns, formatName the names alone, one a line.
	formatWide = "wide"
	formatName = "name"
	// formatSARIF and formatGitHub are those of "config validate" for machines that show problems to people.
	formatSARIF  = "sarif"
	formatGitHub = "github"
)

// allFormats are those of all commands.
func allFormats() []string {
	return []string{formatTable, formatText, formatJSON, formatYAML, formatWide, formatName, formatSARIF, formatGitHub}
}

// formats makes the annotation. A command without it has no -o.
func formats(names ...string) map[string]string {
	return map[string]string{formatsKey: strings.Join(names, " ")}
}

// formatsOf are the formats that a command knows.
func formatsOf(cmd *cobra.Command) []string {
	return strings.Fields(cmd.Annotations[formatsKey])
}

// chooseFormat decides the format of a command: the flag, which must be one of the command's own, then
// the environment, which is a preference and counts where the command knows it, then the default.
func chooseFormat(cmd *cobra.Command, flag, env string) (string, error) {
	known := formatsOf(cmd)
	if cmd.Flags().Changed("output") {
		if len(known) == 0 {
			return "", usage(cmd, "'%s' has no output formats", cmd.CommandPath())
		}
		if !slices.Contains(known, flag) {
			return "", usage(cmd, "output format %q is not known to '%s'; it has %s",
				flag, cmd.CommandPath(), strings.Join(known, ", "))
		}
		return flag, nil
	}
	if env != "" && !slices.Contains(allFormats(), env) {
		return "", usage(cmd, "output format %q in SCALWSCTL_OUTPUT is not known", env)
	}
	if slices.Contains(known, env) {
		return env, nil
	}
	if len(known) == 0 {
		return "", nil
	}
	return known[0], nil
}
