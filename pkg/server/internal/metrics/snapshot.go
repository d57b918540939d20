// Package metrics shows the daemon's counts to Prometheus (docs/logging-metrics.md#metrics).
//
// Nothing is registered or counted here. Each scrape reads one [Snapshot] of what is there now, so a
// member or a pool that is gone has no series, without anything having to delete them.
package metrics

import "time"

// Snapshot is everything that a scrape shows, at one time.
type Snapshot struct {
	Listeners []Listener
	Pools     []Pool
	Resends   []Resend
	Limits    []Limit
	// LogDropped counts access log lines that were lost.
	LogDropped uint64
	// AuditFailed counts audit log lines that could not be written, StateFailed writes of the state file.
	AuditFailed, StateFailed uint64
	Reload                   Reload
}

// Listener is a listener that is served now.
type Listener struct {
	Name string
	// Connections of clients that are open; Accepted counts all there were, those included.
	Connections int
	Accepted    uint64
	// InFlight are requests whose answer is not out yet.
	InFlight int
	// Requests counts those that began, by protocol.
	Requests [Protocols]uint64
}

// The index of a protocol in Listener.Requests.
const (
	// ProtocolH1 is HTTP/1.0 and HTTP/1.1.
	ProtocolH1 = iota
	ProtocolH2
	// Protocols is how many there are.
	Protocols
)

// Pool is a pool that is served now.
type Pool struct {
	Name string
	// Size is how many members there are, ejected ones included.
	Size int
	// Retries counts requests sent to another member.
	Retries  uint64
	Duration Histogram
	// Members are those that get series of their own: all that are in the pool now, or none where
	// metrics.per_member is off.
	Members []Member
}

// Histogram counts durations.
type Histogram struct {
	// Counts by bucket, not cumulative: Counts[i] is what exceeds the bound before and not Buckets()[i].
	// The last one, beyond all bounds, is +Inf. Missing ones are 0.
	Counts []uint64
	// Sum of all in seconds.
	Sum float64
}

// Member is a member of a pool.
type Member struct {
	// Address in canonical form.
	Address string
	Ejected bool
	// Attempts by what came of them.
	Attempts [Classes]uint64
}

// The index of a class in Member.Attempts.
const (
	// Class2xx also counts 101, the answer to an upgrade.
	Class2xx = iota
	Class3xx
	Class4xx
	Class5xx
	// ClassError is a failure of the member without an answer.
	ClassError
	// Classes is how many there are.
	Classes
)

// Resend counts requests sent again, to the same member, because the kept-alive connection was closed.
type Resend struct {
	Tenant, Application string
	// Protocol of the client's request: "h1" or "h2".
	Protocol string
	Count    uint64
}

// Limit counts the requests that the limits of an application have refused.
type Limit struct {
	Tenant, Application string
	// Kind is "rate_limit" or "quota".
	Kind    string
	Refused uint64
}

// Reload is the last time that a configuration was loaded, the one at the start included.
type Reload struct {
	// Success is false where it was refused and the old configuration stayed.
	Success bool
	// At is zero before the first one, and has no series then.
	At time.Time
}

// Buckets are the upper bounds of the duration histogram in seconds, without +Inf.
func Buckets() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
}
