package lb

// Progress is how far an attempt got before it ended.
type Progress uint8

const (
	// NothingSent: resolution, connect or TLS failed; no byte of the request was written.
	NothingSent Progress = iota
	// Sent: some or all of the request was written. The member may have acted on it.
	Sent
	// HeadReceived: a whole final response head arrived.
	HeadReceived
)

// Attempt is what decides whether a request is sent again.
type Attempt struct {
	// Idempotent is true for GET, HEAD, OPTIONS, PUT and DELETE.
	Idempotent bool
	// Replayable is true without a body, and with one that was kept whole.
	Replayable bool
	// ClientStarted is true once a byte went to the client: a 1xx passed on, a 100 of ours, a head.
	ClientStarted bool
	// Upgrade is true for WebSocket handshakes, which go to one member.
	Upgrade  bool
	Progress Progress
	Outcome  Outcome
}

// ShouldRetry reports whether the request may be sent to another member (docs/load-balancing.md#retries).
// The number of retries and the pool's budget come on top of it.
func ShouldRetry(a Attempt) bool {
	if !a.Outcome.Failed() || a.ClientStarted || a.Upgrade || !a.Replayable {
		return false
	}
	switch a.Progress {
	case NothingSent:
		return true
	case Sent:
		return a.Idempotent
	default:
		return a.Idempotent && unavailable(a.Outcome.Cause())
	}
}

// unavailable reports whether a whole answer said that the member could not serve. Any other failure
// after the head is a broken body, which is never sent again.
func unavailable(c Cause) bool {
	return c == Status502 || c == Status503 || c == Status504
}

// MayRetry reports whether the pool tries again after an attempt: the table allows it, and the request has not
// used up the pool's retries. Whether there is somebody left to try, and the budget, is asked by [Pool.Retry].
func (p *Pool) MayRetry(a Attempt, tried *Tried) bool {
	return tried.Len() <= p.settings.Retries && ShouldRetry(a)
}
