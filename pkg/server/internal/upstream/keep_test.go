package upstream_test

import (
	"sync"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

func TestKeepalive(t *testing.T) {
	for name, c := range map[string]struct{ keepalive, used, kept int }{
		"none":          {0, 3, 0},
		"fewer":         {5, 3, 3},
		"exactly":       {3, 3, 3},
		"more":          {2, 5, 2},
		"one at a time": {1, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			peer := servertest.NewMember(t)
			m := upstream.NewMember(peer.Address(), upstream.Options{Keepalive: c.keepalive})
			now := time.Now()
			var used []*upstream.Conn
			for range c.used {
				used = append(used, dial(t, m))
			}
			for _, u := range used {
				ask(t, u)
				m.Put(u, now)
			}
			if got := m.Idle(); got != c.kept {
				t.Errorf("%d idle, want %d", got, c.kept)
			}
			peer.WaitOpen(c.kept)
		})
	}
}

// The bound holds however many are given back at once, and none gets lost.
func TestKeepaliveAtOnce(t *testing.T) {
	const keepalive, workers = 4, 32
	peer := servertest.NewMember(t)
	m := upstream.NewMember(peer.Address(), upstream.Options{Keepalive: keepalive})
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range 20 {
				c := m.Get(time.Now(), nil)
				if c == nil {
					var err error
					if c, err = m.Dial(t.Context(), onLoop(t), patience); err != nil {
						t.Error(err)
						return
					}
				}
				m.Put(c, time.Now())
				if n := m.Idle(); n > keepalive {
					t.Errorf("%d idle, want at most %d", n, keepalive)
				}
			}
		})
	}
	wg.Wait()
	peer.WaitOpen(m.Idle())
	m.Close()
	peer.WaitOpen(0)
}

// The most recently used connection is taken first: the others can grow old and be closed.
func TestLastInFirstOut(t *testing.T) {
	peer := servertest.NewMember(t)
	m := upstream.NewMember(peer.Address(), upstream.Options{Keepalive: 3})
	now := time.Now()
	a, b := dial(t, m), dial(t, m)
	m.Put(a, now)
	m.Put(b, now.Add(time.Second))
	got := m.Get(now.Add(3*time.Second), nil)
	if got != b || !got.Reused || got.IdleFor != 2*time.Second {
		t.Errorf("got the other one, or reused %v, idle for %v", got.Reused, got.IdleFor)
	}
	if got := m.Get(now.Add(3*time.Second), nil); got != a {
		t.Error("the older one is not there")
	}
	if got := m.Get(now, nil); got != nil {
		t.Error("a third one")
	}
}

func TestIdleTimeout(t *testing.T) {
	const timeout = time.Minute
	peer := servertest.NewMember(t)
	now := time.Now()
	fill := func(o upstream.Options) *upstream.Member {
		o.Keepalive = 3
		m := upstream.NewMember(peer.Address(), o)
		conns := []*upstream.Conn{dial(t, m), dial(t, m), dial(t, m)}
		for i, c := range conns {
			m.Put(c, now.Add(time.Duration(i)*time.Second))
		}
		return m
	}
	t.Run("expired by the house", func(t *testing.T) {
		m := fill(upstream.Options{IdleTimeout: timeout})
		for i, want := range []int{3, 2, 1, 0} {
			m.Expire(now.Add(timeout + time.Duration(i-1)*time.Second))
			if got := m.Idle(); got != want {
				t.Errorf("%d idle, want %d", got, want)
			}
			peer.WaitOpen(want)
		}
	})
	t.Run("not given out", func(t *testing.T) {
		m := fill(upstream.Options{IdleTimeout: timeout})
		if m.Get(now.Add(timeout+2*time.Second), nil) != nil {
			t.Error("an expired connection")
		}
		peer.WaitOpen(0)
	})
	t.Run("none", func(t *testing.T) {
		m := fill(upstream.Options{})
		m.Expire(now.Add(1000 * time.Hour))
		if got := m.Idle(); got != 3 {
			t.Errorf("%d idle, want all 3", got)
		}
		m.Close()
		peer.WaitOpen(0)
	})
}

// A member that was removed keeps nothing: what is idle is closed at once, what is in use when it is given back.
// The same address, when it returns, is another member.
func TestCloseLetsRequestsFinish(t *testing.T) {
	peer := servertest.NewMember(t)
	o := upstream.Options{Keepalive: 3}
	m := upstream.NewMember(peer.Address(), o)
	idle, busy := dial(t, m), dial(t, m)
	m.Put(idle, time.Now())
	m.Close()
	peer.WaitOpen(1)
	peer.Default(servertest.Answer{Body: "finished"})
	if got := ask(t, busy); got != "finished" {
		t.Errorf("got %q", got)
	}
	m.Put(busy, time.Now())
	peer.WaitOpen(0)

	again := upstream.NewMember(peer.Address(), o)
	c, kind := take(t, again, time.Now())
	if kind != "new" {
		t.Error("it has connections already")
	}
	again.Put(c, time.Now())
	if again.Idle() != 1 {
		t.Error("it keeps none")
	}
}

// Whatever happened to an idle connection meanwhile is seen before it is used.
func TestStaleIsSeenBeforeUse(t *testing.T) {
	for name, spoil := range map[string]func(*servertest.Member){
		"closed":    (*servertest.Member).CloseIdle,
		"reset":     (*servertest.Member).Kill,
		"half-ends": nil,
		"speaks":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			peer := servertest.NewMember(t)
			talk := servertest.Answer{Body: "a"}
			switch name {
			case "half-ends":
				talk.HalfClose = true
			case "speaks":
				talk.Behind = "HTTP/1.1 408 Request Timeout\r\n\r\n"
			}
			peer.Default(talk)
			m := upstream.NewMember(peer.Address(), upstream.Options{Keepalive: 1})
			c := dial(t, m)
			ask(t, c)
			m.Put(c, time.Now())
			if spoil != nil {
				spoil(peer)
			}
			until(t, "the idle connection to be refused", func() bool {
				if got := m.Get(time.Now(), nil); got != nil {
					m.Put(got, time.Now())
					return false
				}
				return true
			})
			if m.Idle() != 0 {
				t.Error("it is still kept")
			}
			peer.WaitOpen(0)
		})
	}
}
