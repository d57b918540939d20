package server_test

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"net/textproto"
	"sync"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// E03: clients that reset their streams while interim answers are on their way. The head of one may still be being
// written when the next one is made: the race detector is what sees it, and without it a daemon ends that writes to a
// map which somebody reads.
func TestE03ResetAmongInterimAnswers(t *testing.T) {
	const clients, requests = 8, 100
	hints := make([]servertest.Answer, 20)
	for i := range hints {
		hints[i].Status = 103
		for j := range 10 {
			hints[i].Header = append(hints[i].Header, fmt.Sprintf("X-Hint-%d-%d: 1", i, j))
		}
	}
	m := named(t, "a")
	m[0].Default(servertest.Answer{Body: "a", Interim: hints})
	d, c := h2(t, servertest.Setup{Members: addresses(m)})
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for i := range requests {
				ctx, cancel := context.WithCancel(t.Context())
				seen := 0
				ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error {
					if seen++; seen > i%len(hints) {
						cancel()
					}
					return nil
				}})
				if a, err := c.Do(newRequest(t, "GET", "http://h/", nil).WithContext(ctx)); err == nil {
					a.Body.Close()
				}
				cancel()
			}
		})
	}
	all.Wait()
	if _, body := ask(t, c, newRequest(t, "GET", "http://h/", nil)); body != "a" {
		t.Errorf("somebody else got %q", body)
	}
	d.Until("the requests to be over", func() bool { return show(t, d).Members[0].InFlight == 0 })
	if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 || s.LastFailure != "" {
		t.Errorf("the member is blamed: %+v", s)
	}
}
