package upstream_test

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server/internal/loop"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// onTask runs f as a task of l and waits for its end.
func onTask(l *loop.Loop, f func(*loop.Task)) {
	done := make(chan struct{})
	var task *loop.Task
	task = l.NewTask(func() {
		defer close(done)
		f(task)
	})
	task.Begin()
	<-done
}

// Connections that a task finds too old say goodbye on goroutines, which have no part in the task.
func TestOldConnectionsOnLoop(t *testing.T) {
	const old = 6 // more reads and writes than a task has in one turn
	a := servertest.NewAuthority(t)
	peer := servertest.NewTLSMember(t, &tls.Config{Certificates: []tls.Certificate{a.Issue("127.0.0.1")}})
	o := options(t, a, "", "", "")
	o.IdleTimeout = time.Minute
	m := upstream.NewMember(peer.Address(), o)
	now := time.Now()
	l := onLoop(t)
	conns := make([]*upstream.Conn, old)
	for i := range conns {
		c, err := m.Dial(t.Context(), l, patience)
		if err != nil {
			t.Fatal(err)
		}
		ask(t, c)
		conns[i] = c
	}
	onTask(l, func(task *loop.Task) {
		for _, c := range conns {
			c.Bind(task)
			m.Put(c, now)
		}
		if c := m.Get(now.Add(time.Hour), task); c != nil {
			t.Error("an old one is still good")
		}
		task.Aside(func() { peer.WaitOpen(0) })
	})
}

// A kept connection goes to the loop that asks for it, and is found stale there in the round in which it became so.
func TestKeptConnectionsMove(t *testing.T) {
	a := servertest.NewAuthority(t)
	loops, err := loop.Start(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { loops.Close() })
	secure := options(t, a, "", "", "")
	for name, c := range map[string]struct {
		peer *servertest.Member
		o    upstream.Options
	}{
		"plain": {servertest.NewMember(t), upstream.Options{Keepalive: 8}},
		"tls":   {servertest.NewTLSMember(t, &tls.Config{Certificates: []tls.Certificate{a.Issue("127.0.0.1")}}), secure},
	} {
		t.Run(name, func(t *testing.T) {
			m, now := upstream.NewMember(c.peer.Address(), c.o), time.Now()
			here, there := loops.Any(), loops.Any()
			kept, err := m.Dial(t.Context(), here, patience)
			if err != nil {
				t.Fatal(err)
			}
			m.Put(kept, now)
			for range 3 {
				for _, l := range []*loop.Loop{here, there} {
					onTask(l, func(task *loop.Task) {
						if got := m.Get(now, task); got != kept {
							t.Error("another one, or none")
							return
						}
						ask(t, kept)
						m.Put(kept, now)
					})
				}
			}
			onTask(here, func(task *loop.Task) {
				if m.Get(now, task) != kept {
					t.Error("another one, or none")
					return
				}
				ask(t, kept)
				m.Put(kept, now)
				c.peer.CloseIdle()
				c.peer.WaitOpen(0) // the loop does not look meanwhile
				if m.Get(now, task) != nil {
					t.Error("given out although the member has closed it")
				}
			})
		})
	}
}
