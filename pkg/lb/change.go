package lb

// Change is the difference between two member lists.
type Change struct {
	// Revision of the pool after the change.
	Revision   uint64
	Added      []Member
	Removed    []Member
	Reweighted []Reweight
	// Unchanged members are in both lists with one weight.
	Unchanged int
}

// Reweight is a member that got another weight.
type Reweight struct {
	Address  string
	From, To int
}

// Empty reports whether no member was added, removed or reweighted.
func (c Change) Empty() bool {
	return len(c.Added) == 0 && len(c.Removed) == 0 && len(c.Reweighted) == 0
}

// Diff says what replacing one list by another would change. Both are canonical and checked. The order
// of members is not part of it.
func Diff(from, to []Member) Change {
	var c Change
	weights := make(map[string]int, len(from))
	for _, m := range from {
		weights[m.Address] = m.Weight
	}
	for _, m := range to {
		switch w, ok := weights[m.Address]; {
		case !ok:
			c.Added = append(c.Added, m)
		case w != m.Weight:
			c.Reweighted = append(c.Reweighted, Reweight{Address: m.Address, From: w, To: m.Weight})
		default:
			c.Unchanged++
		}
		delete(weights, m.Address)
	}
	for _, m := range from {
		if _, gone := weights[m.Address]; gone {
			c.Removed = append(c.Removed, m)
		}
	}
	return c
}
