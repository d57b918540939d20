package server

import "github.com/scalws/scalws/pkg/api"

// signalActor is who the events of a reload name that a signal has asked for.
const signalActor = "signal"

// ReloadOnSignal is Reload where a signal of this name asks for it. The audit log has its line then; that of a call
// of the admin API is written there.
func (s *Server) ReloadOnSignal(name string) (*api.Plan, error) {
	plan, err := s.Reload(signalActor)
	_, refused := refusable(plan, err)
	s.audit.RecordReload(name, refused)
	return plan, err
}
