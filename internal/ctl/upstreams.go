package ctl

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
)

// newUpstreams is "upstreams": the list, and the commands about one pool below it.
func newUpstreams(s *session) *cobra.Command {
	cmd := newList(s)
	cmd.Use = "upstreams"
	cmd.Example = `  scalwsctl upstreams
  scalwsctl upstreams -o json | jq -r '.upstreams[].name'`
	cmd.Args = subcommandArgs
	cmd.AddCommand(
		newList(s), newShow(s),
		newSet(s), newAdd(s), newRemove(s), newWeight(s),
		newWatch(s), newEvents(s), newExplain(s), newPreview(s), newWait(s),
	)
	return cmd
}

// balance is the algorithm, with what is hashed.
func balance(pool api.Upstream) string {
	if pool.Hash == nil {
		return pool.Balance
	}
	text := pool.Balance + "/" + pool.Hash.By
	if pool.Hash.Name != "" {
		text += ":" + pool.Hash.Name
	}
	return text
}

// passiveHealth says when a member is ejected.
func passiveHealth(h api.PassiveHealth) string {
	if h.Failures == 0 {
		return "off"
	}
	text := fmt.Sprintf("ejected after %s for %s", count(h.Failures, "failure"), h.Cooldown)
	if h.ProbationRequests > 0 {
		text += fmt.Sprintf(", then %s at once on probation", count(h.ProbationRequests, "request"))
	}
	return text
}

// memberStates counts the members, by state where not all are up.
func memberStates(members []api.Member) string {
	states := map[string]int{}
	for _, m := range members {
		states[m.State]++
	}
	text := fmt.Sprint(len(members))
	for _, state := range []string{api.StateEjected, api.StateProbation} {
		if n := states[state]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, stateWord(state))
		}
	}
	return text
}

// stateWord is a state in a sentence.
func stateWord(state string) string {
	if state == api.StateProbation {
		return "on probation"
	}
	return state
}

// count is a number with its noun, whose plural takes an s.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
