package server_test

import (
	"net"
	"syscall"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// Z03: without descriptors the clients that are there get answers, no member is blamed for our want, and all is as
// before once descriptors come back.
func TestZ03DescriptorLimit(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"keepalive: 1"}})
	first, second := servertest.Dial(t, d.Address), servertest.Dial(t, d.Address)
	waiting, err := net.Dial("tcp", d.Address)
	if err != nil {
		t.Fatal(err)
	}
	get := func(c *servertest.Conn) int {
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		return c.Final("GET").Status
	}
	if get(first) != 200 || get(second) != 200 {
		t.Fatal("not served")
	}
	waiting.Close()

	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 3
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	kept := get(first)
	m[0].CloseIdle()
	m[0].WaitOpen(0)
	var failed []int
	for range 5 {
		failed = append(failed, get(second))
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}

	m[0].Down() // its own accepting may have run into the limit
	m[0].Up()

	if kept != 200 {
		t.Errorf("over a kept connection: %d", kept)
	}
	for _, status := range failed {
		if status != 502 {
			t.Errorf("without a connection: %v", failed)
			break
		}
	}
	if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 || s.State != "up" {
		t.Errorf("the member is blamed: %+v", s)
	}
	if r := d.Get("/"); r.Status != 200 || get(second) != 200 {
		t.Errorf("afterwards: %s", r.Head)
	}
}

// Z03: a pool gives up idle connections for one that it needs.
func TestZ03IdleConnectionsMakeRoom(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{})
	setMembers(t, d, m[0])
	m[0].Default(servertest.Hold(servertest.Answer{Body: "a"}))
	var clients []*servertest.Conn
	for range 3 {
		c := servertest.Dial(t, d.Address)
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		clients = append(clients, c)
	}
	m[0].WaitRequests(len(clients))
	m[0].Release()
	for _, c := range clients {
		c.Final("GET")
	}
	m[0].Default(servertest.Answer{Body: "a"})
	setMembers(t, d, m[0], m[1])

	free := servertest.Exhaust(t)
	seen := map[string]bool{}
	for range 2 {
		clients[0].Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		seen[clients[0].Final("GET").Body] = true
	}
	free()
	if !seen["a"] || !seen["b"] {
		t.Errorf("got answers from %v", seen)
	}
	for _, s := range show(t, d).Members {
		if s.ConsecutiveFailures != 0 || s.LastFailure != "" {
			t.Errorf("a member is blamed: %+v", s)
		}
	}
}
