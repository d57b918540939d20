package ctl

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
)

// previewOptions are "upstreams preview".
type previewOptions struct {
	*session
	pool     string
	args     []string
	fromFile string
	keys     string
}

func newPreview(s *session) *cobra.Command {
	o := previewOptions{session: s}
	cmd := &cobra.Command{
		Use:   "preview NAME ADDR[=WEIGHT]...",
		Short: "Say how many keys of a pool another member list would move",
		Long: `Say how many keys of a pool another member list would move, from whom to whom. Nothing changes.

The pool hashes a header or client addresses. Without --keys the daemon takes 65,536 fixed probes; a file of
keys has one a line, values of the header or addresses. With thousands of members it takes seconds: give it
time with --request-timeout.`,
		Example: `  scalwsctl upstreams preview web 192.0.2.5:8080=2 192.0.2.6:8080
  scalwsctl upstreams preview web --from-file members.txt --keys clients.txt`,
		Annotations:       formats(formatTable, formatJSON, formatYAML),
		Args:              countArgs(1, -1, "the name of a pool and its members"),
		ValidArgsFunction: s.completePoolAndMembers,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.pool, o.args = args[0], args[1:]
		switch fromFile := cmd.Flags().Changed("from-file"); {
		case fromFile == (len(o.args) > 0):
			return usage(cmd, "'%s' needs members: from --from-file or from arguments, and not from both", cmd.CommandPath())
		case o.fromFile == "-" && o.keys == "-":
			return usage(cmd, "the standard input can be read once: there are two -")
		}
		return o.run(cmd.Context(), cmd)
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.fromFile, "from-file", "", "Read the members from this file, - for the standard input")
	flags.StringVar(&o.keys, "keys", "", "Read the keys from this file, one a line, - for the standard input")
	return cmd
}

func (o *previewOptions) run(ctx context.Context, cmd *cobra.Command) error {
	var members []api.SetMember
	var err error
	if o.fromFile != "" {
		members, err = o.readMembers(ctx, o.fromFile)
	} else {
		members, err = parseMembers(o.args)
	}
	if err != nil {
		return err
	}
	var keys []string
	if cmd.Flags().Changed("keys") {
		if keys, err = o.readKeys(ctx); err != nil {
			return err
		}
	}
	daemon, _, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	p, err := daemon.Preview(ctx, o.pool, members, keys)
	if err != nil {
		return fmt.Errorf("previewing the keys of pool %s: %w", o.pool, err)
	}
	if o.isDocument() {
		return o.writeDocument(p)
	}
	fmt.Fprintln(o.Out, movement(p))
	if p.Moved == 0 {
		return nil
	}
	fmt.Fprintln(o.Out)
	columns := []column{{title: "MEMBER", cut: true}, {title: "LOSES", right: true}, {title: "GETS", right: true}}
	return writeColumns(o.Out, columns, movedRows(p), terminalWidth(o.Out, o.Getenv))
}

// readKeys reads one key a line. An empty line is no key.
func (o *previewOptions) readKeys(ctx context.Context) ([]string, error) {
	var text []byte
	var err error
	if o.keys == "-" {
		text, err = readAll(ctx, o.In, maxListFile)
	} else {
		text, err = readFile(ctx, o.keys, maxListFile)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the keys: %w", err)
	}
	var keys []string
	for line := range bytes.Lines(text) {
		if key := bytes.TrimRight(line, "\r\n"); len(key) > 0 {
			keys = append(keys, string(key))
		}
	}
	if len(keys) == 0 {
		return nil, invalid("a file of keys has one a line; without --keys the daemon takes its own", fmt.Errorf("there are no keys in %s", o.keys))
	}
	return keys, nil
}

// movedRows is a row for each member that keys leave or come to, by its address.
func movedRows(p api.Preview) [][]string {
	touched := maps.Clone(p.From)
	if touched == nil {
		touched = map[string]int{}
	}
	maps.Copy(touched, p.To)
	var rows [][]string
	for _, address := range slices.Sorted(maps.Keys(touched)) {
		rows = append(rows, []string{printable(address), fmt.Sprint(p.From[address]), fmt.Sprint(p.To[address])})
	}
	return rows
}
