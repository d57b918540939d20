package config

import (
	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// Wire is the plan in the API's words. What is lost in numbers only a daemon knows.
func (p *Plan) Wire() *api.Plan {
	out := &api.Plan{
		Result:       api.PlanValid,
		Pools:        make([]api.PoolPlan, len(p.Pools)),
		Listeners:    make([]api.ListenerPlan, len(p.Listeners)),
		Applications: make([]api.ApplicationPlan, len(p.Applications)),
		Settings:     append([]string{}, p.Settings...),
	}
	for i, x := range p.Pools {
		out.Pools[i] = api.PoolPlan{Name: x.Name, Action: string(x.Action), Because: x.Because}
		if x.Action == MembersChanged || !x.Change.Empty() {
			out.Pools[i].Change = listChange(x.Change)
		}
		if x.Affinity {
			out.Pools[i].Loses = &api.Loses{Affinity: true}
		}
	}
	for i, x := range p.Listeners {
		out.Listeners[i] = api.ListenerPlan{Name: x.Name, Address: x.Address, Action: string(x.Action), Because: x.Because}
	}
	for i, x := range p.Applications {
		out.Applications[i] = api.ApplicationPlan{Tenant: x.Tenant, Name: x.Name, Action: string(x.Action), Because: x.Because}
	}
	return out
}

func listChange(c lb.Change) *api.ListChange {
	out := &api.ListChange{Added: entries(c.Added), Removed: entries(c.Removed), Reweighted: []api.Reweight{}, Unchanged: c.Unchanged}
	for _, r := range c.Reweighted {
		out.Reweighted = append(out.Reweighted, api.Reweight{Address: r.Address, From: r.From, To: r.To})
	}
	return out
}

func entries(list []lb.Member) []api.Entry {
	out := make([]api.Entry, len(list))
	for i, m := range list {
		out[i] = api.Entry{Address: m.Address, Weight: m.Weight}
	}
	return out
}

// WireProblems are problems of one severity in the API's words.
func WireProblems(problems strict.Problems, s strict.Severity) []api.FieldError {
	var out []api.FieldError
	for _, p := range problems {
		if p.Severity != s {
			continue
		}
		e := api.FieldError{Path: p.Path, Detail: p.Message, File: p.File, Line: p.Line, Column: p.Column, Code: p.Code}
		if p.Hint != "" {
			e.Detail += " (" + p.Hint + ")"
		}
		out = append(out, e)
	}
	return out
}
