package ctl

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
)

// maxListFile bounds a file with a member list in bytes: far more than the API takes, so that the
// daemon's limit is the one that people meet, and little enough for memory.
const maxListFile = 16 << 20

// setOptions are "upstreams set".
type setOptions struct {
	*session
	pool     string
	members  []string
	fromFile string
	empty    bool
}

func newSet(s *session) *cobra.Command {
	o := setOptions{session: s}
	cmd := &cobra.Command{
		Use:   "set NAME ADDR[=WEIGHT]...",
		Short: "Replace the whole member list of a pool",
		Long: `Replace the whole member list of a pool that has members_from: api.

The list comes from the arguments or from --from-file. Members that stay keep their connections, load
and health; requests in flight to a removed member finish. The pool as it is then goes to the standard
output, what has changed to the standard error; a repeat of the same list changes nothing and succeeds.

A file holds {"members": [{"address": "...", "weight": 1}]}, the bare list of such members, or one
ADDR[=WEIGHT] a line, where # begins a comment. A weight is a whole number from 1 to 1000, 1 if absent.
In a unix: path that has a "=", the last one begins the weight.`,
		Example: `  scalwsctl upstreams set api 192.0.2.5:8080=2 192.0.2.6:8080
  scalwsctl upstreams set api --from-file members.txt
  scalwsctl upstreams set api --empty`,
		Annotations:       formats(formatTable, formatJSON),
		Args:              countArgs(1, -1, "the name of a pool and its members"),
		ValidArgsFunction: s.completePoolAndMembers,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.pool, o.members = args[0], args[1:]
		if err := o.check(cmd); err != nil {
			return err
		}
		return o.run(cmd.Context(), cmd)
	}
	cmd.Flags().StringVar(&o.fromFile, "from-file", "", "Read the members from this file, - for the standard input")
	cmd.Flags().BoolVar(&o.empty, "empty", false, "Allow an empty list, with which the pool answers 503")
	return cmd
}

// check refuses command lines that say two things or none.
func (o *setOptions) check(cmd *cobra.Command) error {
	fromFile := cmd.Flags().Changed("from-file")
	switch {
	case fromFile && len(o.members) > 0:
		return usage(cmd, "members come from --from-file or from arguments, not from both")
	case fromFile && o.fromFile == "":
		return usage(cmd, "--from-file needs the name of a file, or - for the standard input")
	case o.empty && len(o.members) > 0:
		return usage(cmd, "--empty takes no members, there is %q", o.members[0])
	case !fromFile && !o.empty && len(o.members) == 0:
		return usage(cmd, "'%s' needs members; to take all members away, say --empty", cmd.CommandPath())
	}
	return nil
}

func (o *setOptions) run(ctx context.Context, cmd *cobra.Command) error {
	members, err := o.list(ctx)
	if err != nil {
		return err
	}
	if len(members) == 0 && !o.empty {
		return usage(cmd, "%s has no members; to take all members away, say --empty", o.fromFile)
	}
	daemon, found, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	if found {
		fmt.Fprintf(o.Err, "using the daemon at %s\n", daemon.Socket)
	}
	before, err := daemon.Upstream(ctx, o.pool)
	if err != nil {
		return fmt.Errorf("setting the members of pool %s: %w", o.pool, err)
	}
	after, err := daemon.SetMembers(ctx, o.pool, members)
	if err != nil {
		return o.explain(err, members)
	}
	fmt.Fprintf(o.Err, "%s: %s\n", printable(after.Name), printable(compare(before.Members, after.Members).String()))
	return o.showPool(after)
}

// list is the list that the user gave.
func (o *setOptions) list(ctx context.Context) ([]api.SetMember, error) {
	if o.fromFile == "" {
		return parseMembers(o.members)
	}
	if o.fromFile != "-" {
		text, err := readFile(ctx, o.fromFile, maxListFile)
		if err != nil {
			return nil, fmt.Errorf("reading the members: %w", err)
		}
		return parseMemberFile(o.fromFile, text)
	}
	const name = "standard input"
	text, err := readAll(ctx, o.In, maxListFile)
	if err != nil {
		return nil, fmt.Errorf("reading the members from %s: %w", name, err)
	}
	return parseMemberFile(name, text)
}

// explain adds to a failed call what its user needs to know: which entry of the list a refusal is about,
// or that nobody knows whether the list was replaced.
func (o *setOptions) explain(err error, members []api.SetMember) error {
	f := &failure{err: fmt.Errorf("setting the members of pool %s: %w", o.pool, err)}
	problem, refused := errors.AsType[*api.Problem](err)
	switch {
	case refused && len(problem.Errors) > 0:
		if i, ok := memberIndex(problem.Errors[0].Path); ok && i < len(members) {
			f.hint = fmt.Sprintf("members[%d] is %q; nothing was changed", i, members[i].Address)
		}
	case !refused && classify(err).code != ExitUnreachable:
		f.hint = fmt.Sprintf("the list may have been replaced; look with 'scalwsctl upstreams show %s'", o.pool)
	}
	return f
}

// memberIndex is the N of a path that begins with members[N].
func memberIndex(path string) (int, bool) {
	rest, ok := strings.CutPrefix(path, "members[")
	if !ok {
		return 0, false
	}
	digits, _, ok := strings.Cut(rest, "]")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0
}
