package server_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

const upgrade = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

// descriptors is how many the process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

// W03: of 200 tunnels no socket and no goroutine is left, however their ends go away.
func TestW03TunnelsEnd(t *testing.T) {
	const tunnels = 200
	few := 10 + runtime.GOMAXPROCS(0) // goroutines of the daemon's start, and a coroutine that each loop keeps
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	// talk is the member's side; nil sends back what comes. Bytes that nobody has read make a close a reset, which
	// is what is left of a process that is killed in the middle of something.
	for name, c := range map[string]struct {
		talk func(*servertest.Exchange)
		end  func(*servertest.Conn)
	}{
		"client closes":                 {nil, (*servertest.Conn).Close},
		"client resets":                 {nil, (*servertest.Conn).Reset},
		"client is killed":              {nil, func(c *servertest.Conn) { c.Send("unread"); c.Close() }},
		"client ends its direction":     {nil, (*servertest.Conn).CloseWrite},
		"member closes":                 {(*servertest.Exchange).Close, (*servertest.Conn).Close},
		"member resets":                 {(*servertest.Exchange).Reset, func(c *servertest.Conn) { c.Rest() }},
		"member is killed":              {func(x *servertest.Exchange) { x.Read(make([]byte, 1)); x.Close() }, func(c *servertest.Conn) { c.Send("unread"); c.Rest() }},
		"member closes, client is mute": {(*servertest.Exchange).Close, func(c *servertest.Conn) { c.Rest(); c.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			step := servertest.Upgrade()
			if c.talk != nil {
				step = servertest.UpgradeTo(c.talk)
			}
			m[0].Default(step)
			files, goroutines := descriptors(t), runtime.NumGoroutine()
			var all []*servertest.Conn
			for range tunnels {
				conn := servertest.Dial(t, d.Address)
				conn.Send(upgrade)
				conn.Response("GET")
				all = append(all, conn)
			}
			for _, conn := range all {
				c.end(conn)
			}
			m[0].WaitOpen(0)
			for _, conn := range all {
				conn.Close()
			}
			d.Until("all sockets and goroutines to be gone", func() bool {
				return descriptors(t) <= files && runtime.NumGoroutine() <= goroutines+few
			})
		})
	}
	if err := d.Stop(); err != nil { // no tunnel is left for it to wait for
		t.Error(err)
	}
}

// W03: a client that has ended its direction and says nothing more is not given up: the member may still have
// something to say (docs/load-balancing.md#tunnels). The tunnel ends with the member.
func TestW03HalfClosedAndSilent(t *testing.T) {
	m := named(t, "a")
	ended := make(chan error, 1)
	m[0].Default(servertest.UpgradeTo(func(x *servertest.Exchange) {
		_, err := x.Read(make([]byte, 1))
		ended <- err
		x.WaitRelease()
		x.Write([]byte("late"))
	}))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	conn := servertest.Dial(t, d.Address)
	conn.Send(upgrade)
	conn.Response("GET")
	conn.CloseWrite()
	if err := <-ended; err == nil {
		t.Error("the member was not told")
	}
	m[0].WaitOpen(1)
	m[0].Release()
	if rest, err := conn.Rest(); rest != "late" || err != nil {
		t.Errorf("got %q, %v", rest, err)
	}
	m[0].WaitOpen(0)
}
