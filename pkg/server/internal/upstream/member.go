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

	"github.com/scalws/scalws/pkg/server/internal/loop"
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
	idle   [][]*Conn // by loop; the last is the most recently used
	count  int       // of all
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

// Get takes the most recently used idle connection that is still open, or returns nil, and binds it to the task that
// will use it. Those of the task's own loop come first. Connections that the member has closed meanwhile are dropped on
// the way.
func (m *Member) Get(now time.Time, t *loop.Task) *Conn {
	for {
		c := m.take(t)
		if c == nil {
			return nil
		}
		if !m.fresh(c, now) {
			c.leave() // on a goroutine: no task may have it
			continue
		}
		c.Bind(t)
		if !c.open() {
			c.Cut()
			continue
		}
		c.IdleFor = now.Sub(c.idleSince)
		c.Reused = true
		return c
	}
}

// take takes an idle connection: of the task's loop, or else of the one that has most.
func (m *Member) take(t *loop.Task) *Conn {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.count == 0 {
		return nil
	}
	from := 0
	if t != nil && t.Loop().Index() < len(m.idle) && len(m.idle[t.Loop().Index()]) > 0 {
		from = t.Loop().Index()
	} else {
		for i := range m.idle {
			if len(m.idle[i]) > len(m.idle[from]) {
				from = i
			}
		}
	}
	conns := m.idle[from]
	last := len(conns) - 1
	c := conns[last]
	conns[last] = nil
	m.idle[from] = conns[:last]
	m.count--
	return c
}

// Put gives a connection back after an exchange that left it clean. It is closed where the member was
// removed or keeps enough already.
func (m *Member) Put(c *Conn, now time.Time) {
	c.idleSince = now
	c.Bind(nil)
	if !m.put(c) {
		c.leave()
	}
}

func (m *Member) put(c *Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.count >= m.options.Keepalive {
		return false
	}
	at := c.socket.Loop().Index()
	for len(m.idle) <= at {
		m.idle = append(m.idle, nil)
	}
	m.idle[at] = append(m.idle[at], c)
	m.count++
	return true
}

// Idle is the number of idle connections.
func (m *Member) Idle() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count
}

// Expire closes the connections that were idle for too long.
func (m *Member) Expire(now time.Time) {
	m.mu.Lock()
	var old []*Conn
	for i, conns := range m.idle {
		n := 0 // the oldest come first
		for n < len(conns) && !m.fresh(conns[n], now) {
			n++
		}
		if n == 0 {
			continue
		}
		old = append(old, conns[:n]...)
		rest := copy(conns, conns[n:])
		clear(conns[rest:])
		m.idle[i] = conns[:rest]
		m.count -= n
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
	idle, n := m.idle, m.count
	m.idle, m.count = nil, 0
	m.mu.Unlock()
	for _, conns := range idle {
		closeAll(conns)
	}
	return n
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
