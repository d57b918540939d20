package ctl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scalws/scalws/pkg/api"
)

// change is what is different between two member lists of a pool.
type change struct {
	added      []string
	removed    []string
	reweighted []string
	// reordered is true where the members that stay are in another order.
	reordered bool
}

// compare finds the change from one list to another. Both come from the daemon, so that an address has
// one spelling.
func compare(before, after []api.SetMember) change {
	weights := make(map[string]int, len(before))
	for _, m := range before {
		weights[m.Address] = weightOf(m)
	}
	var c change
	stays := make(map[string]bool, len(after))
	var staysAfter []string
	for _, m := range after {
		weight, was := weights[m.Address]
		if !was {
			c.added = append(c.added, m.Address)
			continue
		}
		stays[m.Address] = true
		staysAfter = append(staysAfter, m.Address)
		if weight != weightOf(m) {
			c.reweighted = append(c.reweighted, fmt.Sprintf("%s from %d to %d", m.Address, weight, weightOf(m)))
		}
	}
	var staysBefore []string
	for _, m := range before {
		if stays[m.Address] {
			staysBefore = append(staysBefore, m.Address)
		} else {
			c.removed = append(c.removed, m.Address)
		}
	}
	c.reordered = !slices.Equal(staysBefore, staysAfter)
	return c
}

// String is the change in one line, "unchanged" where there is none.
func (c change) String() string {
	var parts []string
	for _, p := range []struct {
		verb    string
		members []string
	}{{"added", c.added}, {"removed", c.removed}, {"reweighted", c.reweighted}} {
		if len(p.members) > 0 {
			parts = append(parts, p.verb+" "+listed(p.members))
		}
	}
	if c.reordered {
		parts = append(parts, "reordered")
	}
	if len(parts) == 0 {
		return "unchanged"
	}
	return strings.Join(parts, "; ")
}

// listed names the first entries of a list and counts the rest.
func listed(entries []string) string {
	if len(entries) <= maxListed {
		return strings.Join(entries, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(entries[:maxListed], ", "), len(entries)-maxListed)
}
