package servertest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Member is a scripted server that logs what it receives. Create it with [NewMember],
// [NewMembers], [NewTLSMember] or [NewUnixMember]. Its methods may be called from the goroutine of the test while it serves.
type Member struct {
	t       testing.TB
	address address
	ended   chan struct{} // closed when the test is over
	running sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener // nil while down
	over     bool         // no new goroutine may start
	script   []Step
	fallback Step
	log      []*record
	accepted int
	open     map[*link]bool
	gate     chan struct{} // closed and replaced by Release
	changed  chan struct{} // closed and replaced whenever something can be waited for
}

// NewMember is a member on a loopback port that belongs to it until the test ends, also while it is
// down. It answers 200 with an empty body until it is told otherwise.
func NewMember(t testing.TB) *Member {
	t.Helper()
	address, err := reservePort(anyPort)
	if err != nil {
		t.Fatalf("reserving a port for a member: %v", err)
	}
	return start(t, address)
}

// NewMembers are members on one port at several loopback addresses.
func NewMembers(t testing.TB, hosts ...string) []*Member {
	t.Helper()
	var all []*Member
	port := uint16(0)
	for _, h := range hosts {
		host, err := netip.ParseAddr(h)
		if err != nil {
			t.Fatal(err)
		}
		address, err := reservePort(netip.AddrPortFrom(host, port))
		if err != nil {
			t.Fatalf("reserving a port for a member: %v", err)
		}
		port = netip.MustParseAddrPort(address.text).Port()
		all = append(all, start(t, address))
	}
	return all
}

// NewTLSMember is a member that speaks TLS. What its clients did in their handshakes it does not log: the
// configuration's VerifyConnection can.
func NewTLSMember(t testing.TB, c *tls.Config) *Member {
	t.Helper()
	address, err := reservePort(anyPort)
	if err != nil {
		t.Fatalf("reserving a port for a member: %v", err)
	}
	listen := address.listen
	address.listen = func() (net.Listener, error) {
		listener, err := listen()
		if err != nil {
			return nil, err
		}
		return tls.NewListener(listener, c), nil
	}
	return start(t, address)
}

// NewUnixMember is a member on a unix socket.
func NewUnixMember(t testing.TB) *Member {
	t.Helper()
	address, err := reservePath()
	if err != nil {
		t.Fatalf("making a folder for a member's socket: %v", err)
	}
	return start(t, address)
}

func start(t testing.TB, address address) *Member {
	t.Helper()
	m := &Member{
		t:        t,
		address:  address,
		ended:    make(chan struct{}),
		fallback: Answer{},
		open:     make(map[*link]bool),
		gate:     make(chan struct{}),
		changed:  make(chan struct{}),
	}
	t.Cleanup(m.end)
	m.Up()
	return m
}

// Address is what a configuration writes: "127.0.0.1:port" or "unix:/path".
func (m *Member) Address() string { return m.address.text }

// Script adds steps. Each request takes one, in the order in which their heads arrive.
func (m *Member) Script(steps ...Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = append(m.script, steps...)
}

// Default is what requests get when the script is used up.
func (m *Member) Default(step Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fallback = step
}

// Down stops listening: new connections are refused, open ones live on.
func (m *Member) Down() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listener != nil {
		m.listener.Close()
		m.listener = nil
	}
}

// Up listens again on the same address.
func (m *Member) Up() {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listener != nil || m.over {
		return
	}
	listener, err := m.address.listen()
	if err != nil {
		m.t.Fatalf("listening as a member on %s: %v", m.address.text, err)
	}
	m.listener = listener
	m.running.Go(func() { m.accept(listener) })
}

// Kill is Down, and resets every open connection.
func (m *Member) Kill() {
	m.Down()
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range m.open {
		c.reset()
	}
}

// CloseIdle closes every connection as soon as no request is under way on it; those that are idle, at
// once. Connections that come later are not touched. [Member.WaitOpen] tells when it is done.
func (m *Member) CloseIdle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range m.open {
		c.leaving = true
		if c.idle {
			c.Close()
		}
	}
}

// Release lets go of every step that holds, for all requests that the log has now. Later requests
// hold anew.
func (m *Member) Release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.gate)
	m.gate = make(chan struct{})
}

// end closes what the member has and waits until its goroutines have returned.
func (m *Member) end() {
	m.mu.Lock()
	m.over = true
	close(m.ended)
	for c := range m.open {
		c.Close()
	}
	m.mu.Unlock()
	m.Down()
	m.running.Wait()
	m.address.release()
}

// accept admits connections until the listener is closed.
func (m *Member) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		switch {
		case err == nil:
			m.admit(conn)
		case errors.Is(err, syscall.EMFILE):
			// The test has taken the descriptors away. The connection waits until one comes back.
			<-time.After(time.Millisecond)
		default:
			return
		}
	}
}

// admit starts the conversation on a new connection.
func (m *Member) admit(conn net.Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		conn.Close()
		return
	}
	m.accepted++
	c := &link{Conn: conn, number: m.accepted, in: bufio.NewReaderSize(conn, maxHead)}
	m.open[c] = true
	m.announce()
	m.running.Go(func() { m.converse(c) })
}

// converse plays one step for each request of a connection.
func (m *Member) converse(c *link) {
	defer m.forget(c)
	if x := m.begin(c, atAccept); x != nil {
		x.step.play(x)
		return
	}
	for m.awaitByte(c) {
		if x := m.begin(c, atByte); x != nil {
			x.step.play(x)
			return
		}
		x := m.receive(c)
		if x == nil {
			return
		}
		x.step.play(x)
		if !x.reusable() {
			return
		}
	}
}

// begin takes the next step if it can act now, without a request.
func (m *Member) begin(c *link, now moment) *Exchange {
	m.mu.Lock()
	defer m.mu.Unlock()
	step := m.take(now)
	if step == nil {
		return nil
	}
	return &Exchange{member: m, link: c, step: step, gate: m.gate}
}

// take removes the next step of the script, or repeats the default, unless it acts later than now.
// The caller holds mu.
func (m *Member) take(now moment) Step {
	step := m.fallback
	if len(m.script) > 0 {
		step = m.script[0]
	}
	if step.moment() > now {
		return nil
	}
	if len(m.script) > 0 {
		m.script = slices.Delete(m.script, 0, 1)
	}
	return step
}

// awaitByte waits for a request to begin. It is false when the connection is over.
func (m *Member) awaitByte(c *link) bool {
	m.mu.Lock()
	if c.leaving {
		m.mu.Unlock()
		return false
	}
	c.idle = true
	m.mu.Unlock()

	_, err := c.in.Peek(1)

	m.mu.Lock()
	defer m.mu.Unlock()
	c.idle = false
	return err == nil
}

// forget closes a connection that is over.
func (m *Member) forget(c *link) {
	c.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, c)
	m.announce()
}
