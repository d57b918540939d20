package server_test

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

func waitListenerClosed(d *servertest.Daemon) {
	d.Until("the listener is closed", func() bool {
		c, err := net.Dial("tcp", d.Address)
		if err == nil {
			c.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
}

// K01: a client that has sent its next request already sees a clean close behind the last answer.
func TestK01DrainWithAPipelinedRequest(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Hold(servertest.Answer{Body: "whole"}))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	c := servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(1)
	c.Send("GET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
	d.Drain()
	waitListenerClosed(d)
	m[0].Release()
	if rest, err := c.Rest(); err != nil || !strings.HasSuffix(rest, "\r\n\r\nwhole") {
		t.Errorf("got %q, %v", rest, err)
	}
}

// K01: a connection that was let in before the drain gets its first request answered.
func TestK01DrainWithAFreshConnection(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	idle := servertest.Dial(t, d.Address)
	idle.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	idle.Final("GET")
	fresh := servertest.Dial(t, d.Address)
	d.Drain()
	idle.Rest()
	waitListenerClosed(d)
	fresh.TrySend("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if rest, err := fresh.Rest(); err != nil || !strings.HasSuffix(rest, "\r\n\r\na") {
		t.Errorf("got %q, %v", rest, err)
	}
}
