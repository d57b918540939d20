package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// upstream_ms is that of the answer which the client got: none where the last attempt had none.
func TestUpstreamTimeIsOfTheLastAttempt(t *testing.T) {
	m := named(t, "a", "b")
	m[0].Script(servertest.Status(503))
	m[1].Down()
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	r := d.Get("/")
	if l := d.Lines(1)[0]; r.Status != 502 || l["upstream_ms"] != 0.0 {
		t.Errorf("%d, log %v", r.Status, l)
	}
}

// The line of a head that never came whole has nothing in it that the client did not write there.
func TestLogOfAHeadThatMoved(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"header_timeout: 200ms"}})
	c := servertest.Dial(t, d.Address)
	first := "GET /first HTTP/1.1\r\nHost: x\r\nX: "
	first += strings.Repeat("y", 20_000-len(first)-4) + "\r\n\r\n"
	second := "DELETE /second HTTP/1.1\r\nHost: second\r\nZ: "
	second += strings.Repeat("z", 32<<10-20_000-len(second))
	c.Send(first, second)
	c.Final("GET")
	c.Send(strings.Repeat("w", 12_000))
	if r := c.Final("DELETE"); r.Status != 408 {
		t.Errorf("got %s", r.Head)
	}
	l := d.Lines(2)[1]
	if s := fmt.Sprint(l["method"], l["path"], l["host"]); strings.Contains(s, "w") {
		t.Errorf("log: %v", l)
	}
}

func TestForwardedOfAnUntrustedClient(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	d.Get("/", "Forwarded: for=192.0.2.1;proto=https")
	if f := m[0].Requests()[0].Fields("Forwarded"); len(f) > 0 {
		t.Errorf("the member got %v", f)
	}
}
