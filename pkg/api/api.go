// Package api is the wire of the admin API: what a request and an answer look like, which paths
// there are and which limits hold. The daemon and the client both import it and never each other.
//
// Everything here is a plain value with JSON tags. A field that does not apply is absent in JSON.
package api

import (
	"net/url"
	"time"
)

// Paths of the API, version 1. They are the same on the admin socket and on every other listener.
const (
	PathEvents    = "/v1/events"
	PathMetrics   = "/metrics"
	PathOpenAPI   = "/v1/openapi.json"
	PathStatus    = "/v1/status"
	PathUpstreams = "/v1/upstreams"
)

// PathUpstream is the path of one pool.
func PathUpstream(name string) string { return PathUpstreams + "/" + url.PathEscape(name) }

// PathExplain is where a pool is asked which member a request would get.
func PathExplain(name string) string { return PathUpstream(name) + "/explain" }

// PathPreview is where a pool is asked which keys another member list would move.
func PathPreview(name string) string { return PathUpstream(name) + "/preview" }

// Limits of a request (docs/admin-api.md#limits).
const (
	// MaxBody is the largest request body in bytes; a larger one is answered 413.
	MaxBody = 2 << 20
	// MaxMembers is the largest member list of a pool.
	MaxMembers = 10_000
	// MaxKeys is how many keys a preview takes.
	MaxKeys = 100_000
	// MaxStreams is how many event streams there may be at once; one more is answered 503.
	MaxStreams = 50
	// MinWeight and MaxWeight bound a member's weight.
	MinWeight = 1
	MaxWeight = 1000
)

// Where a pool's member list comes from.
const (
	FromFile = "file"
	FromAPI  = "api"
)

// State of a member.
const (
	StateUp        = "up"
	StateEjected   = "ejected"
	StateProbation = "probation"
)

// Upstreams is the answer to GET /v1/upstreams: every pool, sorted by name.
type Upstreams struct {
	Upstreams []Upstream `json:"upstreams"`
}

// Upstream is one pool as it is now.
type Upstream struct {
	Name string `json:"name"`
	// MembersFrom is "file" or "api"; only an api pool takes a member list at run time.
	MembersFrom string `json:"members_from"`
	// Balance is "round_robin", "least_conn" or "hash".
	Balance string `json:"balance"`
	Hash    *Hash  `json:"hash,omitempty"`
	Scheme  string `json:"scheme"`
	TLS     *TLS   `json:"tls,omitempty"`
	// Retries is how many more members a request may try, 0 to 5.
	Retries int `json:"retries"`
	// RetryBudget is absent where retries have no limit in total.
	RetryBudget *RetryBudget `json:"retry_budget,omitempty"`
	// Keepalive is how many idle connections are kept for each member; 0 keeps none.
	Keepalive     int           `json:"keepalive"`
	PassiveHealth PassiveHealth `json:"passive_health"`
	CountTunnels  bool          `json:"count_tunnels,omitempty"`
	// Revision grows with every change of the member list or the settings.
	Revision uint64 `json:"revision"`
	// ETag holds the revision and an id of this pool's incarnation, quotes included.
	ETag string `json:"etag"`
	// Fingerprint digests all that a header or client_ip mapping depends on: equal fingerprints on two
	// daemons prove equal mappings. It is absent for pools that hash neither.
	Fingerprint string `json:"fingerprint,omitempty"`
	// RestoredFrom is when the state file was written that the list was read from at the start; absent where the
	// list comes from elsewhere, and once a list was set. What was set after that time is not in it.
	RestoredFrom *time.Time `json:"restored_from,omitempty"`
	Members      []Member   `json:"members"`
}

// Hash says what a hash pool hashes.
type Hash struct {
	// By is "cookie", "header" or "client_ip".
	By string `json:"by"`
	// Name is the cookie's or the header's name; absent for client_ip.
	Name string `json:"name,omitempty"`
	// CookieMaxAge is absent for a session cookie.
	CookieMaxAge string `json:"cookie_max_age,omitempty"`
}

// TLS is how members of an https pool are verified.
type TLS struct {
	CAFile     string `json:"ca_file,omitempty"`
	ServerName string `json:"server_name,omitempty"`
}

// PassiveHealth is when a member is ejected and for how long.
type PassiveHealth struct {
	// Failures in a row before a member is ejected; 0 never ejects.
	Failures int `json:"failures"`
	// Cooldown is how long it stays out, as a duration such as "10s".
	Cooldown string `json:"cooldown"`
	// ProbationRequests is how many requests a member on probation may have in flight; 0 is no limit.
	ProbationRequests int `json:"probation_requests"`
}

// RetryBudget bounds the retries of a pool in total.
type RetryBudget struct {
	// Ratio of retries to requests, 0 to 1.
	Ratio float64 `json:"ratio"`
	// MinPerSecond retries are always allowed.
	MinPerSecond int `json:"min_per_second"`
}

// Member is one member of a pool as it is now.
type Member struct {
	Address string `json:"address"`
	Weight  int    `json:"weight"`
	// State is "up", "ejected" or "probation".
	State string `json:"state"`
	// InFlight counts requests whose answer is not finished.
	InFlight int `json:"in_flight"`
	// ConsecutiveFailures is the number of failures since the last success.
	ConsecutiveFailures int `json:"consecutive_failures"`
	// EjectedUntil is the end of the ejection; absent unless State is "ejected".
	EjectedUntil *time.Time `json:"ejected_until,omitempty"`
	// LastFailure is the cause of the last failure, for example "connect_refused"; absent if there was none.
	LastFailure string `json:"last_failure,omitempty"`
}

// SetMembers is the body of PUT /v1/upstreams/{name}: the whole list. Members must be there; an empty
// list is accepted and empties the pool.
type SetMembers struct {
	Members []SetMember `json:"members"`
}

// SetMember is one entry of SetMembers.
type SetMember struct {
	Address string `json:"address"`
	// Weight is 1 to 1000; absent means 1.
	Weight *int `json:"weight,omitempty"`
}

// Status is the answer to GET /v1/status.
type Status struct {
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	// Boot tells this run of the process from every other.
	Boot      string     `json:"boot"`
	Listeners []Listener `json:"listeners"`
	Config    ConfigInfo `json:"config"`
	// LastReload is absent before the first one.
	LastReload *Reload `json:"last_reload,omitempty"`
	// RateLimits and Quotas are those of all applications and routes, by tenant, application and path; absent
	// where there are none.
	RateLimits []RateLimit `json:"rate_limits,omitempty"`
	Quotas     []Quota     `json:"quotas,omitempty"`
	// Draining is true once the process was told to stop.
	Draining bool `json:"draining,omitempty"`
}

// Listener is one listening socket.
type Listener struct {
	Name string `json:"name"`
	// Address is where it really listens, also if the configuration asked for port 0.
	Address string `json:"address"`
}

// ConfigInfo says which configuration is served.
type ConfigInfo struct {
	// Source is the file, or "demo".
	Source string `json:"source"`
	// Digest is the SHA-256 of the configuration text, in hex.
	Digest   string    `json:"digest"`
	LoadedAt time.Time `json:"loaded_at"`
}
