package server_test

import (
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// P01 and R05: a request whose client has gone meanwhile is not sent to another member. What the first one did counts.
func TestP01NoRetryForAClientThatIsGone(t *testing.T) {
	for name, step := range map[string]servertest.Step{
		"503":   servertest.Status(503),
		"reset": servertest.Reset(),
	} {
		t.Run(name, func(t *testing.T) {
			m := named(t, "a", "b")
			m[0].Script(servertest.Hold(step))
			d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
			c := servertest.Dial(t, d.Address)
			c.Send(request("PUT", "test")...)
			m[0].WaitBodies(1)
			c.Reset()
			m[0].Release()
			if l := d.Lines(1)[0]; l["status"] != 499.0 || l["upstream_attempts"] != 1.0 {
				t.Errorf("got %v", l)
			}
			if n := len(m[1].Requests()); n != 0 {
				t.Errorf("the other member got %d requests", n)
			}
			if got := d.Metric(`scalws_upstream_pool_retries_total{pool="p"}`); got != "0" {
				t.Errorf("%s retries", got)
			}
			if u := show(t, d).Members[0]; u.ConsecutiveFailures != 1 || u.InFlight != 0 {
				t.Errorf("member %+v", u)
			}
		})
	}
}
