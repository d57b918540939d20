package proxy

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/route"
)

// Pool is a pool as the data plane uses it: the engine that chooses, and what is counted besides.
// The engine's attachments are *upstream.Member.
type Pool struct {
	// Name is empty for a single address: no metrics, and "-" in the log.
	Name   string
	Engine *lb.Pool
	// Retries counts requests sent to another member.
	Retries atomic.Uint64
	// Heads observes the time to the response head, retries included.
	Heads Durations

	settings lb.Settings
	hashName string // in lower case for a header
	cookie   string // what follows the affinity cookie's value
	retired  atomic.Bool
}

// Retire ends the retries of a pool that is not served any more: requests that are under way finish the attempt
// that they are at.
func (p *Pool) Retire() { p.retired.Store(true) }

// NewPool makes the data plane's side of a pool.
func NewPool(name string, engine *lb.Pool) *Pool {
	s := engine.Settings()
	p := &Pool{Name: name, Engine: engine, settings: s, hashName: s.Hash.Name}
	switch s.Hash.By {
	case lb.ByHeader:
		p.hashName = strings.ToLower(s.Hash.Name)
	case lb.ByCookie:
		p.cookie = cookieAttributes(s.Hash.CookieMaxAge)
	}
	return p
}

// Resends are counters of requests sent again, for HTTP/1 and HTTP/2.
type Resends [2]atomic.Uint64

// The indexes of Resends.
const (
	HTTP1 = iota
	HTTP2
)

// Backend is one entry of a runtime's split: a pool, or a status that is answered here.
type Backend struct {
	Pool   *Pool
	Status int
	Weight int
}

// Runtime answers the requests of an application or a route. Without Backends it is only a policy that does.
type Runtime struct {
	Tenant      string
	Application string
	// Limits bound the requests; nil: none.
	Limits *Limits
	// Fixed or Static answers here; at most one is not nil, and then all that is about members is zero.
	Fixed  *Fixed
	Static *Static
	// Backends has one entry unless requests are split.
	Backends []Backend
	// PreserveHost passes the client's Host on; otherwise the member's address is sent.
	PreserveHost bool
	// WebSocket allows upgrades.
	WebSocket bool
	// MaxBody of a request in bytes; 0 is no limit.
	MaxBody int64
	// ConnectTimeout and ResponseTimeout are for each attempt, BodyTimeout is the longest gap in an
	// answer. 0 is no limit.
	ConnectTimeout  time.Duration
	ResponseTimeout time.Duration
	BodyTimeout     time.Duration
	// Policy is what holds besides; nil: nothing.
	Policy *route.Policy
	// Logins are asked where the policy has a login.
	Logins Logins
	// Resends counts requests sent again because a kept-alive connection was stale, by the client's protocol.
	Resends *Resends

	split *lb.Split
}

// NewRuntime makes r ready to choose among its backends.
func NewRuntime(r Runtime) *Runtime {
	if len(r.Backends) > 1 {
		weights := make([]int, len(r.Backends))
		for i, b := range r.Backends {
			weights[i] = b.Weight
		}
		r.split = lb.NewSplit(weights)
	}
	return &r
}

// Follow goes on with the split where before is, so that replacing a runtime by a like one moves no share of the
// requests. It is called before r is used, and does nothing where the backends differ.
func (r *Runtime) Follow(before *Runtime) {
	same := func(a, b Backend) bool {
		return a.Weight == b.Weight && a.Status == b.Status && (a.Pool == nil) == (b.Pool == nil) && (a.Pool == nil || a.Pool.Name == b.Pool.Name)
	}
	if slices.EqualFunc(r.Backends, before.Backends, same) {
		r.split = before.split
	}
}

// backend chooses by weight. A pool without members is skipped while another one has some
// (docs/load-balancing.md#weighted-backends).
func (r *Runtime) backend() *Backend {
	if r.split == nil {
		return &r.Backends[0]
	}
	skip := r.empty
	if !r.anyMembers() {
		skip = nil
	}
	i, ok := r.split.Next(skip)
	if !ok { // the last members left just now
		i, _ = r.split.Next(nil)
	}
	return &r.Backends[i]
}

func (r *Runtime) anyMembers() bool {
	for i := range r.Backends {
		if b := &r.Backends[i]; b.Weight > 0 && b.Pool != nil && b.Pool.Engine.Len() > 0 {
			return true
		}
	}
	return false
}

func (r *Runtime) empty(i int) bool {
	b := &r.Backends[i]
	return b.Pool != nil && b.Pool.Engine.Len() == 0
}
