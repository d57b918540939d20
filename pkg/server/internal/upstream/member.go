// Package upstream keeps the connections to members: dialling, TLS, the idle ones, and the look that
// tells whether an idle one is still open before a request is written to it.
package upstream

import (
	"crypto/tls"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Class of an attempt's result, in the order of the class label of scalws_upstream_requests_total.
type Class uint8

// The classes. A 101 counts as 2xx; Error is a member failure without an answer.
const (
	Class2xx Class = iota
	Class3xx
	Class4xx
	Class5xx
	ClassError
	Classes = 5
)

// ClassOf the final status of a member's answer.
func ClassOf(status int) Class {
	switch {
	case status < 300:
		return Class2xx
	case status < 400:
		return Class3xx
	case status < 500:
		return Class4xx
	default:
		return Class5xx
	}
}

// Options are what all members of a pool have in common.
type Options struct {
	// TLS is nil for plain HTTP. Without a ServerName in it the member's host is the name.
	TLS *tls.Config
	// Keepalive is how many idle connections are kept; 0 keeps none.
	Keepalive int
	// IdleTimeout is how long an idle connection is kept; 0 is no limit.
	IdleTimeout time.Duration
	// Resolver resolves the names of members; nil is the system's.
	Resolver *net.Resolver
	// Spare closes idle connections of the pool to make room for a new one, and is false if there were none.
	// It is called by Dial where descriptors are short; nil closes none.
	Spare func() bool
}

// Member is an address and its connections. It counts its attempts because both live exactly as long.
type Member struct {
	network string
	address string
	options Options
	// idleTimeout is Options.IdleTimeout until it is changed.
	idleTimeout atomic.Int64

	// Attempts by class.
	Attempts [Classes]atomic.Uint64

	mu     sync.Mutex
	idle   []*Conn // the last is the most recently used
	closed bool
}

// NewMember makes a member without connections. The address has the canonical form of a pool's member.
func NewMember(address string, o Options) *Member {
	m := &Member{network: "tcp", address: address, options: o}
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		m.network, m.address = "unix", path
	}
	m.SetIdleTimeout(o.IdleTimeout)
	if o.TLS != nil {
		m.options.TLS = memberTLS(o.TLS, m.address)
	}
	return m
}

// SetIdleTimeout changes how long idle connections are kept, those that are there included; 0 is no limit.
func (m *Member) SetIdleTimeout(d time.Duration) { m.idleTimeout.Store(int64(d)) }

// Get takes the most recently used idle connection that is still open, or returns nil. Connections that
// the member has closed meanwhile are dropped on the way.
func (m *Member) Get(now time.Time) *Conn {
	for {
		m.mu.Lock()
		last := len(m.idle) - 1
		if last < 0 {
			m.mu.Unlock()
			return nil
		}
		c := m.idle[last]
		m.idle[last] = nil
		m.idle = m.idle[:last]
		m.mu.Unlock()

		switch {
		case !m.fresh(c, now):
			c.leave()
		case !c.open():
			c.Cut()
		default:
			c.IdleFor = now.Sub(c.idleSince)
			c.Reused = true
			return c
		}
	}
}

// Put gives a connection back after an exchange that left it clean. It is closed where the member was
// removed or keeps enough already.
func (m *Member) Put(c *Conn, now time.Time) {
	c.idleSince = now
	m.mu.Lock()
	keep := !m.closed && len(m.idle) < m.options.Keepalive
	if keep {
		m.idle = append(m.idle, c)
	}
	m.mu.Unlock()
	if !keep {
		c.leave()
	}
}

// Idle is the number of idle connections.
func (m *Member) Idle() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.idle)
}

// Expire closes the connections that were idle for too long.
func (m *Member) Expire(now time.Time) {
	m.mu.Lock()
	n := 0 // the oldest come first
	for n < len(m.idle) && !m.fresh(m.idle[n], now) {
		n++
	}
	var old []*Conn
	if n > 0 {
		old = append(old, m.idle[:n]...)
		rest := copy(m.idle, m.idle[n:])
		clear(m.idle[rest:])
		m.idle = m.idle[:rest]
	}
	m.mu.Unlock()
	closeAll(old)
}

// Close closes the idle connections. The ones in use finish and are closed by Put.
func (m *Member) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.CloseIdle()
}

// CloseIdle closes the idle connections and returns how many there were. New ones will be kept again.
func (m *Member) CloseIdle() int {
	m.mu.Lock()
	idle := m.idle
	m.idle = nil
	m.mu.Unlock()
	closeAll(idle)
	return len(idle)
}

func (m *Member) fresh(c *Conn, now time.Time) bool {
	limit := time.Duration(m.idleTimeout.Load())
	return limit <= 0 || now.Sub(c.idleSince) < limit
}

func closeAll(conns []*Conn) {
	for _, c := range conns {
		c.leave()
	}
}
