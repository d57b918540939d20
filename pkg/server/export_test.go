package server

// RefreshCertificates is what the housekeeping does every ten seconds. It must not be called while Run runs.
func (s *Server) RefreshCertificates() { s.refreshCertificates() }
