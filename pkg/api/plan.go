package api

import "time"

// Paths of the configuration's calls.
const (
	PathConfig = "/v1/config"
	PathPlan   = "/v1/config/plan"
	PathReload = "/v1/reload"
)

// Results of a plan.
const (
	// PlanValid is a configuration that could be loaded.
	PlanValid = "valid"
	// PlanDone is one that is served now.
	PlanDone = "done"
)

// Plan is the answer to POST /v1/config/plan, what a reload would do, and to POST /v1/reload, what it did.
type Plan struct {
	// Result is "valid" for a plan, "done" after a reload.
	Result string `json:"result"`
	// Pools of both configurations, sorted by name.
	Pools []PoolPlan `json:"pools"`
	// Listeners and Applications of the new configuration in its order, then those that go.
	Listeners    []ListenerPlan    `json:"listeners"`
	Applications []ApplicationPlan `json:"applications"`
	// Settings are the paths of everything else that changes, for example "server.max_body".
	Settings []string `json:"settings"`
	// Warnings of the new configuration.
	Warnings []FieldError `json:"warnings,omitempty"`
}

// PoolPlan is what becomes of a pool.
type PoolPlan struct {
	Name string `json:"name"`
	// Action is "kept", "members_changed", "rebuilt", "added" or "removed".
	Action string `json:"action"`
	// Because names the settings that force a rebuild, for example "balance" or "tls.ca_file".
	Because []string `json:"because,omitempty"`
	// Loses is absent where nothing is lost.
	Loses *Loses `json:"loses,omitempty"`
	// Change of the member list; absent where the list stays.
	Change *ListChange `json:"change,omitempty"`
}

// Loses is what does not outlive a rebuild, a removal, or the removal of members. The numbers are those of the
// moment.
type Loses struct {
	// Ejections that are forgotten.
	Ejections int `json:"ejections,omitempty"`
	// IdleConnections to members that are closed.
	IdleConnections int `json:"idle_connections,omitempty"`
	// InFlight requests finish, and are neither counted nor retried elsewhere any more.
	InFlight int `json:"in_flight,omitempty"`
	// Affinity is true if clients are led to other members than before.
	Affinity bool `json:"affinity,omitempty"`
}

// ListenerPlan is what becomes of a listening socket.
type ListenerPlan struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	// Action is "kept", "changed" (the socket stays, new connections get other terms), "added" or "removed".
	Action string `json:"action"`
	// Because names the keys that differ.
	Because []string `json:"because,omitempty"`
}

// ApplicationPlan is what becomes of an application.
type ApplicationPlan struct {
	Tenant string `json:"tenant"`
	Name   string `json:"name"`
	// Action is "unchanged", "changed", "added" or "removed".
	Action string `json:"action"`
	// Because names the keys that differ, defaults included.
	Because []string `json:"because,omitempty"`
}

// Reload is how the last reload went.
type Reload struct {
	Time    time.Time `json:"time"`
	Success bool      `json:"success"`
	// Error says why it was refused; absent after a success.
	Error string `json:"error,omitempty"`
	// Problems of the configuration that was refused.
	Problems []FieldError `json:"problems,omitempty"`
}
