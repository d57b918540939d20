package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/net/http2"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/pkg/server/internal/certs"
)

// certificateTime is how often the files of certificates are looked at. Who renews one has days to do it; who
// revokes one does not want to wait.
const certificateTime = 10 * time.Second

// listenerTLS reads what a listener needs to speak TLS; nil without TLS.
func listenerTLS(l config.Listener) (*certs.Source, error) {
	if l.TLS == nil {
		return nil, nil
	}
	o := certs.Options{
		Files:      certs.Files{ClientCAFile: l.TLS.ClientCAFile},
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
	}
	for _, p := range l.TLS.Certificates {
		o.Pairs = append(o.Pairs, certs.Pair(p))
	}
	if l.TLS.MinVersion == config.TLS13 {
		o.MinVersion = tls.VersionTLS13
	}
	if l.HTTP2 {
		o.NextProtos = []string{http2.NextProtoTLS, "http/1.1"}
	}
	source, err := certs.New(o)
	if err != nil {
		return nil, fmt.Errorf("preparing TLS of listener %s: %w", l.Name, err)
	}
	return source, nil
}

// watched is a source whose files are looked at for as long as it is in use.
type watched struct {
	*certs.Source
	// log names who uses it.
	log *slog.Logger
	// failure is the error that was logged last: it comes back with every look until somebody has seen to it.
	failure string
}

// refresh takes what has changed. It is called by the housekeeping and by a reload, which do not come at once.
func (w *watched) refresh() {
	changed, err := w.Refresh()
	if changed {
		var names []string
		var until time.Time
		for _, leaf := range w.Certificates() {
			names = append(names, leaf.DNSNames...)
			if until.IsZero() || leaf.NotAfter.Before(until) {
				until = leaf.NotAfter
			}
		}
		w.log.Info("certificates changed", "names", names, "valid_until", until)
	}
	if err == nil {
		w.failure = ""
		return
	}
	if text := err.Error(); text != w.failure {
		w.failure = text
		w.log.Warn("certificates could not be refreshed, those in use stay in use", "error", err)
	}
}

// refreshCertificates looks at the files of all sources.
func (s *Server) refreshCertificates() {
	s.changes.Lock()
	defer s.changes.Unlock()
	for _, l := range s.current.Load().listeners {
		if l.certificates != nil {
			l.certificates.refresh()
		}
	}
	if terms := s.current.Load().remoteTerms; terms != nil {
		terms.certificates.refresh()
	}
}
