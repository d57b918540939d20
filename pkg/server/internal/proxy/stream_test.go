package proxy

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// slowWriter takes its time to write and to reset, and must be left alone when it is over.
type slowWriter struct {
	http.ResponseWriter
	t            *testing.T
	write, reset time.Duration
	over         bool
}

func (w *slowWriter) Header() http.Header { return http.Header{} }

func (w *slowWriter) Write(p []byte) (int, error) {
	<-time.After(w.write)
	return len(p), nil
}

func (w *slowWriter) SetWriteDeadline(time.Time) error {
	<-time.After(w.reset)
	if w.over {
		w.t.Error("the writer was used after the end of its request")
	}
	return nil
}

// A timer that fires in the moment in which a write comes to its end does not outlive the request: the library has
// taken its writer back by then, and would end the process.
func TestNoTimerOutlivesAStream(t *testing.T) {
	for name, write := range map[string]time.Duration{
		"in time": 9 * time.Millisecond, "at the limit": 10 * time.Millisecond, "just behind it": 11 * time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &slowWriter{t: t, write: write, reset: 5 * time.Millisecond}
				s := &stream{w: w, control: http.NewResponseController(w), headed: true}
				for range 2 {
					if err := s.send([]byte("body"), 10*time.Millisecond); err != nil {
						t.Error(err)
					}
				}
				w.over = true
				<-time.After(time.Second)
			})
		})
	}
}
