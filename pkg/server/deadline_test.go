package server_test

import (
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
)

// Deadlines are moved lazily: one that stood for an earlier wait may fire too early, and then nothing may come
// of it. Only lower bounds are checked: a busy machine is late, never early.

func pass(d *servertest.Daemon, since time.Time, t time.Duration) {
	d.Until("time has passed", func() bool { return time.Since(since) >= t })
}

func TestIdleTimeoutRunsFromTheLastAnswer(t *testing.T) {
	const idle = 400 * time.Millisecond
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"idle_timeout: 400ms"}})
	c := servertest.Dial(t, d.Address)
	var last time.Time
	for range 3 {
		last = time.Now()
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		c.Final("GET")
		pass(d, last, idle/3)
	}
	if text, err := c.Rest(); text != "" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if took := time.Since(last); took < idle {
		t.Errorf("closed %v after the last request, want at least %v", took, idle)
	}
}

func TestResponseTimeoutRunsFromTheRequest(t *testing.T) {
	const timeout = 300 * time.Millisecond
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Runtime: "{type: proxy, upstream: {pool: p}, response_timeout: 300ms}"})
	c := servertest.Dial(t, d.Address)
	for range 2 {
		began := time.Now()
		c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		c.Final("GET")
		pass(d, began, timeout/3)
	}
	m[0].Script(servertest.Hold(servertest.Answer{}))
	began := time.Now()
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if r := c.Final("GET"); r.Status != 504 {
		t.Errorf("got %d, want 504", r.Status)
	}
	if took := time.Since(began); took < timeout {
		t.Errorf("504 after %v, want at least %v", took, timeout)
	}
}
