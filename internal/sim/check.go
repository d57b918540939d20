package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// checker holds the values of a scenario against each other, after all have been read. It passes over
// values that are broken: what follows from a slip is not a second one.
type checker struct {
	*strict.Decoder
	*Scenario
	// unsure says that an address is broken: members may have names that nobody knows.
	unsure bool
}

func (c *checker) check() {
	c.unsure = !c.Sound("pool", "events")
	c.checkHash("pool.balance", "pool.hash")
	c.checkMembers("pool.members", c.members)
	for i := range c.script {
		c.checkEvent(strict.Index("events", i), &c.script[i])
	}
	c.nameMembers()
	for i := range c.script {
		c.resolve(strict.Join(strict.Index("events", i), "member"), &c.script[i].member)
	}
	for i := range c.expect {
		c.checkExpectation(strict.Index("expect", i), &c.expect[i])
	}
	slices.SortStableFunc(c.script, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	if !c.Failed() {
		c.checkSize()
	}
}

// checkHash is about what a pool hashes, in the words of the configuration.
func (c *checker) checkHash(balance, hash string) {
	by, name := strict.Join(hash, "by"), strict.Join(hash, "name")
	switch p := &c.pool; {
	case !c.Sound("pool", balance, hash, by, name):
	case p.Balance == lb.Hash && !c.Given(hash):
		c.FailKey(c.Place(balance).As(by), &strict.Fault{Code: strict.CodeMissingKey,
			Message: "balance: hash needs hash.by", Hint: "add hash: {by: cookie}, or by: header or client_ip"})
	case p.Balance != lb.Hash && c.Given(hash):
		c.misplaced(hash, "has no effect without balance: hash", "add balance: hash, or remove hash")
	case p.Hash.By == lb.ByHeader && !c.Given(name):
		c.Missing(c.Place(hash), "name", "by: header needs the name of the header")
	}
}

// checkMembers has the engine check a list, as the configuration does.
func (c *checker) checkMembers(list string, servers []server) {
	if !c.Sound(list) {
		c.unsure = true
		return
	}
	canonical, problems := lb.CheckMembers(listOf(servers), false)
	for _, p := range problems {
		c.FailEntry(list, p.Index, p.Field, &strict.Fault{Code: codeInvalidMember, Message: p.Message})
	}
	if len(problems) > 0 {
		c.unsure = true
		return
	}
	for i := range servers {
		servers[i].Member = canonical[i]
	}
}

// resolve turns the name of a member into its address: it is that, or the host of it where no other
// address of the scenario has that host.
func (c *checker) resolve(path string, name *string) {
	if !c.Given(path) || !c.Sound(path) || c.unsure {
		return
	}
	address, known := c.names[*name]
	if canonical, err := lb.ParseAddress(*name); err == nil && !known {
		address, known = c.names[canonical]
	}
	f := &strict.Fault{Code: codeUnknownMember}
	switch {
	case !known:
		f.Message = fmt.Sprintf("no list of members has %q", strict.Shorten(*name))
		f.Hint, _ = strict.Suggest(*name, slices.Sorted(maps.Keys(c.names)), "members")
	case address == "":
		f.Message = fmt.Sprintf("several members have the host %q: write the port too", strict.Shorten(*name))
	default:
		*name = address
		return
	}
	c.FailValue(c.Place(path), f)
}

// misplaced reports a key that does not belong with the others.
func (c *checker) misplaced(path, why, hint string) {
	c.FailKey(c.Place(path), &strict.Fault{Code: codeMisplacedKey, Message: why, Hint: hint})
}

// checkSize refuses what would run for too long, or hold too many requests in flight.
func (c *checker) checkSize() {
	refuse := func(hint, format string, args ...any) {
		c.FailKey(c.Place(""), &strict.Fault{Code: codeScenarioTooLarge, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	requests, flights := c.size()
	if requests > maxRequests {
		refuse("lower the rate or the duration",
			"the scenario has %.0f requests, more than %s", requests, grouped[int](maxRequests))
	}
	if flights > maxFlights {
		refuse("lower the rate or timeouts.response",
			"as many as %.0f requests could be in flight at once, more than %s", flights, grouped[int](maxFlights))
	}
}
