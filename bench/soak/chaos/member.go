package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// mood is how a member behaves for a while.
type mood string

const (
	well  mood = "well"  // answers every request, in one way or another
	shaky mood = "shaky" // fails every other one
	hung  mood = "hung"  // takes requests and says nothing
	down  mood = "down"  // refuses connections
)

// member is a server under the program's control. It is on an address of its own, from which nobody connects:
// while its listener is closed no other socket can come by its port.
type member struct {
	address string
	pool    *pool
	stories *stories

	// trouble is when the daemon may have seen this member fail, blind when an attempt can have failed that the
	// member knows nothing of, cuts when a request may have been written that the member never read.
	trouble, blind, cuts spans

	mu       sync.Mutex
	mood     mood
	listener net.Listener
	conns    map[*served]struct{}
	accepted uint64
	seed     uint64
	closed   bool
	running  sync.WaitGroup
}

// served is a connection from the daemon.
type served struct {
	net.Conn
	member *member
	random *rand.Rand
	// Guarded by the member's lock:
	busy bool     // with a request
	last *receipt // the request that it is or was busy with
	dead bool     // closed by the member in spite of what may come
}

const memberHost = "127.0.0.2"

func newMember(p *pool, s *stories, seed uint64) (*member, error) {
	m := &member{pool: p, stories: s, seed: seed, mood: well, address: memberHost + ":0", conns: make(map[*served]struct{})}
	if err := m.listen(); err != nil {
		return nil, err
	}
	m.address = m.listener.Addr().String()
	return m, nil
}

func (m *member) listen() error {
	l, err := net.Listen("tcp", m.address)
	if err != nil {
		return fmt.Errorf("starting member: %w", err)
	}
	m.mu.Lock()
	m.listener = l
	m.mu.Unlock()
	m.running.Go(func() { m.accept(l) })
	return nil
}

func (m *member) accept(l net.Listener) {
	for {
		nc, err := l.Accept()
		if err != nil {
			return // closed
		}
		m.mu.Lock()
		m.accepted++
		c := &served{Conn: nc, member: m, random: rand.New(rand.NewPCG(m.seed, m.accepted))}
		if m.closed || m.listener != l {
			m.mu.Unlock()
			nc.Close()
			continue
		}
		m.conns[c] = struct{}{}
		m.running.Go(c.serve)
		m.mu.Unlock()
	}
}

func (m *member) gone(c *served) {
	c.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.conns, c)
}

func (m *member) feels() mood {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mood == well && m.pool.storm.Load() {
		return shaky
	}
	return m.mood
}

// live changes the member's mood at random until the context ends, and leaves it well.
func (m *member) live(ctx context.Context, random *rand.Rand) error {
	for {
		stay := time.Duration(1500+random.IntN(5000)) * time.Millisecond
		m.turn(well)
		if !sleep(ctx, stay) {
			return nil
		}
		next := pick(random, []mood{shaky, shaky, shaky, hung, down, down})
		if chance(random, 0.4) {
			m.closeIdle()
		}
		m.turn(next)
		stay = time.Duration(200+random.IntN(1500)) * time.Millisecond
		if next != down {
			sleep(ctx, stay)
			continue
		}
		up := m.refuse(chance(random, 0.5))
		sleep(ctx, stay)
		if err := m.listen(); err != nil {
			return err
		}
		up(0)
	}
}

func (m *member) turn(to mood) {
	m.mu.Lock()
	m.mood = to
	m.mu.Unlock()
	m.pool.journal.add(m.address, "is %s", to)
}

// closing is how long after a socket was closed the other side may find out.
const closing = 200 * time.Millisecond

// refuse closes the listener, and the connections with it if hard, until up.
func (m *member) refuse(hard bool) (up func(behind time.Duration)) {
	seen := m.blind.open()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cuts.add(span{time.Now(), time.Now().Add(closing)}) // what waits in the backlog is cut as well
	m.listener.Close()
	m.listener = nil
	if hard {
		for c := range m.conns {
			c.dead = true
			if !c.busy {
				c.Close() // what it has written is still delivered
				continue
			}
			c.reset()
			if c.last != nil {
				c.last.cut()
			}
		}
	}
	return seen
}

// closeIdle closes the connections on which nothing is under way, as an idle timeout does.
func (m *member) closeIdle() {
	m.surprise()
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range m.conns {
		if !c.busy {
			c.Close()
			c.dead = true // what is just being read of it is lost
		}
	}
}

// surprise says that a request may from now on meet a connection that is just being closed.
func (m *member) surprise() {
	s := span{time.Now(), time.Now().Add(closing)}
	m.blind.add(s)
	m.cuts.add(s)
}

// close ends the member.
func (m *member) close() {
	m.mu.Lock()
	m.closed = true
	if m.listener != nil {
		m.listener.Close()
	}
	for c := range m.conns {
		c.Close()
	}
	m.mu.Unlock()
	m.running.Wait()
}

// reset closes the connection with RST in place of FIN.
func (c *served) reset() {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}

// works says whether a request is under way on the connection.
func (c *served) works(is bool) {
	c.member.mu.Lock()
	defer c.member.mu.Unlock()
	c.busy = is
}

func (c *served) has(r *receipt) {
	c.member.mu.Lock()
	defer c.member.mu.Unlock()
	c.last = r
	if c.dead {
		r.cut()
	}
}

// sound is true if in all of the time the member was there, and the daemon had no reason to hold it for ejected.
// An untried member that is sound has to be tried before a request is given up.
func (m *member) sound(during span) bool {
	with := during.wider(cooldown+closing, 0)
	if m.pool.failures == 0 {
		with = during
	}
	return !m.blind.meet(with) && (m.pool.failures == 0 || !m.trouble.meet(with))
}

func (m *member) forget(before time.Time) {
	m.trouble.forget(before)
	m.blind.forget(before)
	m.cuts.forget(before)
}

// sleep waits, and is false where the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
