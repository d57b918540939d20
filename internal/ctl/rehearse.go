package ctl

import (
	"context"
	"fmt"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// rehearse says what a change would do to the pool as it is now.
func (o *editOptions) rehearse(ctx context.Context, daemon *client.Client, change edit) error {
	now, err := daemon.Upstream(ctx, o.pool)
	if err != nil {
		return o.explain(err, nil)
	}
	list, err := o.list(change, entriesOf(now.Members))
	if err != nil {
		return o.explain(err, list)
	}
	etag := ""
	if o.ifMatch != "" {
		etag = quoted(o.ifMatch)
	}
	would, err := daemon.Rehearse(ctx, o.pool, etag, list)
	if err != nil {
		return o.explain(err, list)
	}
	fmt.Fprintf(o.Err, "%s: dry run, nothing was changed: %s\n", printable(o.pool),
		printable(compare(entriesOf(now.Members), entriesOf(would.WouldBe.Members)).String()))
	return o.showChange(ctx, daemon, would, list)
}

// showChange prints a change: the API's document, the members that there would be, or a table of all members of
// both lists.
func (o *editOptions) showChange(ctx context.Context, daemon *client.Client, would api.Change, list []api.SetMember) error {
	switch {
	case o.isDocument():
		return o.writeDocument(would)
	case o.format == formatName:
		return o.showPool(would.WouldBe)
	}
	columns := []column{
		{title: "CHANGE"},
		{title: "MEMBER", cut: true},
		{title: "WEIGHT", right: true, rank: 1},
		{title: "SHARE", right: true},
		{title: "WOULD BE", right: true},
	}
	if err := writeColumns(o.Out, columns, o.changeRows(would), terminalWidth(o.Out, o.Getenv)); err != nil {
		return err
	}
	return o.showMovement(ctx, daemon, would.WouldBe, list)
}

// changeRows is a row for each member of both lists.
func (o *editOptions) changeRows(would api.Change) [][]string {
	words, weights := map[string]string{}, map[string]string{}
	colours := newPalette(o.Out, o.Getenv)
	for _, m := range would.WouldBe.Members {
		words[m.Address], weights[m.Address] = nothing, fmt.Sprint(m.Weight)
	}
	for _, m := range would.Added {
		words[m.Address] = colours.good("added")
	}
	for _, m := range would.Removed {
		words[m.Address], weights[m.Address] = colours.bad("removed"), fmt.Sprint(m.Weight)
	}
	for _, m := range would.Reweighted {
		words[m.Address], weights[m.Address] = colours.warn("reweighted"), fmt.Sprintf("%d to %d", m.From, m.To)
	}
	rows := make([][]string, len(would.Shares))
	for i, share := range would.Shares {
		rows[i] = []string{words[share.Address], printable(share.Address), weights[share.Address], percent(share.Before), percent(share.After)}
	}
	return rows
}

// showMovement says how many keys of a pool would get another member, where it hashes keys.
func (o *editOptions) showMovement(ctx context.Context, daemon *client.Client, would api.Upstream, list []api.SetMember) error {
	if would.Fingerprint == "" {
		return nil // it is there for pools that hash keys, and for no others
	}
	preview, err := daemon.Preview(ctx, o.pool, list, nil)
	if err != nil {
		return fmt.Errorf("previewing the keys of pool %s: %w", o.pool, err)
	}
	fmt.Fprintf(o.Out, "\n%s\n", movement(preview))
	return nil
}

// movement is a preview in one line.
func movement(p api.Preview) string {
	of := "probe keys"
	if p.Source == "given" {
		of = "keys"
	}
	part := 0.0
	if p.Keys > 0 {
		part = float64(p.Moved) / float64(p.Keys)
	}
	return fmt.Sprintf("%d of %d %s (%s) would get another member", p.Moved, p.Keys, of, percent(part))
}
