// Package proxy is the data plane: it reads requests, asks the engine for a member, sends them there and
// passes the answer back, once or with retries.
//
// A client connection is served by a task on a loop, which leaves the loop where it waits; what may block, such as an
// upload that is still arriving, is done aside, on goroutines. Every failed attempt says whose fault it was and how far it got; what follows from that,
// for health and for retries, are the engine's tables.
package proxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/http1"
	"github.com/scalws/scalws/pkg/server/internal/loop"
	"github.com/scalws/scalws/pkg/server/internal/route"
)

// Config is what a request is served by. It is immutable and replaced whole; a request keeps the one that
// it began with.
type Config struct {
	Routes *route.Table[*Runtime]
	// TrustedProxies are the peers whose X-Forwarded-* and Forwarded are believed.
	TrustedProxies []netip.Prefix
	// Forwarded is how members are told about the client. The zero value is X-Forwarded-*.
	Forwarded Forwarded
	// Limits of a request head.
	Limits http1.Limits
	// HeaderTimeout bounds a request head, BodyReadTimeout is the longest gap in an upload, IdleTimeout
	// the wait between requests and the longest time that a client may take nothing of an answer.
	HeaderTimeout   time.Duration
	BodyReadTimeout time.Duration
	IdleTimeout     time.Duration
	// MaxConnections bounds the connections of clients that are served at once; 0 is no bound.
	MaxConnections int
}

// Server is the data plane.
type Server struct {
	hooks   Hooks
	loops   *loop.Group
	config  atomic.Pointer[Config]
	buffers buffers
	date    dateCache

	draining atomic.Bool
	stop     context.Context // ends when connections are cut: dials end with it
	cut      context.CancelFunc

	accepting sync.WaitGroup
	ended     sync.Pool // of *conn, to be used again

	mu    sync.Mutex
	conns map[*conn]struct{}
	// streams are requests of HTTP/2, which may outlive their connection by a little; negative once all is over.
	streams int
	gone    chan struct{} // closed and replaced when a connection ends
	room    sync.Cond     // signalled when there may be room for another connection
}

// New makes a data plane that listens nowhere yet. Its connections are served on the loops.
func New(c *Config, loops *loop.Group, h Hooks) *Server {
	s := &Server{hooks: h, loops: loops, conns: map[*conn]struct{}{}, gone: make(chan struct{})}
	s.room.L = &s.mu
	s.buffers.shelves = make([]shelf, loops.Len())
	s.stop, s.cut = context.WithCancel(context.Background())
	s.config.Store(c)
	return s
}

// acceptPause is how long accepting rests after a failure such as too many open files: long enough not to
// spin, short enough to recover at once when descriptors come back.
const acceptPause = 50 * time.Millisecond

// Update makes c what requests are served by that begin from now on.
func (s *Server) Update(c *Config) {
	s.config.Store(c)
	s.wakeWaiting() // the bound of connections may have moved
}

// wakeWaiting has who waits for room look again. The lock keeps it from coming between its last look and its wait.
func (s *Server) wakeWaiting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room.Broadcast()
}

// Serve begins to accept connections, until the listener has finished or is closed; Drain waits for that. It is called
// once for each listener, and no more once Drain is.
func (s *Server) Serve(l *Listener) {
	s.accepting.Add(1)
	l.over = make(chan struct{})
	var t *loop.Task
	t = l.accepts.Loop().NewTask(func() {
		defer s.accepting.Done()
		defer close(l.over)
		l.accepts.Bind(t)
		s.accept(l, t)
	})
	t.Begin()
}

// accept is Serve's task.
func (s *Server) accept(l *Listener, t *loop.Task) {
	for {
		sock, err := l.accepts.Next(s.loops.Pick)
		switch {
		case err == nil:
		case errors.Is(err, net.ErrClosed), timedOut(err), s.stop.Err() != nil:
			return
		default:
			t.Aside(s.restAccepting)
			continue
		}
		c := newConn(s, sock, l)
		if !s.admit(c) {
			t.Aside(func() { s.waitForRoom(c) })
		}
		l.stats.accepted.Add(1)
		l.stats.connections.Add(1)
		c.task.Begin()
	}
}

// restAccepting waits after a failure.
func (s *Server) restAccepting() {
	select {
	case <-s.stop.Done():
	case <-time.After(acceptPause):
	}
}

// admit lets a connection in if there is room for one more: others wait in the backlog meanwhile. A drain does
// not wait.
func (s *Server) admit(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.letIn(c)
}

// waitForRoom is admit when there will be room.
func (s *Server) waitForRoom(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.letIn(c) {
		s.room.Wait()
	}
}

// letIn is admit. The caller holds mu.
func (s *Server) letIn(c *conn) bool {
	most := s.config.Load().MaxConnections
	if most > 0 && len(s.conns) >= most && !c.draining() {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

// BeginDrain has answers say Connection: close, and lets in who waits for room: the listeners can take what is in
// their backlogs, before they are closed.
func (s *Server) BeginDrain() {
	s.draining.Store(true)
	s.wakeWaiting()
}

// Drain lets requests in flight finish: answers say Connection: close, idle connections are closed. The
// listeners are closed before. It returns when no connection is left, or with ctx's error.
func (s *Server) Drain(ctx context.Context) error {
	s.BeginDrain()
	s.accepting.Wait() // a connection that is accepted is a connection that is drained
	s.mu.Lock()
	for c := range s.conns {
		c.wake()
	}
	s.mu.Unlock()
	for {
		s.mu.Lock()
		left, gone := len(s.conns)+s.streams, s.gone
		s.mu.Unlock()
		if left == 0 {
			return nil
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Retire lets the connections of one listener finish, as Drain does for all of them, and does not wait. Tunnels
// go on. The listener is closed after it: what it still takes from its backlog is let in, and finishes the same way.
func (s *Server) Retire(l *Listener) {
	l.retired.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room.Broadcast()
	for c := range s.conns {
		if c.listener == l {
			c.wake()
		}
	}
}

// Close cuts every connection and waits until their goroutines have ended.
func (s *Server) Close() {
	s.BeginDrain()
	s.cut()
	for {
		s.mu.Lock()
		for c := range s.conns {
			c.abort()
		}
		left, gone := len(s.conns)+max(s.streams, 0), s.gone
		if left == 0 {
			s.streams = -1
		}
		s.mu.Unlock()
		if left == 0 {
			return
		}
		<-gone
	}
}

// Connections is the number of client connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.room.Signal()
	s.tell()
	s.mu.Unlock()
	c.listener.stats.connections.Add(-1)
	c.reset(nil, nil)
	s.ended.Put(c)
}

// tell wakes who waits for the last connection. The caller holds mu.
func (s *Server) tell() {
	if s.draining.Load() { // otherwise nobody waits
		close(s.gone)
		s.gone = make(chan struct{})
	}
}

// beginStream counts a request of HTTP/2. It is false once all is over.
func (s *Server) beginStream() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams < 0 {
		return false
	}
	s.streams++
	return true
}

func (s *Server) endStream() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams--
	s.tell()
}

// dateCache holds the Date field's value of the current second (RFC 9110 section 6.6.1).
type dateCache struct{ p atomic.Pointer[datedSecond] }

type datedSecond struct {
	unix int64
	text []byte
}

func (d *dateCache) at(now time.Time) []byte {
	if c := d.p.Load(); c != nil && c.unix == now.Unix() {
		return c.text
	}
	c := &datedSecond{unix: now.Unix(), text: now.UTC().AppendFormat(nil, "Mon, 02 Jan 2006 15:04:05 GMT")}
	d.p.Store(c)
	return c.text
}
