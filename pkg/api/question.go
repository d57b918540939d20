package api

// Query parameters of the questions about a pool.
const (
	// ParamDryRun, "true" or "false", makes a PUT a rehearsal.
	ParamDryRun = "dry_run"
	// ParamClientIP, ParamHeader and ParamCookie are what a request would bring.
	ParamClientIP = "client_ip"
	ParamHeader   = "header"
	ParamCookie   = "cookie"
)

// Change is the answer to a PUT with dry_run=true: what the list would change.
type Change struct {
	// Added and Removed are members with the weight that they would get, or have.
	Added      []Entry    `json:"added"`
	Removed    []Entry    `json:"removed"`
	Reweighted []Reweight `json:"reweighted"`
	// Unchanged members are in both lists with one weight.
	Unchanged int `json:"unchanged"`
	// Shares are those of all members of both lists, the new list first. They go by weight and know
	// nothing of ejections.
	Shares []Share `json:"shares"`
	// WouldBe is the pool as it would be. Its revision and ETag are a forecast: another change may come first.
	WouldBe Upstream `json:"would_be"`
}

// Entry is one entry of a member list.
type Entry struct {
	Address string `json:"address"`
	Weight  int    `json:"weight"`
}

// Reweight is a member that gets another weight.
type Reweight struct {
	Address string `json:"address"`
	From    int    `json:"from"`
	To      int    `json:"to"`
}

// Share is a member's part of the requests, 0 to 1, before and after a change.
type Share struct {
	Address string  `json:"address"`
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
}

// Explanation is the answer to GET /v1/upstreams/{name}/explain: which member a request would get now.
type Explanation struct {
	Pool     string `json:"pool"`
	Revision uint64 `json:"revision"`
	// Key is what the pool would hash, in its canonical form; absent without one.
	Key string `json:"key,omitempty"`
	// Member is absent if the request would get none.
	Member string `json:"member,omitempty"`
	// Reason is "affinity" (the cookie names it), "rendezvous" (it has the key), "round_robin",
	// "least_conn" or "last_resort" (all members are ejected); absent without a member.
	Reason string `json:"reason,omitempty"`
	// Others are the other members in the order of the list.
	Others []PassedOver `json:"others"`
	// Retries are the members that the retries would go to, as things stand.
	Retries []string `json:"retries"`
}

// PassedOver is a member that was not chosen.
type PassedOver struct {
	Address string `json:"address"`
	// Why is for people.
	Why string `json:"why"`
}

// PreviewMembers is the body of POST /v1/upstreams/{name}/preview.
type PreviewMembers struct {
	Members []SetMember `json:"members"`
	// Keys are values of the header, or client addresses. Without any, 65,536 fixed probes are taken.
	Keys []string `json:"keys,omitempty"`
}

// Preview is the answer to a preview: how many keys another member list would move.
type Preview struct {
	// Keys is how many were looked at, Source "probe" or "given".
	Keys   int    `json:"keys"`
	Source string `json:"source"`
	// Moved keys would get another member. From and To count them by the member that they leave and the
	// one that they get.
	Moved int            `json:"moved"`
	From  map[string]int `json:"from"`
	To    map[string]int `json:"to"`
}
