package ctl

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// explainOptions are "upstreams explain".
type explainOptions struct {
	*session
	pool  string
	about client.Asked
}

func newExplain(s *session) *cobra.Command {
	o := explainOptions{session: s}
	cmd := &cobra.Command{
		Use:   "explain NAME",
		Short: "Say which member a request would get now, and why no other",
		Long: `Say which member a request would get now, why no other, and where its retries would go.

A pool that hashes looks at one thing of a request: give it by the flag of that name. Without it the request
is one that does not have it. Nothing is sent to a member and nothing changes; the next request may find
things otherwise.`,
		Example: `  scalwsctl upstreams explain api
  scalwsctl upstreams explain shop --cookie 4f0c5e1d9b7a3c8e2f6d1a0b9c8e7f6d
  scalwsctl upstreams explain web --client-ip 203.0.113.9 -o json`,
		Annotations:       formats(formatTable, formatJSON, formatYAML),
		Args:              countArgs(1, 1, "the name of a pool"),
		ValidArgsFunction: s.completePool,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.pool = args[0]
		for _, name := range []string{"client-ip", "header", "cookie"} {
			if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
				return usage(cmd, "--%s needs a value; leave it out for a request without one", name)
			}
		}
		return o.run(cmd.Context())
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.about.ClientIP, "client-ip", "", "Address of the client, for a pool that hashes client_ip")
	flags.StringVar(&o.about.Header, "header", "", "Value of the header that the pool hashes")
	flags.StringVar(&o.about.Cookie, "cookie", "", "Value of the pool's affinity cookie")
	for _, name := range []string{"client-ip", "header", "cookie"} {
		completeFlag(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

func (o *explainOptions) run(ctx context.Context) error {
	daemon, _, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	e, err := daemon.Explain(ctx, o.pool, o.about)
	if err != nil {
		return fmt.Errorf("explaining pool %s: %w", o.pool, err)
	}
	if o.isDocument() {
		return o.writeDocument(e)
	}
	if err := o.fieldTable(explanationFields(e)); err != nil {
		return err
	}
	if len(e.Others) == 0 {
		return nil
	}
	fmt.Fprintln(o.Out)
	rows := make([][]string, len(e.Others))
	for i, other := range e.Others {
		rows[i] = []string{printable(other.Address), printable(other.Why)}
	}
	columns := []column{{title: "NOT"}, {title: "BECAUSE"}}
	return writeColumns(o.Out, columns, rows, terminalWidth(o.Out, o.Getenv))
}

// explanationFields are an explanation for people.
func explanationFields(e api.Explanation) []field {
	retries := strings.Join(e.Retries, ", ")
	if e.Member == "" {
		return []field{{"Pool", e.Pool}, {"Member", "none: the pool is empty, the answer is 503"}}
	}
	return []field{
		{"Pool", e.Pool},
		{"Revision", fmt.Sprint(e.Revision)},
		{"Key", cmp.Or(e.Key, nothing)},
		{"Member", e.Member},
		{"Because", reason(e.Reason)},
		{"Retries", cmp.Or(retries, "none")},
	}
}

// reason is why a member was chosen, in words.
func reason(r string) string {
	switch r {
	case "affinity":
		return "affinity: the cookie names it"
	case "rendezvous":
		return "rendezvous: the key is its own"
	case "round_robin":
		return "round_robin: it is its turn"
	case "least_conn":
		return "least_conn: it has the fewest requests in flight for its weight"
	case "last_resort":
		return "last_resort: all members are ejected, it for the longest time"
	}
	return r
}
