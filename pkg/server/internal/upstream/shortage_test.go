package upstream_test

import (
	"net"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// Z03: a lack of descriptors is ours, also where the name cannot be looked up for it.
func TestZ03Shortage(t *testing.T) {
	names := servertest.NewNames(t)
	names.Set("member.test", "127.0.0.1")
	for _, host := range []string{"127.0.0.1", "member.test"} {
		t.Run(host, func(t *testing.T) {
			_, port, _ := net.SplitHostPort(servertest.NewMember(t).Address())
			m := upstream.NewMember(net.JoinHostPort(host, port), upstream.Options{Resolver: names.Resolver()})
			on := onLoop(t)
			free := servertest.Exhaust(t)
			c, err := m.Dial(t.Context(), on, patience)
			free()
			if err == nil {
				c.Cut()
				t.Fatal("connected")
			}
			if e := err.(*upstream.DialError); e.Stage != upstream.Exhausted {
				t.Errorf("stage %d: %v", e.Stage, e)
			}
			dial(t, m)
		})
	}
}

// Z03: an idle connection of the pool is given up for one that is needed.
func TestZ03IdleConnectionsMakeRoom(t *testing.T) {
	names := servertest.NewNames(t)
	names.Set("member.test", "127.0.0.1")
	for _, host := range []string{"127.0.0.1", "member.test"} {
		t.Run(host, func(t *testing.T) {
			peer, idle := servertest.NewMember(t), servertest.NewMember(t)
			_, port, _ := net.SplitHostPort(peer.Address())
			rich := upstream.NewMember(idle.Address(), upstream.Options{Keepalive: 4})
			asked := 0
			m := upstream.NewMember(net.JoinHostPort(host, port), upstream.Options{Resolver: names.Resolver(), Spare: func() bool {
				asked++
				return rich.CloseIdle() > 0
			}})
			var conns []*upstream.Conn
			for range 4 {
				conns = append(conns, dial(t, rich))
			}
			idle.WaitConnections(4)
			for _, c := range conns {
				rich.Put(c, time.Now())
			}
			on := onLoop(t)
			free := servertest.Exhaust(t)
			c, err := m.Dial(t.Context(), on, patience)
			free()
			if err != nil || asked != 1 || rich.Idle() != 0 {
				t.Fatalf("%v, asked %d times, %d idle", err, asked, rich.Idle())
			}
			c.Cut()

			// It is asked once, and not where it would not help.
			peer.WaitOpen(0)
			idle.WaitOpen(0)
			free = servertest.Exhaust(t)
			_, err = m.Dial(t.Context(), on, patience)
			free()
			if err == nil || asked != 2 {
				t.Errorf("%v, asked %d times", err, asked)
			}
			peer.Down() // its own accepting may have run into the limit
			if e := failure(t, upstream.NewMember(peer.Address(), upstream.Options{Spare: func() bool { asked++; return true }}), patience); e.Stage != upstream.Refused || asked != 2 {
				t.Errorf("refused: stage %d, asked %d times", e.Stage, asked)
			}
			peer.Up()
		})
	}
}
