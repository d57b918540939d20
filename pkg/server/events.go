package server

import "github.com/scalws/scalws/pkg/lb"

// poolEvents are the events of all pools after a number.
func (s *Server) poolEvents(since uint64) []lb.Event {
	var all []lb.Event
	for _, p := range s.current.Load().pools.sorted {
		all = append(all, p.engine.Events(since)...)
	}
	return all
}

// logEvents logs what happens, until the journal ends.
func (s *Server) logEvents() {
	var seen uint64
	for ended := false; ; {
		events, more := s.journal.Since(seen)
		for _, e := range events {
			s.logEvent(e)
			seen = e.Seq
		}
		if ended {
			return
		}
		select {
		case <-more:
		case <-s.journal.Done():
			ended = true // what came last is still logged
		}
	}
}

func (s *Server) logEvent(e lb.Event) {
	attrs := []any{"kind", e.Kind, "pool", e.Pool, "member", e.Member, "actor", e.Actor, "seq", e.Seq}
	if !e.Until.IsZero() {
		attrs = append(attrs, "until", e.Until)
	}
	if n := len(e.Evidence); n > 0 {
		attrs = append(attrs, "cause", e.Evidence[n-1].Cause.String(), "failures", n)
	}
	s.log.Info("pool event", attrs...)
}
