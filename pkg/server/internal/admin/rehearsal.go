package admin

import (
	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// rehearsed is what a change would do in the API's words; after is the pool as it would be.
func rehearsed(c lb.Change, after PoolView) api.Change {
	out := api.Change{
		Added:      entries(c.Added),
		Removed:    entries(c.Removed),
		Reweighted: make([]api.Reweight, 0, len(c.Reweighted)),
		Unchanged:  c.Unchanged,
		WouldBe:    upstream(after),
	}
	for _, w := range c.Reweighted {
		out.Reweighted = append(out.Reweighted, api.Reweight{Address: w.Address, From: w.From, To: w.To})
	}
	out.Shares = shares(c, after.Status.Members)
	return out
}

func entries(list []lb.Member) []api.Entry {
	out := make([]api.Entry, 0, len(list))
	for _, m := range list {
		out = append(out, api.Entry{Address: m.Address, Weight: m.Weight})
	}
	return out
}

// shares are the parts of the requests that members have by weight, before and after a change.
func shares(c lb.Change, after []lb.MemberStatus) []api.Share {
	former := make(map[string]int, len(c.Added)+len(c.Reweighted)) // where it is not the weight after
	for _, m := range c.Added {
		former[m.Address] = 0
	}
	for _, w := range c.Reweighted {
		former[w.Address] = w.From
	}
	out := make([]api.Share, 0, len(after)+len(c.Removed))
	var before, now float64
	add := func(address string, from, to int) {
		out = append(out, api.Share{Address: address, Before: float64(from), After: float64(to)})
		before, now = before+float64(from), now+float64(to)
	}
	for _, m := range after {
		from, other := former[m.Address]
		if !other {
			from = m.Weight
		}
		add(m.Address, from, m.Weight)
	}
	for _, m := range c.Removed {
		add(m.Address, m.Weight, 0)
	}
	for i := range out {
		out[i].Before, out[i].After = part(out[i].Before, before), part(out[i].After, now)
	}
	return out
}

// part is x/whole, 0 of nothing.
func part(x, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return x / whole
}
