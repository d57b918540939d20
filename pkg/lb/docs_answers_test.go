package lb_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

// sequence is the members that n requests get, one every step. Requests to those that hold never end,
// requests to those that refuse fail, and the others end at once.
func sequence(q *question) string {
	s := lb.DefaultSettings()
	s.Balance = lb.Balance(q.text("balance", string(s.Balance)))
	s.Health.Failures = q.number("failures", strconv.Itoa(s.Health.Failures))
	p := q.pool(s, q.members(), "")
	n, step := q.number("n"), q.duration("step", "0s")
	hold, refuse := q.text("hold", ""), q.text("refuse", "")
	var names []string
	for i := range n {
		now := begin().Add(time.Duration(i) * step)
		l := q.pick(p, now, lb.Key{})
		name := nameOf(l.Address())
		names = append(names, name)
		switch {
		case isIn(hold, name):
		case isIn(refuse, name):
			l.Done(now, lb.Failure(lb.ConnectRefused))
		default:
			l.Done(now, lb.Success())
		}
	}
	return strings.Join(names, " ")
}

// split is the backends that n requests get.
func split(q *question) string {
	s, n := lb.NewSplit(q.numbers("weights")), q.number("n")
	var names []string
	for range n {
		i, ok := s.Next(nil)
		if !ok {
			q.t.Fatal("lb split: nobody is left")
		}
		names = append(names, string(rune('a'+i)))
	}
	return strings.Join(names, " ")
}

func addresses(q *question) string {
	return q.each(func(asked string) string {
		address, err := lb.ParseAddress(asked)
		if err != nil {
			return "refused: it " + err.Error()
		}
		return address
	})
}

// hashed is a pool that hashes a header.
func hashed(q *question, members []lb.Member) *lb.Pool {
	s := lb.DefaultSettings()
	s.Balance, s.Hash = lb.Hash, lb.HashSettings{By: lb.ByHeader, Name: q.text("name", "X-User")}
	s.Retries = min(len(members)-1, lb.MaxRetries)
	return q.pool(s, members, "")
}

// keys are the members that a key leads to, the first and those after it.
func keys(q *question) string {
	p := hashed(q, q.members())
	return q.each(func(asked string) string {
		if asked == "fingerprint" {
			return p.Fingerprint()
		}
		e := p.Explain(begin(), lb.TextKey([]byte(asked)))
		names := []string{nameOf(e.Member)}
		for _, address := range e.Retries {
			names = append(names, nameOf(address))
		}
		return strings.Join(names, ", then ")
	})
}

// moved is how many of the probes each change of a list moves: -d removes d, +e adds e, a=2 gives weight 2.
func moved(q *question) string {
	members := q.members()
	p := hashed(q, members)
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	all := p.Preview(begin(), nil, nil, nil)
	fmt.Fprintf(w, "change\tkeys moved\tfrom\tto\n(none)\t0 of %s\t%s\t\n", grouped(all.Keys), counts(all.From))
	for change := range strings.SplitSeq(q.text("changes"), ",") {
		v := p.Preview(begin(), changed(q, members, change), nil, nil)
		fmt.Fprintf(w, "%s\t%s, %s\t%s\t%s\n", change, grouped(v.Moved), percent(v.Moved, v.Keys), counts(v.From), counts(v.To))
	}
	w.Flush()
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(b.String(), "")
}

func changed(q *question, members []lb.Member, change string) []lb.Member {
	name, weight, ok := strings.Cut(change, "=")
	list := slices.Clone(members)
	at := slices.IndexFunc(list, func(m lb.Member) bool { return nameOf(m.Address) == strings.TrimPrefix(name, "-") })
	switch {
	case strings.HasPrefix(change, "+"):
		return append(list, lb.Member{Address: addressOf(name[1:]), Weight: lb.DefaultWeight})
	case strings.HasPrefix(change, "-"):
		return slices.Delete(list, at, at+1)
	case !ok:
		q.t.Fatalf("lb moved: the change %q is none", change)
	}
	list[at].Weight = q.parseInt(weight)
	return list
}

func counts(of map[string]int) string {
	var all []string
	for address, n := range of {
		all = append(all, fmt.Sprintf("%s %d", nameOf(address), n))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func byCookie() lb.Settings {
	s := lb.DefaultSettings()
	s.Balance, s.Hash = lb.Hash, lb.HashSettings{By: lb.ByCookie, Name: lb.DefaultCookieName}
	return s
}

// tokens are the cookie values of addresses under a key.
func tokens(q *question) string {
	key := q.text("key")
	return q.each(func(asked string) string {
		p := q.pool(byCookie(), []lb.Member{{Address: asked, Weight: lb.DefaultWeight}}, key)
		return q.pick(p, begin(), lb.Key{}).Token()
	})
}

// healthOfA tells the state of member a after each event. A line is a time and an event: "fails",
// "answers" and "client gone" are a request that begins and ends there, "begins" is one that goes on, and
// "the old one fails", say, is how the oldest of those ends; in "time passes" nothing else happens.
// Requests carry a's cookie; b takes those that cannot go to a.
func healthOfA(q *question) string {
	s := byCookie()
	s.Health.Failures, s.Health.Cooldown = q.number("failures"), q.duration("cooldown")
	p := q.pool(s, []lb.Member{{Address: addressOf("a"), Weight: 1}, {Address: addressOf("b"), Weight: 1}}, "secret")
	first := q.pick(p, begin(), lb.Key{})
	first.Done(begin(), lb.Neutral())
	token := []byte(first.Token())
	outcomes := map[string]lb.Outcome{"fails": lb.Failure(lb.Reset), "answers": lb.Success(), "client gone": lb.Neutral()}
	var open []*lb.Lease
	return q.each(func(asked string) string {
		at, event, _ := strings.Cut(strings.TrimSpace(asked), " ")
		now, prefix := begin().Add(q.parseDuration(at)), ""
		event = strings.TrimSpace(event)
		ending, old := strings.CutPrefix(event, "the old one ")
		switch outcome, known := outcomes[ending]; {
		case old && known:
			open[0].Done(now, outcome)
			open = open[1:]
		case event == "begins" || known:
			key, _ := p.TokenKey(now, token)
			l := q.pick(p, now, key)
			if name := nameOf(l.Address()); name != "a" {
				prefix = "goes to " + name + "; "
			}
			if event == "begins" {
				open = append(open, l)
			} else {
				l.Done(now, outcome)
			}
		case event != "time passes":
			q.t.Fatalf("lb health: the event %q is none", event)
		}
		m := p.Status(now).Members[0]
		state := m.State.String()
		if m.State == lb.Ejected {
			state += " until " + m.EjectedUntil.Sub(begin()).String()
		}
		return fmt.Sprintf("%s%s, failures in a row: %d", prefix, state, m.ConsecutiveFailures)
	})
}

// probation is how many requests are sent to one member that hangs, for settings of probation_requests.
func probation(q *question) string {
	rate, length := q.number("rate"), q.duration("for")
	timeout, members := q.duration("timeout"), q.members()
	s := lb.DefaultSettings()
	s.Health.Cooldown = q.duration("cooldown")
	type waiting struct {
		lease *lb.Lease
		until time.Time
	}
	return q.each(func(asked string) string {
		s.Health.ProbationRequests = q.parseInt(strings.TrimSpace(strings.TrimPrefix(asked, "probation_requests:")))
		p := q.pool(s, members, "")
		var hung []waiting
		sent, total := 0, int(length.Seconds())*rate
		for i := range total {
			now := begin().Add(time.Duration(i) * time.Second / time.Duration(rate))
			for len(hung) > 0 && !hung[0].until.After(now) {
				hung[0].lease.Done(hung[0].until, lb.Failure(lb.ResponseTimeout))
				hung = hung[1:]
			}
			l := q.pick(p, now, lb.Key{})
			if nameOf(l.Address()) != "a" {
				l.Done(now, lb.Success())
				continue
			}
			sent++
			hung = append(hung, waiting{l, now.Add(timeout)})
		}
		return fmt.Sprintf("%s of %s requests hang, %s", grouped(sent), grouped(total), percent(sent, total))
	})
}

// budgets is how many retries a second a budget allows, all requests wanting one.
func budgets(q *question) string {
	ratio, err := strconv.ParseFloat(q.text("ratio"), 64)
	if err != nil {
		q.t.Fatal(err)
	}
	s := lb.DefaultSettings()
	s.Budget = &lb.RetryBudget{Ratio: ratio, MinPerSecond: q.number("min_per_second")}
	return q.each(func(asked string) string {
		const seconds = 60
		rate := q.parseInt(strings.Fields(asked)[0])
		p := q.pool(s, []lb.Member{{Address: addressOf("a"), Weight: 1}, {Address: addressOf("b"), Weight: 1}}, "")
		allowed := 0
		for i := range seconds * rate {
			now := begin().Add(time.Duration(i) * time.Second / time.Duration(rate))
			var tried lb.Tried
			p.Pick(now, lb.Key{}, &tried)
			if _, ok := p.Retry(now, lb.Key{}, &tried); ok {
				allowed++
			}
		}
		return fmt.Sprintf("%.0f retries/s", float64(allowed)/seconds)
	})
}

func isIn(list, name string) bool { return slices.Contains(strings.Split(list, ","), name) }

func percent(n, of int) string { return fmt.Sprintf("%.2f %%", 100*float64(n)/float64(of)) }

// grouped writes 65536 as 65,536.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// retries is the table of what is sent to another member.
func retries(*question) string {
	const first = "| what happened | GET, HEAD, OPTIONS, PUT, DELETE | other methods | else the client gets |\n|---|---|---|---|\n"
	refused, broke := lb.Failure(lb.ConnectRefused), lb.Failure(lb.Reset)
	answered := func(replayable, began bool, o lb.Outcome) lb.Attempt {
		return lb.Attempt{Replayable: replayable, ClientStarted: began, Progress: lb.HeadReceived, Outcome: o}
	}
	rows := []struct {
		what, otherwise string
		attempt         lb.Attempt
	}{
		{"no connection (refused, timed out, name not found, TLS failed), or nothing could be written", "504 after a timeout, else 502",
			lb.Attempt{Replayable: true, Outcome: refused}},
		{"the member answered 502, 503 or 504", "that answer",
			answered(true, false, lb.Failure(lb.Status503))},
		{"written, but no head in time, or closed before it was whole, or malformed", "504 after a timeout, else 502",
			lb.Attempt{Replayable: true, Progress: lb.Sent, Outcome: broke}},
		{"the member answered anything else", "that answer",
			answered(true, false, lb.Success())},
		{"the answer broke off in its body", "a cut answer that it can tell from a whole one",
			answered(true, true, lb.Failure(lb.BodyBroken))},
		{"any of these, after the client got something: a 1xx of the member, or a 100 of ours", "as above",
			lb.Attempt{Replayable: true, ClientStarted: true, Progress: lb.Sent, Outcome: broke}},
		{"any of these, with a body that was not kept", "as above",
			lb.Attempt{Outcome: refused}},
		{"any of these, for a WebSocket handshake", "as above",
			lb.Attempt{Replayable: true, Upgrade: true, Outcome: refused}},
		{"the client's own fault", "see [passive health](#passive-health)",
			lb.Attempt{Replayable: true, Progress: lb.Sent, Outcome: lb.Neutral()}},
	}
	again := map[bool]string{true: "sent again", false: "no"}
	var b strings.Builder
	b.WriteString(first)
	for _, row := range rows {
		idempotent := row.attempt
		idempotent.Idempotent = true
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", row.what, again[lb.ShouldRetry(idempotent)], again[lb.ShouldRetry(row.attempt)], row.otherwise)
	}
	return b.String()
}

// bounds is the table of bounds and defaults.
func bounds(*question) string {
	s := lb.DefaultSettings()
	from := func(low, high any) string { return fmt.Sprintf("%v to %v", low, high) }
	budget := "none"
	if s.Budget != nil {
		budget = fmt.Sprint(*s.Budget)
	}
	var b strings.Builder
	b.WriteString("| key | default | bounds |\n|---|---|---|\n")
	for _, row := range [][3]string{
		{"members", "none", "at most " + grouped(lb.MaxMembers)},
		{"members[].weight", fmt.Sprint(lb.DefaultWeight), from(lb.MinWeight, lb.MaxWeight)},
		{"balance", string(s.Balance), fmt.Sprintf("%s, %s, %s", lb.RoundRobin, lb.LeastConn, lb.Hash)},
		{"hash.by", "required for `balance: hash`", fmt.Sprintf("%s, %s, %s", lb.ByCookie, lb.ByHeader, lb.ByClientIP)},
		{"hash.name", lb.DefaultCookieName + " for a cookie, required for a header", "what a cookie or a header can be called"},
		{"passive_health.failures", fmt.Sprint(s.Health.Failures), from(0, lb.MaxFailures) + "; 0 never ejects"},
		{"passive_health.cooldown", s.Health.Cooldown.String(), from(lb.MinCooldown, strings.TrimSuffix(lb.MaxCooldown.String(), "0m0s"))},
		{"passive_health.probation_requests", fmt.Sprint(s.Health.ProbationRequests), from(0, grouped(lb.MaxProbationRequests)) + "; 0 is no limit"},
		{"retries", fmt.Sprint(s.Retries), from(0, lb.MaxRetries)},
		{"retry_budget.ratio", budget, from(0, 1)},
		{"retry_budget.min_per_second", budget, from(0, grouped(lb.MaxMinPerSecond))},
		{"count_tunnels", fmt.Sprint(s.CountTunnels), "true, false"},
		{"backends", "none", from(1, lb.MaxBackends) + " entries"},
		{"backends[].weight", "1", from(0, lb.MaxBackendWeight) + ", at least one above 0"},
	} {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", row[0], row[1], row[2])
	}
	return b.String()
}
