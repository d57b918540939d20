package server_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// Of 20 who edit the list at once, each finds its member in it at the end.
func TestConcurrentEditsLoseNothing(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{})
	var writers sync.WaitGroup
	want := make([]string, 20)
	for i := range want {
		want[i] = fmt.Sprintf("192.0.2.%d:80", 101+i)
		writers.Go(func() {
			_, err := d.Admin.EditMembers(t.Context(), "p", func(list []api.SetMember) ([]api.SetMember, error) {
				return append(list, api.SetMember{Address: want[i]}), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	u := show(t, d)
	var got []string
	for _, m := range u.Members {
		got = append(got, m.Address)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if u.Revision != 21 {
		t.Errorf("revision %d after 20 changes", u.Revision)
	}
}

// crowd is a daemon whose pool is replaced while requests go through it: a cookie leads them to the one member
// that is there, among many that are not.
type crowd struct {
	d      *servertest.Daemon
	lists  [2][]api.SetMember
	cookie string
	turn   int
}

func newCrowd(t testing.TB, members int) *crowd {
	m := servertest.NewMember(t)
	m.Default(servertest.Answer{Body: "here"})
	c := &crowd{d: servertest.Start(t, servertest.Setup{Pool: []string{"balance: hash", "hash: {by: cookie}"}})}
	there := []api.SetMember{{Address: m.Address()}}
	if _, err := c.d.Admin.SetMembers(t.Context(), "p", there); err != nil {
		t.Fatal(err)
	}
	for n := range c.lists {
		c.lists[n] = append(strangers(n, members-1), there...)
	}
	c.cookie, _, _ = strings.Cut(c.d.Get("/").Header.Get("Set-Cookie"), ";")
	return c
}

// strangers are members that nobody talks to.
func strangers(net, n int) []api.SetMember {
	list := make([]api.SetMember, n)
	for i := range list {
		list[i] = api.SetMember{Address: fmt.Sprintf("10.%d.%d.%d:80", net, i/250, i%250)}
	}
	return list
}

// put replaces all members but one.
func (c *crowd) put(t testing.TB) {
	t.Helper()
	c.turn++
	if _, err := c.d.Admin.SetMembers(t.Context(), "p", c.lists[c.turn%2]); err != nil {
		t.Fatal(err)
	}
}

// ask sends one request over a connection after the other until stop is closed, and reports how long each took.
func (c *crowd) ask(t testing.TB, stop <-chan struct{}, took func(time.Duration)) {
	conn := servertest.Dial(t, c.d.Address)
	defer conn.Close()
	for {
		select {
		case <-stop:
			return
		default:
		}
		begun := time.Now()
		conn.Send("GET / HTTP/1.1\r\nHost: x\r\nCookie: ", c.cookie, "\r\n\r\n")
		if r := conn.Response("GET"); r.Body != "here" {
			t.Errorf("%d %q", r.Status, r.Body)
			return
		}
		took(time.Since(begun))
	}
}

// While a list of 10,000 is replaced by another, requests go on: if they waited for it, one would be answered in
// the time of each replacement.
func TestRequestsDuringAPut(t *testing.T) {
	members := api.MaxMembers
	if raceEnabled {
		members /= 10 // the detector makes the rest of a call ten times as long
	}
	c := newCrowd(t, members)
	var answered atomic.Int64
	stop := make(chan struct{})
	var clients sync.WaitGroup
	clients.Go(func() { c.ask(t, stop, func(time.Duration) { answered.Add(1) }) })
	const puts = 3
	before := answered.Load()
	for range puts {
		c.put(t)
	}
	during := answered.Load() - before
	close(stop)
	clients.Wait()
	if during < 5*puts {
		t.Errorf("%d requests were answered during %d replacements", during, puts)
	}
}

// A preview of many members takes a processor, but no lock that requests of its pool need.
func TestRequestsDuringAPreview(t *testing.T) {
	m := servertest.NewMember(t)
	m.Default(servertest.Answer{Body: "here"})
	c := &crowd{d: servertest.Start(t, servertest.Setup{Members: []string{m.Address()}, Pool: []string{"balance: hash", "hash: {by: client_ip}"}})}
	var answered atomic.Int64
	stop := make(chan struct{})
	var clients sync.WaitGroup
	clients.Go(func() { c.ask(t, stop, func(time.Duration) { answered.Add(1) }) })
	before := answered.Load()
	p, err := c.d.Admin.Preview(t.Context(), "p", strangers(0, 1000), nil)
	during := answered.Load() - before
	close(stop)
	clients.Wait()
	if err != nil || p.Moved != p.Keys {
		t.Errorf("%v, %d of %d moved", err, p.Moved, p.Keys)
	}
	if during < 5 {
		t.Errorf("%d requests were answered during a preview", during)
	}
}

// BenchmarkPut10000Members is a whole call, and next to it the longest request of one client that asks all the
// time, with and without calls; both in one run.
func BenchmarkPut10000Members(b *testing.B) {
	c := newCrowd(b, api.MaxMembers)
	var putting atomic.Bool
	var longest [2]time.Duration
	stop := make(chan struct{})
	var clients sync.WaitGroup
	clients.Go(func() {
		c.ask(b, stop, func(took time.Duration) {
			phase := 0
			if putting.Load() {
				phase = 1
			}
			longest[phase] = max(longest[phase], took)
		})
	})
	for b.Loop() {
		putting.Store(true)
		begun := time.Now()
		c.put(b)
		putting.Store(false)
		b.StopTimer()
		<-time.After(time.Since(begun)) // as long without as with
		b.StartTimer()
	}
	close(stop)
	clients.Wait()
	b.ReportMetric(float64(longest[0].Microseconds())/1000, "longest-quiet-ms")
	b.ReportMetric(float64(longest[1].Microseconds())/1000, "longest-put-ms")
}
