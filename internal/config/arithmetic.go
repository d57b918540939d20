package config

import (
	"fmt"
	"time"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// patience is how long a client waits for an answer before it gives up: most browsers, libraries and proxies
// in front stop at a minute or sooner.
const patience = time.Minute

// A share of the requests that is smaller than one in fewRequests, by a weight that is lowWeight times smaller
// than the highest, is more likely a slip than meant.
const (
	fewRequests = 200
	lowWeight   = 100
)

// What follows warns of numbers that are possible one by one and make no sense together
// (docs/configuration.md#numbers-that-do-not-fit). Both of them must be another value than the default: a
// default that does not fit to somebody's value is nobody's slip.

// asked are the settings of a pool that are not the default, for the runtimes that use it; zero for those that
// are.
type asked struct {
	// attempts that a request can make, the first one included.
	attempts int
	cooldown time.Duration
}

func (d checker) askedOf(u *Upstream) asked {
	at := strict.Join("upstreams", u.Name)
	var a asked
	if u.Settings.Retries != lb.DefaultRetries && d.Sound(at, strict.Join(at, "retries")) {
		a.attempts = 1 + u.Settings.Retries
		if !u.FromAPI && d.Sound(strict.Join(at, "members")) {
			a.attempts = min(a.attempts, max(len(u.Members), 1))
		}
	}
	health := strict.Join(at, "passive_health")
	if h := u.Settings.Health; h.Cooldown != lb.DefaultCooldown && h.Failures > 0 &&
		d.Sound(at, health, strict.Join(health, "cooldown"), strict.Join(health, "failures")) {
		a.cooldown = h.Cooldown
	}
	return a
}

// checkNumbers holds the numbers of a pool against each other and against the timeouts of the server.
func (d checker) checkNumbers(u *Upstream, c, byDefault Client) {
	at := strict.Join("upstreams", u.Name)
	d.checkShares(strict.Join(at, "members"), u.Members)
	keepalive, balance := strict.Join(at, "keepalive"), strict.Join(at, "balance")
	if d.Given(keepalive) && d.Sound(keepalive, strict.Join(at, "scheme")) && u.Keepalive == 0 && u.HTTPS {
		d.WarnKey(d.Place(keepalive), &strict.Fault{Code: codeHTTPSWithoutKeepalive,
			Message: "every request to a member makes a TLS handshake of its own",
			Hint:    fmt.Sprintf("remove it: the default is %d", DefaultKeepalive)})
	}
	if d.Given(balance) && d.Sound(balance, strict.Join(at, "members")) && u.Settings.Balance == lb.Hash && !u.FromAPI && len(u.Members) == 1 {
		d.WarnKey(d.Place(balance), &strict.Fault{Code: codeHashOneMember,
			Message: "there is one member: every key leads to it", Hint: "add members, or remove balance: hash"})
	}
	timeout := "server.upstream_client.response_timeout"
	if c.ResponseTimeout != byDefault.ResponseTimeout && d.Sound(timeout, "server.upstream_client.connect_timeout") {
		a := d.askedOf(u)
		d.checkWait(strict.Join(at, "retries"), a.attempts, c.ConnectTimeout, c.ResponseTimeout)
		d.checkCooldown(strict.Join(strict.Join(at, "passive_health"), "cooldown"), a.cooldown, c.ResponseTimeout, timeout, "cooldown")
	}
}

// checkTimes holds the timeouts of a runtime against the settings of the pools that it uses.
func (d checker) checkTimes(at string, r *Runtime, pools poolNames) {
	timeout := strict.Join(at, "response_timeout")
	d.checkLimits(at, Client{ResponseTimeout: r.ResponseTimeout})
	if r.ResponseTimeout == r.Client.ResponseTimeout || !d.Sound(timeout, strict.Join(at, "connect_timeout")) {
		return
	}
	used := []string{r.Pool}
	for _, b := range r.Backends {
		if b.Weight > 0 {
			used = append(used, b.Pool)
		}
	}
	var most asked
	pool := ""
	for _, name := range used {
		a := pools.asked[name]
		most.attempts = max(most.attempts, a.attempts)
		if a.cooldown > 0 && (most.cooldown == 0 || a.cooldown < most.cooldown) {
			most.cooldown, pool = a.cooldown, name
		}
	}
	d.checkWait(timeout, most.attempts, r.ConnectTimeout, r.ResponseTimeout)
	d.checkCooldown(timeout, most.cooldown, r.ResponseTimeout, "response_timeout", "cooldown of pool "+pool)
}

// checkWait warns of retries that outlast the client. A single attempt may take what it takes: that is a long
// answer, which the client knows of.
func (d checker) checkWait(path string, attempts int, connect, response time.Duration) {
	longest := time.Duration(attempts) * (connect + response)
	if attempts < 2 || response == 0 || longest <= patience {
		return
	}
	d.WarnKey(d.Place(path), &strict.Fault{Code: codeLongWait,
		Message: fmt.Sprintf("a request can wait %s for its answer: %d attempts, each %s to connect and %s for the answer",
			strict.FormatDuration(longest), attempts, strict.FormatDuration(connect), strict.FormatDuration(response)),
		Hint: fmt.Sprintf("clients seldom wait longer than %s: lower response_timeout or retries", strict.FormatDuration(patience))})
}

// checkCooldown warns of an ejection that is over before the requests that wait for the member are. The words
// say whose two times they are.
func (d checker) checkCooldown(path string, cooldown, response time.Duration, responseIs, cooldownIs string) {
	if cooldown == 0 || cooldown >= response {
		return
	}
	d.WarnKey(d.Place(path), &strict.Fault{Code: codeShortCooldown,
		Message: fmt.Sprintf("a member that hangs is found out after %s (%s) and is back %s later (%s)",
			strict.FormatDuration(response), responseIs, strict.FormatDuration(cooldown), cooldownIs),
		Hint: fmt.Sprintf("set a cooldown of %s or more, or a shorter response_timeout", strict.FormatDuration(response))})
}

// checkShares warns of members that get next to nothing, once for a list.
func (d checker) checkShares(list string, members []lb.Member) {
	total, highest := 0, 0
	for _, m := range members {
		total, highest = total+m.Weight, max(highest, m.Weight)
	}
	first, count := -1, 0
	for i, m := range members {
		if weight := m.Weight; weight*fewRequests < total && weight*lowWeight <= highest {
			if count++; first < 0 {
				first = i
			}
		}
	}
	if first < 0 || !d.soundMembers(list, len(members)) {
		return
	}
	entry := strict.Index(list, first)
	at := d.Place(entry)
	if weight := strict.Join(entry, "weight"); d.Given(weight) {
		at = d.Place(weight)
	}
	message := fmt.Sprintf("%s gets %d of %d requests (%.2f %%)", members[first].Address, members[first].Weight, total,
		100*float64(members[first].Weight)/float64(total))
	if count > 1 {
		message += fmt.Sprintf(", and %d more are like it", count-1)
	}
	d.WarnKey(at, &strict.Fault{Code: codeTinyShare, Message: message,
		Hint: "its failures would hardly be noticed: bring the weights closer together, or remove it"})
}

// soundMembers is true for a list whose entries can be believed, all of them: a share needs the sum.
func (d checker) soundMembers(list string, n int) bool {
	for i := range n {
		entry := strict.Index(list, i)
		if !d.Sound(list, entry, strict.Join(entry, "address"), strict.Join(entry, "weight")) {
			return false
		}
	}
	return true
}

// checkLimits warns of timeouts of the section at a path that are switched off.
func (d checker) checkLimits(at string, c Client) {
	for _, limit := range []struct {
		key, what string
		is        time.Duration
	}{
		{"response_timeout", "a member that does not answer", c.ResponseTimeout},
		{"body_timeout", "an answer that stops half-way", c.BodyTimeout},
	} {
		path := strict.Join(at, limit.key)
		if limit.is == 0 && d.Given(path) && d.Sound(path) {
			d.WarnKey(d.Place(path), &strict.Fault{Code: codeNoTimeLimit,
				Message: fmt.Sprintf("0 is no limit: %s keeps its request until the client gives up", limit.what),
				Hint:    "set the longest time that makes sense"})
		}
	}
}

// checkShutdown warns of a drain that ends before the requests that it waits for. 0 waits for none, and says so.
func (d checker) checkShutdown(c *Config, byDefault Server) {
	const path = "server.shutdown_timeout"
	shutdown := c.Server.ShutdownTimeout
	if shutdown == byDefault.ShutdownTimeout || shutdown == 0 || !d.Sound(path) {
		return
	}
	longest, whose := time.Duration(0), ""
	look := func(at string, response time.Duration) {
		at = strict.Join(at, "response_timeout")
		if response > longest && response != byDefault.UpstreamClient.ResponseTimeout && d.Given(at) && d.Sound(at) {
			longest, whose = response, at
		}
	}
	look("server.upstream_client", c.Server.UpstreamClient.ResponseTimeout)
	for i, t := range c.Tenants {
		applications := strict.Join(strict.Index("tenants", i), "applications")
		for j, a := range t.Applications {
			at := strict.Index(applications, j)
			if a.Runtime != nil {
				look(strict.Join(at, "runtime"), a.Runtime.ResponseTimeout)
			}
			for k, r := range a.Routes {
				look(strict.Join(strict.Index(strict.Join(at, "routes"), k), "runtime"), r.Runtime.ResponseTimeout)
			}
		}
	}
	if shutdown < longest {
		d.WarnKey(d.Place(path), &strict.Fault{Code: codeShortShutdown,
			Message: fmt.Sprintf("requests may wait %s for their answer (%s) and are cut off after %s when the daemon stops",
				strict.FormatDuration(longest), whose, strict.FormatDuration(shutdown)),
			Hint: fmt.Sprintf("set %s or more", strict.FormatDuration(longest))})
	}
}
