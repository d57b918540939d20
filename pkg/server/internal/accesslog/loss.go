package accesslog

import (
	"errors"
	"sync/atomic"
	"time"
)

// calm is how long no line may be lost before a loss has ended. An output that takes some lines and
// refuses others would fill the process log otherwise.
const calm = 10 * time.Second

// loss counts lines that were dropped.
type loss struct {
	lines atomic.Uint64
	// sound is set while no line was lost since the last write.
	sound atomic.Bool
	// under is set from the first line that is lost until that was told to have ended.
	under atomic.Bool
	begun chan struct{}
	// cause is the error of the last write, if it failed.
	cause atomic.Pointer[error]
}

func (s *loss) add(lines uint64) {
	s.lines.Add(lines)
	s.sound.Store(false)
	s.begin()
}

func (s *loss) begin() {
	if !s.under.Load() && s.under.CompareAndSwap(false, true) {
		signal(s.begun)
	}
}

// whole notes a write without a loss.
func (s *loss) whole() {
	s.sound.Store(true)
	s.cause.Store(nil)
}

// because notes why a write failed.
func (s *loss) because(err error) { s.cause.Store(&err) }

// reason is why lines are lost. Without an error of a write the writer is waiting for one to return.
func (s *loss) reason() error {
	if cause := s.cause.Load(); cause != nil {
		return *cause
	}
	return errors.New("the output stands still")
}

// report tells the process log when lines begin to be lost, and when that has ended: once each. It is a
// goroutine of its own because the writer may be waiting for the output just then.
func (l *Log) report() {
	defer close(l.reported)
	s := &l.loss
	for told := uint64(0); ; {
		select {
		case <-s.begun:
		case <-l.quit:
			return
		}
		l.log.Warn("access log lines are lost", "error", s.reason())
		lines, ended := s.over(l.quit)
		if !ended {
			return
		}
		l.log.Info("access log lines are written again", "lost", lines-told)
		told = lines
		s.under.Store(false)
		if s.lines.Load() > lines {
			s.begin() // by a line that was lost just now
		}
	}
}

// over waits until the output takes lines again and none was lost for a while, and returns how many had
// been by then. It is false if quit came first.
func (s *loss) over(quit <-chan struct{}) (lines uint64, ended bool) {
	tick := time.NewTicker(calm)
	defer tick.Stop()
	for lines = s.lines.Load(); ; {
		select {
		case <-tick.C:
		case <-quit:
			return lines, false
		}
		before := lines
		if lines = s.lines.Load(); lines == before && s.sound.Load() {
			return lines, true
		}
	}
}
