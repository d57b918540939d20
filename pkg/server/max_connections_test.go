package server_test

import (
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// Clients above max_connections wait until one before them leaves.
func TestMaxConnections(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"max_connections: 2"}})
	get := func(c *servertest.Conn) {
		t.Helper()
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if a := c.Final("GET"); a.Status != 200 {
			t.Errorf("got %s", a.Head)
		}
	}
	first, second := servertest.Dial(t, d.Address), servertest.Dial(t, d.Address)
	get(first)
	get(second)
	var waiting []*servertest.Conn
	for range 3 {
		c := servertest.Dial(t, d.Address)
		c.Send("GET /waiting HTTP/1.1\r\nHost: x\r\n\r\n")
		waiting = append(waiting, c)
	}
	get(first)
	get(second)
	for _, r := range m[0].Requests() {
		if r.Target == "/waiting" {
			t.Fatal("served above the bound")
		}
	}
	first.Close()
	second.Close()
	for _, c := range waiting {
		if a := c.Final("GET"); a.Status != 200 {
			t.Errorf("got %s", a.Head)
		}
		c.Close()
	}
}

// A drain serves those who wait, too.
func TestMaxConnectionsAndDrain(t *testing.T) {
	m := named(t, "a")
	m[0].Script(servertest.Hold(servertest.Answer{Body: "held"}))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"max_connections: 1"}})
	first, second := servertest.Dial(t, d.Address), servertest.Dial(t, d.Address)
	first.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(1)
	second.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	d.Drain()
	if a := second.Final("GET"); a.Status != 200 {
		t.Errorf("the waiting one got %s", a.Head)
	}
	m[0].Release()
	if a := first.Final("GET"); a.Body != "held" {
		t.Errorf("the held one got %s", a.Head)
	}
}

// K01: a drain serves also those who wait in the backlog, behind the one that waits for room.
func TestMaxConnectionsAndDrainOfTheBacklog(t *testing.T) {
	m := named(t, "a")
	m[0].Script(servertest.Hold(servertest.Answer{Body: "held"}))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"max_connections: 1"}})
	first := servertest.Dial(t, d.Address)
	first.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(1)
	var waiting []*servertest.Conn
	for range 5 {
		c := servertest.Dial(t, d.Address)
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		waiting = append(waiting, c)
	}
	d.Drain()
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
