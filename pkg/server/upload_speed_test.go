package server_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// P09: an upload that is still under way when response_timeout is over is nobody's failure, however fast it is: the
// member has read all that came, and cannot answer yet.
func TestP09FastUploadIsNotTheMembersFault(t *testing.T) {
	const uploads = 8 // the moment of the timeout decides; a few make sure
	piece := strings.Repeat("x", 64<<10)
	for name, framing := range map[string]struct{ head, before, behind string }{
		"length": {"Content-Length: 1000000000000", "", ""},
		"chunks": {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n", len(piece)), "\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			m := named(t, "a")
			m[0].Default(servertest.Do(func(x *servertest.Exchange) { io.Copy(io.Discard, x); x.Close() }))
			d := servertest.Start(t, servertest.Setup{
				Members: addresses(m), Server: []string{"max_body: 0"}, Pool: []string{"passive_health: {failures: 0}"},
				Runtime: "{type: proxy, upstream: {pool: p}, response_timeout: 100ms}",
			})
			for range uploads {
				c := servertest.Dial(t, d.Address)
				c.Send("PUT / HTTP/1.1\r\nHost: x\r\n", framing.head, "\r\n\r\n")
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					for c.TrySend(framing.before, piece, framing.behind) == nil {
					}
				}()
				if r := c.Final("PUT"); r.Status != 504 {
					t.Errorf("got %s", r.Head)
				}
				c.Close()
				<-sent
			}
			if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 {
				t.Errorf("the member is blamed for %d of %d uploads: %s", s.ConsecutiveFailures, uploads, s.LastFailure)
			}
		})
	}
}
