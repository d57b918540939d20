package server_test

import (
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// P09, the other way round: a member that takes nothing of an upload and does not answer is to blame, although the
// client still has some of it to send.
func TestP09MemberThatDoesNotRead(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Do(func(x *servertest.Exchange) {
		x.WaitRelease()
		x.Close()
	}))
	d := servertest.Start(t, servertest.Setup{
		Members: addresses(m), Server: []string{"max_body: 0"}, Runtime: "{type: proxy, upstream: {pool: p}, response_timeout: 500ms}",
	})
	c := servertest.Dial(t, d.Address)
	c.Send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for piece := strings.Repeat("x", 1<<20); c.TrySend(piece) == nil; {
		}
	}()
	if r := c.Final("PUT"); r.Status != 504 {
		t.Errorf("got %s", r.Head)
	}
	c.Close()
	<-sent
	if s := show(t, d).Members[0]; s.LastFailure != "response_timeout" || s.ConsecutiveFailures != 1 {
		t.Errorf("member %+v", s)
	}
	m[0].Release()
}
