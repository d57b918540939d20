package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// maxListed is how many entries of a list a message names before it only counts.
const maxListed = 5

// failure is an error that knows more than its text.
type failure struct {
	// code is the exit code; 0 leaves it to the cause.
	code int
	// err is what happened; nil where the command has said it already.
	err error
	// hint is what to do; empty leaves it to the cause.
	hint string
}

func (f *failure) Error() string {
	if f.err == nil {
		return "exit code " + strconv.Itoa(f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// usage is a wrong command line of cmd.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return &failure{
		code: ExitUsage,
		err:  fmt.Errorf(format, args...),
		hint: fmt.Sprintf("see '%s --help'", cmd.CommandPath()),
	}
}

// invalid is an input that is wrong in itself, found before anybody was asked.
func invalid(hint string, err error) error {
	return &failure{code: ExitInvalid, err: err, hint: hint}
}

// interrupted is how a run ends that its user ended. A hint that says what may have happened meanwhile
// stays.
func interrupted(err error) error {
	f := &failure{code: ExitInterrupted, err: errors.New("interrupted")}
	if was, ok := errors.AsType[*failure](err); ok {
		f.hint = was.hint
	}
	return f
}

// report prints an error in two lines, what happened and what to do, and returns its exit code. No
// error prints nothing.
func report(w io.Writer, err error) int {
	if err == nil {
		return ExitDone
	}
	f := classify(err)
	if f.err == nil {
		return f.code
	}
	fmt.Fprintf(w, "error: %s\n", printable(f.err.Error()))
	if problem, ok := errors.AsType[*api.Problem](err); ok {
		reportMore(w, problem)
	}
	if f.hint != "" {
		fmt.Fprintf(w, "hint:  %s\n", printable(f.hint))
	}
	return f.code
}

// reportMore prints the wrong entries of a list beyond the one that the problem's detail names.
func reportMore(w io.Writer, problem *api.Problem) {
	for i, e := range problem.Errors {
		if i == 0 {
			continue
		}
		if i > maxListed {
			fmt.Fprintf(w, "       and %d more\n", len(problem.Errors)-i)
			return
		}
		fmt.Fprintf(w, "       %s\n", printable(fieldErrorText(e)))
	}
}

// classify finds the exit code and the hint of an error, as far as they are not set already.
func classify(err error) failure {
	f := failure{}
	if was, ok := errors.AsType[*failure](err); ok {
		f = *was
		if f.err == nil {
			return f
		}
	}
	f.err = err

	code, hint := ExitFailed, ""
	if problem, ok := errors.AsType[*api.Problem](err); ok {
		code, hint = exitOfStatus(problem.Status), problemHint(problem)
	} else if unreachable, ok := errors.AsType[*client.Unreachable](err); ok {
		code, hint = ExitUnreachable, unreachableHint(unreachable)
	} else if file, ok := errors.AsType[*fs.PathError](err); ok {
		hint = fileHint(file)
	} else if errors.Is(err, context.DeadlineExceeded) {
		code, hint = ExitTimeout, "the daemon is there but slow; give it more time with --request-timeout"
	}
	if f.code == 0 {
		f.code = code
	}
	if f.hint == "" {
		f.hint = hint
	}
	return f
}

// problemHint is what to do about a refusal.
func problemHint(problem *api.Problem) string {
	switch problem.Code {
	case api.CodePoolNotFound:
		return "see the pools with 'scalwsctl upstreams'"
	case api.CodeMembersFromFile:
		return "change the members in the configuration file and reload, or give the pool members_from: api"
	case api.CodeNoRuntimeMembers:
		return "members cannot change at run time here: use members_from: file and reload"
	case api.CodeInvalidMembers, api.CodeInvalidBody:
		return "nothing was changed; correct the list and run the command again"
	case api.CodeBodyTooLarge:
		return fmt.Sprintf("nothing was changed; a list has at most %d bytes of JSON", api.MaxBody)
	case api.CodeNoKeys:
		return "only pools that hash a header or client_ip lead keys to members; see 'scalwsctl upstreams'"
	case api.CodePreconditionFailed:
		return "nothing was changed; read the pool again and decide again"
	case api.CodeInternal:
		return "the daemon's log says more"
	case "":
		return "is that the admin socket of scalwsd? see 'scalwsctl status'"
	}
	if problem.Status == http.StatusForbidden {
		return "ask for a role that may do this"
	}
	return ""
}

// fileHint is what to do about a file that cannot be read or written.
func fileHint(err *fs.PathError) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "check the name: a relative one is looked for in this folder"
	case errors.Is(err, fs.ErrPermission):
		return "check who may read and write it, and its folder"
	}
	return ""
}

// printable is a text as one line that a terminal shows and does not obey: what is neither a printing
// character nor a space is escaped.
func printable(text string) string {
	harmless := func(r rune) bool { return unicode.IsPrint(r) && r != unicode.ReplacementChar }
	if strings.IndexFunc(text, func(r rune) bool { return !harmless(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if harmless(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
