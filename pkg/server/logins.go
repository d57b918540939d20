package server

import (
	"fmt"
	"log/slog"

	"github.com/scalws/scalws/pkg/server/internal/logins"
)

// watchedLogins are the users of a file that is looked at for as long as it is in use.
type watchedLogins struct {
	*logins.Source
	log *slog.Logger
	// failure is the error that was logged last: it comes back with every look until somebody has seen to it.
	failure string
}

// logins are the users of a file. Those of the generation before are taken over: what they have found out about
// logins stays.
func (b *builder) logins(file string) (*watchedLogins, error) {
	if w := b.next.logins[file]; w != nil {
		return w, nil
	}
	w := b.before.logins[file]
	if w == nil {
		source, err := logins.New(file, b.server.hashing)
		if err != nil {
			return nil, fmt.Errorf("preparing basic_auth: %w", err)
		}
		w = &watchedLogins{Source: source, log: b.server.log.With("htpasswd_file", file)}
	}
	b.next.logins[file] = w
	return w, nil
}

// refresh takes what has changed. Looks do not come at once.
func (w *watchedLogins) refresh() {
	changed, err := w.Refresh()
	if changed {
		w.log.Info("logins changed", "users", w.Users())
	}
	if err == nil {
		w.failure = ""
		return
	}
	if text := err.Error(); text != w.failure {
		w.failure = text
		w.log.Warn("logins could not be refreshed, those in use stay in use", "error", err)
	}
}

// refreshLogins looks at all files of users.
func (s *Server) refreshLogins() {
	s.changes.Lock()
	defer s.changes.Unlock()
	s.current.Load().refreshLogins()
}

func (g *generation) refreshLogins() {
	for _, w := range g.logins {
		w.refresh()
	}
}
