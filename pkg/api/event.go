package api

import "time"

// Query parameters and fields of GET /v1/events.
const (
	// ParamPool keeps the events of one pool, and those that are about no pool.
	ParamPool = "pool"
	// ParamSince leaves out the events up to a number.
	ParamSince = "since"
	// HeaderLastEvent is where a stream goes on: the id of the event that came last, "boot.seq".
	HeaderLastEvent = "Last-Event-ID"
	// StreamType is the media type of a live stream; a request that accepts it gets one.
	StreamType = "text/event-stream"
	// HeartbeatSeconds is the longest silence of a stream: a comment comes where no event does.
	HeartbeatSeconds = 15
)

// Kinds of events.
const (
	EventEjected     = "ejected"
	EventProbation   = "probation"
	EventRecovered   = "recovered"
	EventAdded       = "member_added"
	EventRemoved     = "member_removed"
	EventReweighted  = "member_reweighted"
	EventReload      = "reload"
	EventPoolAdded   = "pool_added"
	EventPoolRebuilt = "pool_rebuilt"
	EventPoolRemoved = "pool_removed"
	// EventGap stands for events that are no longer held.
	EventGap = "gap"
)

// Events is the answer to GET /v1/events: what happened, the oldest first.
type Events struct {
	// Boot is the run of the process that the numbers belong to.
	Boot   string  `json:"boot"`
	Events []Event `json:"events"`
}

// Event is one change of a pool or of a member's state.
type Event struct {
	// Seq numbers the events of the process. A gap has the number of the last event that is missing; 0 if
	// those of another run are.
	Seq uint64 `json:"seq"`
	// Time is absent for a gap behind which nothing is known.
	Time *time.Time `json:"time,omitempty"`
	// Pool is absent for what is about the process.
	Pool string `json:"pool,omitempty"`
	// Kind says what happened, for example "ejected".
	Kind string `json:"kind"`
	// Member is its address; absent for what is about a pool.
	Member string `json:"member,omitempty"`
	// Until is the end of an ejection.
	Until *time.Time `json:"until,omitempty"`
	// Actor is who did it: "health", or the caller who changed the list; absent for a gap.
	Actor string `json:"actor,omitempty"`
	// From and To are the weights of a member that was reweighted.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// Evidence is the failures that led to an ejection, the oldest first; of more than 8 the last 8.
	Evidence []Evidence `json:"evidence,omitempty"`
}

// Evidence is one failure.
type Evidence struct {
	Time time.Time `json:"time"`
	// Cause is one of the values of a member's last failure.
	Cause string `json:"cause"`
	// Detail is the error's text where there is one.
	Detail string `json:"detail,omitempty"`
}
