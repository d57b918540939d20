package proxy

import (
	"errors"
	"os"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/loop"
)

// patient writes to a client's socket and lets the client take its time.
type patient struct {
	sock    *loop.Socket
	by      time.Time // where the deadline stands, as far as it is known; see due
	bounded bool      // see unsent
}

// unsent bounds what the kernel holds of an answer that is not on its way yet, in bytes. Without it a write to a
// slow client wakes up only when a third of a buffer of megabytes was taken, long after its deadline. It is
// not inherited from the listening socket, and a connection that carries small answers only does not need it.
const (
	unsent   = 128 << 10
	largeOne = 8 << 10
)

// write sends. The client may take up to limit to make room for some of it; 0 is no limit. now is the last look at the
// clock; the next one is returned.
func (w *patient) write(p []byte, now time.Time, limit time.Duration) (time.Time, error) {
	if !w.bounded && len(p) > largeOne {
		w.bound()
	}
	n, err := w.sock.WriteNow(p)
	if err != nil || n == len(p) {
		return now, err
	}
	p = p[n:]
	for until := after(now, limit); ; {
		if due(w.by, until, limit/2) {
			w.by = until
			w.sock.SetWriteDeadline(until)
		}
		n, err = w.sock.Write(p)
		now = time.Now() // the client may have taken its time
		if err == nil || !timedOut(err) {
			return now, err
		}
		w.by = time.Time{}
		switch {
		case n > 0:
			p, until = p[n:], after(now, limit)
		case !w.bounded: // it may have taken some of what the kernel holds
			w.bound()
			until = after(now, limit)
		case !now.Before(until):
			return now, err
		}
	}
}

// bound sets unsent, once.
func (w *patient) bound() {
	w.bounded = true
	w.sock.Bound(unsent)
}

// due is true if a deadline has to be moved from where it stands. Moving one is work for the runtime's timers,
// and a request would move three. So one that fires too early by no more than slack stays: who is woken by it
// looks at the clock, forgets where it stood and waits on.
func due(stands, wanted time.Time, slack time.Duration) bool {
	early := wanted.Sub(stands)
	return early < 0 || early > slack
}

// after is the deadline d from now; 0 is none.
func after(now time.Time, d time.Duration) time.Time {
	if d <= 0 {
		return time.Time{}
	}
	return now.Add(d)
}

func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
