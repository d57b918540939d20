package lb

import "time"

// Lease is a member handed out for one attempt. It is used by one goroutine at a time and not copied
// once Answered or Done was called. The zero Lease is inert.
type Lease struct {
	pool      *Pool
	member    *member
	ejections uint32
	state     leaseState
}

type leaseState uint8

const (
	leaseByKey leaseState = 1 << iota
	// leaseProbing: it has a place of a member on probation.
	leaseProbing
	// leaseSucceeded and leaseFailed: the head said so.
	leaseSucceeded
	leaseFailed
	leaseDone
)

// Address of the member, "" for the zero Lease.
func (l *Lease) Address() string {
	if l.member == nil {
		return ""
	}
	return l.member.address
}

// Attachment is what Options.Attach returned for the member.
func (l *Lease) Attachment() any {
	if l.member == nil {
		return nil
	}
	return l.member.attachment
}

// Token is the member's affinity token, "" unless the pool hashes by cookie.
func (l *Lease) Token() string {
	if l.member == nil {
		return ""
	}
	return l.member.token
}

// ByKey reports whether the key decided: then an affinity cookie is right already.
func (l *Lease) ByKey() bool { return l.state&leaseByKey != 0 }

// Answered tells, before the attempt is over, what the response head says of the member. A success ends
// its probation or, after a last resort, its ejection; a failure counts at once. It is optional, and a
// second one does nothing.
func (l *Lease) Answered(now time.Time, o Outcome) {
	if l.member == nil || l.state&(leaseDone|leaseSucceeded|leaseFailed) != 0 || o.verdict == neutral {
		return
	}
	if o.verdict == success {
		l.state |= leaseSucceeded
		if !l.member.troubled.Load() {
			return
		}
	} else {
		l.state |= leaseFailed
	}
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.pool.answered(now, l, o)
}

// Done ends the attempt. It is called exactly once, when the body is finished or has failed; a second
// call does nothing. A success sets the member's count of failures back. A failure counts, unless
// Answered reported one already. A neutral outcome changes nothing.
func (l *Lease) Done(now time.Time, o Outcome) {
	if l.member == nil || l.state&leaseDone != 0 {
		return
	}
	l.state |= leaseDone
	if l.state&leaseFailed != 0 {
		o = Neutral()
	}
	p, m := l.pool, l.member
	if o.verdict != failure && l.state&leaseProbing == 0 && !m.troubled.Load() && p.settings.Balance != LeastConn {
		m.inFlight.Add(-1) // nothing that the lock guards would change
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m.inFlight.Add(-1)
	p.done(now, l, o)
}
