package lb

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What a rehearsal says is what the replacement then does, and until then nothing has changed.
func TestRehearse(t *testing.T) {
	for _, test := range []struct{ name, to string }{
		{"everything", "b:3 d c"},
		{"another order", "c b a"},
		{"the same", "a b c"},
		{"nobody", ""},
	} {
		for _, by := range []HashBy{"", ByHeader, ByCookie} {
			t.Run(test.name+" "+string(by), func(t *testing.T) {
				p := newPool(t, "a b c", with(func(s *Settings) {
					s.Health.Failures = 1
					if by != "" {
						s.Balance, s.Hash.By = Hash, by
					}
				}))
				pick(t, p, epoch, Key{}, nil).Done(epoch, Failure(Reset)) // a is ejected
				now := after(time.Second)
				before, events := p.Status(now), p.Events(0)

				change, status := p.Rehearse(now, members(test.to))
				if diff := cmp.Diff(before, p.Status(now)); diff != "" {
					t.Errorf("the rehearsal changed the pool: %s", diff)
				}
				if diff := cmp.Diff(events, p.Events(0)); diff != "" {
					t.Errorf("the rehearsal made events: %s", diff)
				}
				if diff := cmp.Diff(p.Replace(now, members(test.to), "test"), change); diff != "" {
					t.Errorf("change (-done +rehearsed):\n%s", diff)
				}
				if diff := cmp.Diff(p.Status(now), status); diff != "" {
					t.Errorf("status (-after +rehearsed):\n%s", diff)
				}
			})
		}
	}
}
