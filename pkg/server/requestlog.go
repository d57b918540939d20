package server

import (
	"errors"
	"sync"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/accesslog"
)

// retiredLogs are access logs that another one has replaced. A request that was finished at the same moment may
// still be written to the old one, so it is closed a while later.
type retiredLogs struct {
	mu   sync.Mutex
	logs []retiredLog
	// lost is how many lines were dropped by those that are closed.
	lost uint64
}

type retiredLog struct {
	*accesslog.Log
	since time.Time
}

func (r *retiredLogs) add(l *accesslog.Log, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, retiredLog{l, now})
}

// close closes the logs that were retired until then. It is not called twice at the same time.
func (r *retiredLogs) close(until time.Time) error {
	var errs []error
	for {
		r.mu.Lock()
		if len(r.logs) == 0 || r.logs[0].since.After(until) {
			r.mu.Unlock()
			return errors.Join(errs...)
		}
		oldest := r.logs[0]
		r.mu.Unlock()
		errs = append(errs, oldest.Close())
		r.mu.Lock()
		r.logs = r.logs[1:]
		r.lost += oldest.Dropped()
		r.mu.Unlock()
	}
}

// dropped is how many lines were lost by logs that are not written to any more.
func (r *retiredLogs) dropped() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	lost := r.lost
	for _, l := range r.logs {
		lost += l.Dropped()
	}
	return lost
}
