package ctl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
	"github.com/scalws/scalws/pkg/lb"
)

// maxListFile bounds a file with a member list in bytes: far more than the API takes, so that the
// daemon's limit is the one that people meet, and little enough for memory.
const maxListFile = 16 << 20

// membersHelp is what the commands that change a list have in common.
const membersHelp = `The members come from the arguments or from --from-file. The pool as it is then goes to the standard output,
what has changed to the standard error; a repeat changes nothing, says "unchanged" and succeeds. With
--dry-run nothing changes: the output is what would change, the share of each member before and after, and
for a pool that hashes a header or client addresses how many keys would move.

A file holds {"members": [{"address": "...", "weight": 1}]}, the bare list of such members, or one
ADDR[=WEIGHT] a line, where # begins a comment. A weight is a whole number from 1 to 1000, 1 if absent.
In a unix: path that has a "=", the last one begins the weight.`

// editOptions are those of the commands that change a member list.
type editOptions struct {
	*session
	pool     string
	args     []string
	fromFile string
	dryRun   bool
	ifMatch  string
	// empty allows a list to become empty; whole is true where the given members are the list.
	empty, whole bool
}

// edit makes the list that a pool is to have of the one that it has. It may be called several times.
type edit func(now []api.SetMember) ([]api.SetMember, error)

// attach gives a command the flags and the run that changes have in common. What is its own is the edit that it
// makes of the members that the user gave.
func (o *editOptions) attach(cmd *cobra.Command, makeEdit func(given []api.SetMember) (edit, error)) {
	cmd.Long += "\n\n" + membersHelp
	cmd.Annotations = poolFormats()
	cmd.Args = countArgs(1, -1, "the name of a pool and its members")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.pool, o.args = args[0], args[1:]
		if err := o.check(cmd); err != nil {
			return err
		}
		given, err := o.given(cmd.Context())
		if err != nil {
			return err
		}
		if len(given) == 0 && !o.mayGiveNone() {
			return usage(cmd, "%s has no members%s", o.fromFile, o.emptyHint())
		}
		change, err := makeEdit(given)
		if err != nil {
			return err
		}
		return o.run(cmd.Context(), change, given)
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.fromFile, "from-file", "", "Read the members from this file, - for the standard input")
	flags.BoolVar(&o.dryRun, "dry-run", false, "Change nothing and show what would change")
	flags.StringVar(&o.ifMatch, "if-match", "", "Change the pool only if it still has this ETag")
	completeFlag(cmd, "if-match", cobra.NoFileCompletions)
}

// attachEmpty gives a command the flag without which it leaves no pool empty.
func (o *editOptions) attachEmpty(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.empty, "empty", false, "Allow an empty list, with which the pool answers 503")
}

// check refuses command lines that say two things or none.
func (o *editOptions) check(cmd *cobra.Command) error {
	fromFile := cmd.Flags().Changed("from-file")
	switch {
	case fromFile && len(o.args) > 0:
		return usage(cmd, "members come from --from-file or from arguments, not from both")
	case fromFile && o.fromFile == "":
		return usage(cmd, "--from-file needs the name of a file, or - for the standard input")
	case cmd.Flags().Changed("if-match") && o.ifMatch == "":
		return usage(cmd, "--if-match needs the ETag of the pool; 'scalwsctl upstreams show %s -o wide' has it", o.pool)
	case o.whole && o.empty && len(o.args) > 0:
		return usage(cmd, "--empty takes no members, there is %q", o.args[0])
	case !fromFile && len(o.args) == 0 && !o.mayGiveNone():
		return usage(cmd, "'%s' needs members%s", cmd.CommandPath(), o.emptyHint())
	}
	return nil
}

// mayGiveNone is true where no member at all is what the user said.
func (o *editOptions) mayGiveNone() bool { return o.whole && o.empty }

func (o *editOptions) emptyHint() string {
	if o.whole {
		return "; to take all members away, say --empty"
	}
	return ""
}

// given are the members that the user gave.
func (o *editOptions) given(ctx context.Context) ([]api.SetMember, error) {
	if o.fromFile == "" {
		return parseMembers(o.args)
	}
	return o.readMembers(ctx, o.fromFile)
}

// readMembers reads a list from a file, or from the standard input if its name is -.
func (s *session) readMembers(ctx context.Context, name string) ([]api.SetMember, error) {
	if name != "-" {
		text, err := readFile(ctx, name, maxListFile)
		if err != nil {
			return nil, fmt.Errorf("reading the members: %w", err)
		}
		return parseMemberFile(name, text)
	}
	const stdin = "standard input"
	text, err := readAll(ctx, s.In, maxListFile)
	if err != nil {
		return nil, fmt.Errorf("reading the members from %s: %w", stdin, err)
	}
	return parseMemberFile(stdin, text)
}

// run carries a change out, or rehearses it.
func (o *editOptions) run(ctx context.Context, change edit, given []api.SetMember) error {
	daemon, found, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	if o.dryRun {
		return o.rehearse(ctx, daemon, change)
	}
	if found {
		fmt.Fprintf(o.Err, "using the daemon at %s\n", daemon.Socket)
	}
	var before, wanted []api.SetMember
	remember := func(now []api.SetMember) ([]api.SetMember, error) {
		before = slices.Clone(now)
		var err error
		wanted, err = o.list(change, now)
		return wanted, err
	}
	after, err := o.put(ctx, daemon, remember)
	if err != nil {
		return o.explain(err, wanted)
	}
	fmt.Fprintf(o.Err, "%s: %s\n", printable(after.Name), printable(compare(before, entriesOf(after.Members)).String()))
	return o.showPool(after)
}

// put reads, edits and sets the list: as often as somebody else comes between, or, with --if-match, once.
func (o *editOptions) put(ctx context.Context, daemon *client.Client, change edit) (api.Upstream, error) {
	if o.ifMatch == "" {
		return daemon.EditMembers(ctx, o.pool, change)
	}
	now, err := daemon.Upstream(ctx, o.pool)
	if err != nil {
		return api.Upstream{}, err
	}
	list, err := change(entriesOf(now.Members))
	if err != nil {
		return api.Upstream{}, err
	}
	return daemon.SetMembersIf(ctx, o.pool, quoted(o.ifMatch), list)
}

// list is what a change makes of a list. It does not take the last member away unasked.
func (o *editOptions) list(change edit, now []api.SetMember) ([]api.SetMember, error) {
	list, err := change(slices.Clone(now))
	if err == nil && len(list) == 0 && len(now) > 0 && !o.empty {
		err = &failure{
			code: ExitUsage,
			err:  fmt.Errorf("no member of pool %s would be left", o.pool),
			hint: "to take all members away, say --empty",
		}
	}
	return list, err
}

// quoted is an ETag with the quotes that shells take away (RFC 9110 section 8.8.3). "*" is none.
func quoted(etag string) string {
	if etag == "*" || strings.HasSuffix(etag, `"`) {
		return etag
	}
	return `"` + etag + `"`
}

// entriesOf is a list as it is set.
func entriesOf(members []api.Member) []api.SetMember {
	list := make([]api.SetMember, len(members))
	for i := range members {
		list[i] = api.SetMember{Address: members[i].Address, Weight: &members[i].Weight}
	}
	return list
}

// weightOf is the weight of an entry.
func weightOf(m api.SetMember) int {
	if m.Weight == nil {
		return api.MinWeight
	}
	return *m.Weight
}

// canonical is an address as the daemon writes it, so that it is found in a list whatever its spelling. One that
// is none stays as it is: the daemon says what is wrong with it.
func canonical(address string) string {
	if c, err := lb.ParseAddress(address); err == nil {
		return c
	}
	return address
}

// places are where the addresses of a list are.
func places(list []api.SetMember) map[string]int {
	at := make(map[string]int, len(list))
	for i, m := range list {
		at[m.Address] = i
	}
	return at
}

// explain adds to a failed call what its user needs to know: which entry of the list a refusal is about,
// or that nobody knows whether the list was replaced.
func (o *editOptions) explain(err error, list []api.SetMember) error {
	f := &failure{err: fmt.Errorf("setting the members of pool %s: %w", o.pool, err)}
	if own, ok := errors.AsType[*failure](err); ok {
		return own // found here and not by the daemon
	}
	problem, refused := errors.AsType[*api.Problem](err)
	switch {
	case refused && len(problem.Errors) > 0:
		if i, ok := memberIndex(problem.Errors[0].Path); ok && i < len(list) {
			f.hint = fmt.Sprintf("members[%d] is %q; nothing was changed", i, list[i].Address)
		}
	case refused && problem.Code == api.CodePreconditionFailed:
		f.hint = fmt.Sprintf("nothing was changed; look at the pool with 'scalwsctl upstreams show %s -o wide' and decide again", o.pool)
	case !refused && classify(err).code != ExitUnreachable && !o.dryRun:
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
