// Package lb is the engine: pools, members, choosing, health, affinity, retries, the split over pools.
//
// The engine decides and never does. It is a function of configuration, state, time and input: it has
// no clock, goroutine, timer, logger, socket or global. The caller passes the time, asks for a member
// with [Pool.Pick], does the work and hands the lease back with [Lease.Done]. Whatever explains,
// previews or simulates a choice calls the code that serves traffic.
package lb

import "time"

// Bounds of the settings (docs/load-balancing.md).
const (
	MinWeight            = 1
	MaxWeight            = 1000
	MaxMembers           = 10_000
	MaxRetries           = 5
	MaxFailures          = 100
	MinCooldown          = time.Millisecond
	MaxCooldown          = time.Hour
	MaxProbationRequests = 10_000
	// MaxMinPerSecond bounds RetryBudget.MinPerSecond.
	MaxMinPerSecond  = 1_000_000
	MaxBackends      = 64
	MaxBackendWeight = 1000
)

// Defaults of the settings.
const (
	DefaultWeight            = 1
	DefaultRetries           = 1
	DefaultFailures          = 3
	DefaultCooldown          = 10 * time.Second
	DefaultProbationRequests = 1
	DefaultCookieName        = "SCALWS_AFFINITY"
)

// Balance is how a pool chooses a member.
type Balance string

// The ways to choose (docs/load-balancing.md#choosing-a-member).
const (
	RoundRobin Balance = "round_robin"
	LeastConn  Balance = "least_conn"
	Hash       Balance = "hash"
)

// HashBy is what a hash pool hashes.
type HashBy string

// What can be hashed.
const (
	ByCookie   HashBy = "cookie"
	ByHeader   HashBy = "header"
	ByClientIP HashBy = "client_ip"
)

// Member is an address of a pool and its share.
type Member struct {
	// Address in canonical form, see [ParseAddress].
	Address string
	// Weight is the relative share of requests, 1 to 1000.
	Weight int
}

// Settings are all that a pool is told except its members. The zero value is not useful: start from
// [DefaultSettings].
type Settings struct {
	Balance Balance
	// Hash is meaningful only with Balance == Hash.
	Hash   HashSettings
	Health HealthSettings
	// Retries is how many more members a request may try, 0 to 5. 0 never retries.
	Retries int
	// Budget bounds retries of the whole pool; nil is no bound.
	Budget *RetryBudget
	// CountTunnels counts an upgraded connection as in flight for its whole life. The engine only carries it:
	// the caller decides when it calls Done.
	CountTunnels bool
}

// HashSettings say what a hash pool hashes.
type HashSettings struct {
	By HashBy
	// Name of the header or the cookie; unused for client_ip.
	Name string
	// CookieMaxAge is the life of the affinity cookie; 0 is a session cookie.
	CookieMaxAge time.Duration
}

// HealthSettings say when passive health ejects a member.
type HealthSettings struct {
	// Failures in a row before a member is ejected, at most 100; 0 never ejects.
	Failures int
	// Cooldown is how long it stays out, 1ms to 1h.
	Cooldown time.Duration
	// ProbationRequests is how many requests a member on probation may have in flight by round robin
	// and least_conn, at most 10,000; 0 is no limit.
	ProbationRequests int
}

// RetryBudget bounds the retries of a pool: at most Ratio of its requests, and always MinPerSecond.
type RetryBudget struct {
	// Ratio of retries to first attempts, 0 to 1.
	Ratio float64
	// MinPerSecond retries are allowed whatever the ratio says, at most 1,000,000.
	MinPerSecond int
}

// DefaultSettings are those of a pool whose configuration says nothing.
func DefaultSettings() Settings {
	return Settings{
		Balance: RoundRobin,
		Retries: DefaultRetries,
		Health: HealthSettings{
			Failures:          DefaultFailures,
			Cooldown:          DefaultCooldown,
			ProbationRequests: DefaultProbationRequests,
		},
	}
}

// State of a member.
type State uint8

// The states. A member on probation takes requests again; the next result decides.
const (
	Up State = iota
	Ejected
	Probation
)

func (s State) String() string {
	switch s {
	case Ejected:
		return "ejected"
	case Probation:
		return "probation"
	default:
		return "up"
	}
}
