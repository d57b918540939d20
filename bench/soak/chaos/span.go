package chaos

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// span is a time from one moment to another, both included.
type span struct{ from, to time.Time }

// forever ends a span that is not over.
var forever = time.Unix(1<<40, 0)

func (s span) meets(o span) bool { return !s.to.Before(o.from) && !s.from.After(o.to) }

// wider is the span with something before and behind it.
func (s span) wider(before, behind time.Duration) span {
	return span{s.from.Add(-before), s.to.Add(behind)}
}

// spans is a set of times. The zero value is empty.
type spans struct {
	mu  sync.Mutex
	all []*span
}

func (s *spans) add(one span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, &one)
}

// open begins a span that lasts until close, and for what is behind it.
func (s *spans) open() (close func(behind time.Duration)) {
	one := &span{time.Now(), forever}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, one)
	return func(behind time.Duration) {
		s.mu.Lock()
		defer s.mu.Unlock()
		one.to = time.Now().Add(behind)
	}
}

func (s *spans) meet(during span) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.all, func(one *span) bool { return one.meets(during) })
}

func (s *spans) forget(before time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(one *span) bool { return one.to.Before(before) })
}

// note is what somebody saw or did at a moment.
type note struct {
	at   time.Time
	who  string
	what string
}

// journal is notes in the order in which they were made. The zero value is empty.
type journal struct {
	mu    sync.Mutex
	notes []note
}

func (j *journal) add(who, format string, args ...any) {
	n := note{time.Now(), who, fmt.Sprintf(format, args...)}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notes = append(j.notes, n)
}

func (j *journal) within(during span) []note {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.notes), func(n note) bool { return !during.meets(span{n.at, n.at}) })
}

func (j *journal) forget(before time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notes = slices.DeleteFunc(j.notes, func(n note) bool { return n.at.Before(before) })
}
