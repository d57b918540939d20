package sim

import (
	"strings"
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

// ReportSchema names the JSON document that a Report becomes.
const ReportSchema = "scalws.simulation/1"

// Seconds are a time of the simulation, from its start, or a length of time.
type Seconds float64

func seconds(d time.Duration) Seconds { return Seconds(d.Seconds()) }

// maybe is nil for a time that never came.
func maybe(d time.Duration, came bool) *Seconds {
	if !came {
		return nil
	}
	s := seconds(d)
	return &s
}

// String is the time to the microsecond: "15.32s".
func (s Seconds) String() string { return formatDuration(time.Duration(float64(s)*1e9 + 0.5)) }

// formatDuration is a duration to the microsecond, without the zeros of time.Duration: 10m, 15.32s.
func formatDuration(d time.Duration) string {
	s := d.Round(time.Microsecond).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return strings.ReplaceAll(s, "µ", "u")
}

// Report is what a simulation found (docs/simulation.md#the-report). Absent times never came.
type Report struct {
	Schema   string  `json:"schema"`
	Scenario string  `json:"scenario"`
	Seed     uint64  `json:"seed"`
	Duration Seconds `json:"duration_s"`
	Clients  Clients `json:"clients"`
	// Attempts are first attempts and Retries.
	Attempts uint64 `json:"attempts"`
	Retries  uint64 `json:"retries"`
	// Amplification is attempts for each request.
	Amplification float64 `json:"amplification"`
	// BudgetRefusals are retries that the retry budget did not allow.
	BudgetRefusals uint64 `json:"budget_refusals"`
	// Members are all that were in a list, in the order of their appearance.
	Members  []Member `json:"members"`
	Timeline Timeline `json:"timeline"`
	// Events are the engine's own, the first thousand; EventsLeftOut counts the others.
	Events        []Event `json:"events"`
	EventsLeftOut int     `json:"events_left_out"`
	Expect        Expect  `json:"expect"`
}

// Clients are the requests as those who sent them saw them.
type Clients struct {
	Requests uint64 `json:"requests"`
	Answered uint64 `json:"answered"`
	Errors   uint64 `json:"errors"`
	// ErrorShare is Errors for each request.
	ErrorShare float64 `json:"error_share"`
	// ErrorsBy has the cause of the last attempt's failure; "no_member" where there was none to ask.
	ErrorsBy   map[string]uint64 `json:"errors_by"`
	FirstError *Seconds          `json:"first_error_s,omitempty"`
	LastError  *Seconds          `json:"last_error_s,omitempty"`
	// Waits until the answer or the error: half of the clients, 99 in 100, and all waited no longer.
	WaitHalf    Seconds `json:"wait_p50_s"`
	Wait99      Seconds `json:"wait_p99_s"`
	WaitLongest Seconds `json:"wait_longest_s"`
}

// Member is what was sent to a member and what became of it.
type Member struct {
	Address string `json:"address"`
	// Weight in the last list; 0 if it is not in there.
	Weight   int               `json:"weight"`
	Requests uint64            `json:"requests"`
	Failures map[string]uint64 `json:"failures"`
	// Share of all attempts, and the one that the weights of the last list ask for.
	Share       float64  `json:"share"`
	WeightShare float64  `json:"weight_share"`
	Ejections   int      `json:"ejections"`
	First       *Seconds `json:"first_ejected_s,omitempty"`
	Last        *Seconds `json:"last_ejected_s,omitempty"`
	// Ejected is how long it was out in all.
	Ejected Seconds `json:"ejected_total_s"`
	Faults  []Fault `json:"faults"`
}

// Fault is an event of the scenario that made the member worse, and how long it took to be noticed.
type Fault struct {
	At   Seconds `json:"at_s"`
	Does string  `json:"does"`
	// EjectedAt is the first ejection after it.
	EjectedAt *Seconds `json:"ejected_at_s,omitempty"`
	After     *Seconds `json:"ejected_after_s,omitempty"`
	// Sent is the requests sent to the member from the fault until that ejection, or without one until the
	// member's next event or the end.
	Sent uint64 `json:"requests_sent"`
}

// Timeline is counts over time, each in equal parts of the duration. What comes behind the end is in the
// last part.
type Timeline struct {
	Bucket   Seconds  `json:"bucket_s"`
	Requests []uint64 `json:"requests"`
	Errors   []uint64 `json:"errors"`
	// Members are the requests sent to each, in the order of Report.Members.
	Members [][]uint64 `json:"members"`
}

// Event is one of the engine's.
type Event struct {
	Seq      uint64     `json:"seq"`
	At       Seconds    `json:"at_s"`
	Kind     string     `json:"kind"`
	Member   string     `json:"member"`
	Until    *Seconds   `json:"until_s,omitempty"`
	Actor    string     `json:"actor"`
	From     int        `json:"from,omitempty"`
	To       int        `json:"to,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
}

// Evidence is a failure that led to an ejection.
type Evidence struct {
	At    Seconds `json:"at_s"`
	Cause string  `json:"cause"`
}

// Expect is how the scenario's expectations came out.
type Expect struct {
	Checked int       `json:"checked"`
	Failed  []Failure `json:"failed"`
}

// Failure is an expectation that does not hold.
type Failure struct {
	// Line of the scenario, and what stands there.
	Line   int    `json:"line"`
	Expect string `json:"expect"`
	Found  string `json:"found"`
}

// Failed are the expectations that do not hold.
func (r *Report) Failed() []Failure { return r.Expect.Failed }

// report is the run when it is over.
func (r *run) report() *Report {
	q := r.waits.quantiles(0.5, 0.99, 1)
	errors := r.allErrors()
	out := &Report{
		Schema:   ReportSchema,
		Scenario: r.name,
		Seed:     r.seed,
		Duration: seconds(r.duration),
		Clients: Clients{
			Requests: r.sent, Answered: r.answers, Errors: errors,
			ErrorShare: ratio(errors, r.sent), ErrorsBy: causes(r.errors[:]),
			FirstError: maybe(r.firstError, errors > 0), LastError: maybe(r.lastError, errors > 0),
			WaitHalf: seconds(q[0]), Wait99: seconds(q[1]), WaitLongest: seconds(q[2]),
		},
		Retries:        r.retries,
		BudgetRefusals: r.budgetRefusals,
		Timeline: Timeline{
			Bucket: seconds(r.bucketWidth), Requests: r.requestsIn[:], Errors: r.errorsIn[:], Members: [][]uint64{},
		},
		Members:       []Member{},
		Events:        []Event{},
		EventsLeftOut: r.moreEvents,
	}
	for _, m := range r.order {
		out.Attempts += m.requests
	}
	out.Amplification = ratio(out.Attempts, r.sent)
	weights, total := make(map[string]int), 0
	for _, m := range r.engine.Status(r.present()).Members {
		weights[m.Address] = m.Weight
		total += m.Weight
	}
	for _, m := range r.order {
		if m.ejected {
			m.leave(m.until, r.end)
		}
		line := m.report(out.Attempts)
		line.Weight = weights[m.address]
		line.WeightShare = ratio(uint64(line.Weight), uint64(total))
		out.Members = append(out.Members, line)
		out.Timeline.Members = append(out.Timeline.Members, m.buckets[:])
	}
	for _, e := range r.events {
		out.Events = append(out.Events, r.event(e))
	}
	out.Expect = r.judge(out)
	return out
}

func (m *member) report(attempts uint64) Member {
	out := Member{
		Address: m.address, Requests: m.requests, Failures: causes(m.failures[:]), Share: ratio(m.requests, attempts),
		Ejections: m.ejections, First: maybe(m.firstEjected, m.ejections > 0), Last: maybe(m.lastEject, m.ejections > 0),
		Ejected: seconds(m.out), Faults: []Fault{},
	}
	for _, f := range m.faults {
		out.Faults = append(out.Faults, Fault{
			At: seconds(f.at), Does: string(f.does), Sent: f.sent,
			EjectedAt: maybe(f.ejected, f.ejected >= 0), After: maybe(f.ejected-f.at, f.ejected >= 0),
		})
	}
	return out
}

func (r *run) event(e lb.Event) Event {
	at := func(t time.Time) Seconds { return seconds(t.Sub(r.epoch)) }
	out := Event{Seq: e.Seq, At: at(e.Time), Kind: string(e.Kind), Member: e.Member, Actor: e.Actor, From: e.From, To: e.To}
	if !e.Until.IsZero() {
		until := at(e.Until)
		out.Until = &until
	}
	for _, failure := range e.Evidence {
		out.Evidence = append(out.Evidence, Evidence{At: at(failure.Time), Cause: failure.Cause.String()})
	}
	return out
}

// causes names the counts that are not zero.
func causes(counts []uint64) map[string]uint64 {
	named := make(map[string]uint64)
	for c, n := range counts {
		name := lb.Cause(c).String()
		if name == "" {
			name = "no_member"
		}
		if n > 0 {
			named[name] = n
		}
	}
	return named
}

func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
