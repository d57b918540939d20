package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/pkg/server/internal/certs"
	"github.com/scalws/scalws/pkg/server/internal/proxy"
)

// listener is a listening socket of clients and what it serves by.
type listener struct {
	name string
	*proxy.Listener
	terms        proxy.Terms
	certificates *watched // nil without TLS
}

// openListeners makes the listeners of a plan: sockets that stay, with the terms that they will have, and new
// ones.
func (b *builder) openListeners() error {
	for _, l := range b.plan.Listeners {
		if l.Action == config.Removed {
			continue
		}
		if l.Action == config.Kept {
			b.next.listeners = append(b.next.listeners, b.before.listeners[l.From])
			continue
		}
		c := b.next.config.Server.Listeners[l.To]
		source, err := listenerTLS(c)
		if err != nil {
			return err
		}
		next := listener{name: l.Name, terms: terms(c, source)}
		if source != nil {
			next.certificates = &watched{Source: source, log: b.server.log.With("listener", l.Name)}
		}
		if l.Action == config.Changed {
			if slices.Contains(l.Because, "reuse_port") {
				return &ListenError{Address: l.Address, err: errBound,
					Hint: "restart the daemon, or change " + listenerKey(l.To, "address") + " too"}
			}
			next.Listener = b.before.listeners[l.From].Listener
		} else {
			socket, file, err := b.openSocket(c, l.To)
			if err != nil {
				return err
			}
			b.undo.add(closer(socket))
			if next.Listener, err = proxy.NewListener(b.server.loops.Any(), socket, file, next.terms); err != nil {
				return err
			}
			b.undo.add(closer(next))
		}
		b.next.listeners = append(b.next.listeners, next)
	}
	return nil
}

// errBound is why a socket cannot be shared or withdrawn from sharing: the kernel asks when it is bound.
var errBound = errors.New("reuse_port cannot change while the socket is open")

// openSocket takes the socket that was opened for us, or opens one. The file is that of a unix socket of our own.
func (b *builder) openSocket(l config.Listener, i int) (socket net.Listener, file string, err error) {
	if socket := b.server.inherited.take(l.Name, l.Address); socket != nil {
		return socket, "", nil
	}
	if path, ok := strings.CutPrefix(l.Address, "unix:"); ok {
		file = path
	}
	socket, err = listenShared(l.Address, listenerKey(i, "address"), l.ReusePort)
	return socket, file, err
}

// terms are how the connections of a listener are served; source is nil without TLS.
func terms(l config.Listener, source *certs.Source) proxy.Terms {
	t := proxy.Terms{Name: l.Name, H2C: l.H2C, ProxyProtocol: l.ProxyProtocol}
	if source != nil {
		t.TLS = source.TLS()
	}
	return t
}

// carryOutListeners gives the listeners that stay their terms and a look at their certificates, serves the new ones and retires those that go.
func (s *Server) carryOutListeners(before, next *generation) {
	stays := make(map[*proxy.Listener]bool, len(next.listeners))
	for _, l := range next.listeners {
		stays[l.Listener] = true
		l.SetTerms(l.terms)
		if l.certificates != nil {
			l.certificates.refresh()
		}
	}
	had := make(map[*proxy.Listener]bool, len(before.listeners))
	var retiring sync.WaitGroup
	for _, l := range before.listeners {
		had[l.Listener] = true
		if !stays[l.Listener] {
			retiring.Go(func() { s.retire(l) })
		}
	}
	for _, l := range next.listeners {
		if !had[l.Listener] {
			s.accept(l)
			s.log.Info("listening", "listener", l.name, "address", l.Addr().String())
		}
	}
	retiring.Wait() // the next reload may want the addresses back
}

// retire ends one listener as a drain ends all of them.
func (s *Server) retire(l listener) {
	s.proxy.Retire(l.Listener) // first: with max_connections used up, nothing of the backlog would be let in
	s.finish(context.Background(), l)
	s.log.Info("listening no more", "listener", l.name, "address", l.Addr().String())
}

// finish takes what waits in the backlog and closes.
func (s *Server) finish(ctx context.Context, l listener) {
	if err := l.Finish(ctx); err != nil {
		s.log.Warn("closing a listener", "listener", l.name, "error", err)
	}
}

// listenerKey is where a setting of a listener stands in the configuration.
func listenerKey(i int, key string) string { return fmt.Sprintf("server.listeners[%d].%s", i, key) }
