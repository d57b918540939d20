package server

import "time"

// RefreshCertificates is what the housekeeping does every ten seconds. It must not be called while Run runs.
func (s *Server) RefreshCertificates() { s.refreshCertificates() }

// SlowRound has a loop begin a round with a task that takes a time and goes on with what event has brought.
func (s *Server) SlowRound(event func(), length time.Duration) {
	l := s.loops.Any()
	held, release := make(chan struct{}), make(chan struct{})
	l.NewTask(func() {
		close(held)
		<-release
	}).Begin()
	<-held
	l.NewTask(func() {
		for time.Since(l.Now()) < length {
		}
	}).Begin()
	event()
	close(release)
}

// SlowTask has a loop run a task that takes a time, and event happen meanwhile.
func (s *Server) SlowTask(event func(), length time.Duration) {
	l := s.loops.Any()
	running := make(chan struct{})
	l.NewTask(func() {
		close(running)
		for time.Since(l.Now()) < length {
		}
	}).Begin()
	<-running
	event()
}
