package lb

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Options describe a new pool.
type Options struct {
	Name     string
	Settings Settings
	// Members in canonical form and checked, see [CheckMembers].
	Members []Member
	// Key is the secret of affinity tokens; needed where Settings.Hash.By is cookie.
	Key []byte
	// Seq numbers the events; it is shared by all pools of a process. nil: one of its own.
	Seq *Sequence
	// Events is how many events are kept; 0 is 256.
	Events int
	// Revision is the first revision, for a pool that takes over from another one; 0 is 1.
	Revision uint64
	// Attach is called once for each address that joins, outside the pool's lock; what it returns is the
	// attachment of the member's leases. nil attaches nothing.
	Attach func(address string) any
	// Now is the present. The pool measures time from here, on the monotonic clock where the times have one.
	Now time.Time
}

// Pool is a set of members that requests are balanced over. It is safe for use by several goroutines.
// Times that are passed to it may be a little out of order.
type Pool struct {
	name     string
	settings Settings
	key      []byte
	attach   func(address string) any
	start    time.Time
	events   *ring
	// roster is the present list. It is replaced under mu, its queues are guarded by mu.
	roster atomic.Pointer[roster]

	// preparing is held while the next roster is made. It is taken before mu.
	preparing sync.Mutex

	mu     sync.Mutex
	budget *budget
	// ejections counts the changes of which members are ejected, and numbers the ejections.
	ejections int64
	// draft is the roster in preparation, nil if there is none.
	draft *draft
}

// NewPool makes a pool. It fails on settings out of bounds, members that are not checked, and a missing
// key.
func NewPool(o Options) (*Pool, error) {
	if err := o.Settings.check(); err != nil {
		return nil, fmt.Errorf("making pool %s: %w", o.Name, err)
	}
	members, problems := CheckMembers(o.Members, false)
	if len(problems) > 0 {
		return nil, fmt.Errorf("making pool %s: %w", o.Name, problems[0])
	}
	if o.Settings.Balance == Hash && o.Settings.Hash.By == ByCookie && len(o.Key) == 0 {
		return nil, fmt.Errorf("making pool %s: %w", o.Name, errors.New("affinity by cookie needs a key"))
	}
	seq := o.Seq
	if seq == nil {
		seq = new(Sequence)
	}
	p := &Pool{
		name:     o.Name,
		settings: o.Settings.clone(),
		key:      append([]byte(nil), o.Key...),
		attach:   o.Attach,
		start:    o.Now,
		events:   newRing(seq, o.Events),
		budget:   newBudget(o.Settings.Budget),
	}
	r := newRoster(p.settings, nil, members, p.join)
	r.revision = max(o.Revision, 1)
	p.roster.Store(r)
	return p, nil
}

// join makes the member of an address.
func (p *Pool) join(address string) *member {
	m := &member{address: address}
	m.until.Store(inRotation)
	if p.settings.Balance == Hash && p.settings.Hash.By == ByCookie {
		m.token = newToken(p.key, address).String()
	}
	if p.settings.hashesKeys() {
		m.seed = seedOf(address)
	}
	if p.attach != nil {
		m.attachment = p.attach(address)
	}
	return m
}

// Name of the pool.
func (p *Pool) Name() string { return p.name }

// Settings of the pool; they never change, and the budget that they point to must not be changed.
func (p *Pool) Settings() Settings { return p.settings }

// Len is the number of members now.
func (p *Pool) Len() int { return len(p.roster.Load().members) }

// Fingerprint digests all that the mapping of keys to members depends on, as 16 hex digits: pools with
// equal fingerprints map every request alike while no member is ejected. It is "" unless the pool hashes
// by header or client_ip.
func (p *Pool) Fingerprint() string { return p.roster.Load().fingerprint }

// RetryAllowed reports whether the retry budget has one more retry, and takes nothing from it. It is true
// without a budget.
func (p *Pool) RetryAllowed(now time.Time) bool {
	if p.budget == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.budget.allows(p.at(now))
}

// at is a time on the pool's clock: nanoseconds since it was made.
func (p *Pool) at(now time.Time) int64 { return int64(now.Sub(p.start)) }

func (s Settings) clone() Settings {
	if s.Budget != nil {
		b := *s.Budget
		s.Budget = &b
	}
	return s
}

// check holds the settings against their bounds.
func (s Settings) check() error {
	h, b := s.Health, s.Budget
	switch {
	case s.Balance != RoundRobin && s.Balance != LeastConn && s.Balance != Hash:
		return fmt.Errorf("balance %q is none of round_robin, least_conn, hash", s.Balance)
	case s.Balance == Hash && s.Hash.By != ByCookie && s.Hash.By != ByHeader && s.Hash.By != ByClientIP:
		return fmt.Errorf("hash.by %q is none of cookie, header, client_ip", s.Hash.By)
	case s.Retries < 0 || s.Retries > MaxRetries:
		return fmt.Errorf("retries must be between 0 and %d", MaxRetries)
	case h.Failures < 0 || h.Failures > MaxFailures:
		return fmt.Errorf("passive_health.failures must be between 0 and %d", MaxFailures)
	case h.Cooldown < MinCooldown || h.Cooldown > MaxCooldown:
		return fmt.Errorf("passive_health.cooldown must be between %v and %v", MinCooldown, MaxCooldown)
	case h.ProbationRequests < 0 || h.ProbationRequests > MaxProbationRequests:
		return fmt.Errorf("passive_health.probation_requests must be between 0 and %d", MaxProbationRequests)
	case b != nil && (b.Ratio < 0 || b.Ratio > 1 || math.IsNaN(b.Ratio)):
		return errors.New("retry_budget.ratio must be between 0 and 1")
	case b != nil && (b.MinPerSecond < 0 || b.MinPerSecond > MaxMinPerSecond):
		return fmt.Errorf("retry_budget.min_per_second must be between 0 and %d", MaxMinPerSecond)
	}
	return nil
}
