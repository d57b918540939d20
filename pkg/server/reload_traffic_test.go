package server_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// No request fails because of a reload: clients with kept-alive and with fresh connections, with and without
// bodies, while pools are kept, get other lists, are rebuilt, removed and added, and listeners come and go.
func TestNoRequestFailsForReloads(t *testing.T) {
	m := named(t, "a", "b", "c")
	for _, x := range m {
		x.Default(servertest.Digest())
	}
	setup := func(n int) servertest.Setup {
		members := []string{m[n%3].Address(), m[(n+1)%3].Address()}
		pool := fmt.Sprintf("{retries: %d, members: [{address: %q}, {address: %q}]}", 1+n/2%2, members[0], members[1])
		target := []string{"upstream: {pool: one}", "upstream: {pool: two}", fmt.Sprintf("upstream: \"http://%s\"", members[0]),
			"backends: [{pool: one, weight: 2}, {pool: two, weight: 1}]"}[n%4]
		rest := "upstreams:\n"
		if n%4 != 1 {
			rest += "  one: " + pool + "\n"
		}
		if n%4 != 0 {
			rest += "  two: " + pool + "\n"
		}
		rest += "tenants: [{name: t, applications: [{name: a, domains: [\"*\"], runtime: {type: proxy, " + target + "}}]}]\n"
		return servertest.Setup{Rest: rest}
	}
	d := servertest.Start(t, setup(0))
	var stop atomic.Bool
	var asked atomic.Int64
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			c := &http.Client{Transport: &http.Transport{DisableKeepAlives: i%2 == 1}, Timeout: 20 * time.Second}
			defer c.CloseIdleConnections()
			defer c.CloseIdleConnections()
			for n := 0; !stop.Load(); n++ {
				method, body := http.MethodGet, ""
				if n%3 == 1 {
					method, body = http.MethodPost, strings.Repeat("x", n%5000)
				}
				r, err := http.NewRequestWithContext(t.Context(), method, "http://"+d.Address+"/", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				answer, err := c.Do(r)
				if err != nil {
					t.Errorf("client %d, request %d: %v", i, n, err)
					return
				}
				text, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if answer.StatusCode != 200 || err != nil || len(text) == 0 {
					t.Errorf("client %d, request %d: %s %q, %v", i, n, answer.Status, text, err)
					return
				}
				asked.Add(1)
			}
		})
	}
	begun := time.Now()
	n := 0
	for ; n < 300 && time.Since(begun) < 4*time.Second && !t.Failed(); n++ {
		s := setup(n)
		text := d.Text(s)
		if n%5 == 0 {
			text = listen(d, s, `{name: http, address: "127.0.0.1:0"}, {name: more, address: "127.0.0.1:0"}`)
		}
		d.Write(text)
		d.Reload()
	}
	stop.Store(true)
	clients.Wait()
	if asked.Load() < 100 || n < 20 {
		t.Errorf("only %d requests and %d reloads", asked.Load(), n)
	}
	t.Logf("%d requests, %d reloads", asked.Load(), n)
}

// Connections that reach a listener in its last moment are served: a removed listener takes what waits in its
// backlog.
func TestRemovedListenerServesItsBacklog(t *testing.T) {
	setup := servertest.Setup{Members: addresses(named(t, "a"))}
	d := servertest.Start(t, setup)
	for range 5 {
		d.Write(listen(d, setup, `{name: http, address: "127.0.0.1:0"}, {name: more, address: "127.0.0.1:0"}`))
		d.Reload()
		more := d.Addr("more")
		var waiting sync.WaitGroup
		for range 20 {
			waiting.Go(func() {
				c, err := net.Dial("tcp", more)
				if err != nil {
					return // the listener was gone already
				}
				defer c.Close()
				fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				answer, err := io.ReadAll(c)
				if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 ") {
					t.Errorf("got %q, %v", answer, err)
				}
			})
		}
		d.Configure(setup)
		d.Reload()
		waiting.Wait()
	}
}

// So it does where max_connections is used up.
func TestRemovedListenerServesItsBacklogAboveTheBound(t *testing.T) {
	m := named(t, "a")
	setup := servertest.Setup{Members: addresses(m), Server: []string{"max_connections: 1"}}
	d := servertest.Start(t, setup)
	d.Write(listen(d, setup, `{name: http, address: "127.0.0.1:0"}, {name: more, address: "127.0.0.1:0"}`))
	d.Reload()
	m[0].Script(servertest.Hold(servertest.Answer{Body: "held"}))
	first := servertest.Dial(t, d.Address)
	first.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(1)
	var waiting []*servertest.Conn
	for range 5 {
		c := servertest.Dial(t, d.Addr("more"))
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		waiting = append(waiting, c)
	}
	d.Configure(setup)
	d.Reload()
	for _, c := range waiting {
		if a := c.Final("GET"); a.Body != "a" {
			t.Errorf("a waiting one got %s", a.Head)
		}
	}
	m[0].Release()
	if a := first.Final("GET"); a.Body != "held" {
		t.Errorf("the held one got %s", a.Head)
	}
}

// What a configuration leaves behind is given back: after many reloads there are as many goroutines, pools and
// connections as before.
func TestReloadsLeaveNothingBehind(t *testing.T) {
	m := named(t, "a", "b")
	setup := servertest.Setup{Members: addresses(m)}
	d := servertest.Start(t, setup)
	change := func(n int) {
		setup.Pool = []string{fmt.Sprintf("retries: %d", n%6)}
		setup.Server = []string{fmt.Sprintf("max_body: %d", 1000+n)}
		d.Change(setup)
		d.Sequence(2)
	}
	// Each loop comes to have the coroutine that it keeps: connections that are open at once are spread over all of them.
	var open []*servertest.Conn
	for range 4 * runtime.GOMAXPROCS(0) {
		c := servertest.Dial(t, d.Address)
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		c.Final("GET")
		open = append(open, c)
	}
	for _, c := range open {
		c.Close()
	}
	for n := range 10 {
		change(n)
	}
	m[0].WaitOpen(1)
	m[1].WaitOpen(1)
	// All are in this process. The metric go_goroutines has those that gather the metrics in it, more or fewer of them.
	before := 0
	d.Until("the number of goroutines rests", func() bool {
		last := before
		before = runtime.NumGoroutine()
		return before == last
	})
	for n := range 100 {
		change(n)
	}
	m[0].WaitOpen(1)
	m[1].WaitOpen(1)
	d.Until("the goroutines are as many as before", func() bool { return runtime.NumGoroutine() <= before })
	pools, err := d.Admin.Upstreams(t.Context())
	if err != nil || len(pools) != 1 {
		t.Errorf("%d pools, %v", len(pools), err)
	}
	if u := show(t, d); u.Members[0].InFlight+u.Members[1].InFlight != 0 || u.MembersFrom != api.FromFile {
		t.Errorf("got %+v", u)
	}
}
