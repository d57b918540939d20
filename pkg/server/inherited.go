package server

import (
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/scalws/scalws/pkg/server/internal/proxy"
)

// inherited are listening sockets that somebody opened for us, by their names.
type inherited struct{ byName map[string][]net.Listener }

func newInherited(byName map[string][]net.Listener) inherited {
	in := inherited{byName: map[string][]net.Listener{}}
	for name, all := range byName {
		for _, l := range all {
			if l != nil { // not a stream socket
				in.byName[name] = append(in.byName[name], l)
			}
		}
	}
	return in
}

// take gives away the socket of this name, or else one with this address; nil if there is none.
func (in *inherited) take(name, address string) net.Listener {
	l := in.find(name, address)
	if t, ok := l.(*net.TCPListener); ok {
		if raw, err := t.SyscallConn(); err == nil {
			proxy.Prepare(raw) // as well as it goes: the socket works without
		}
	}
	return l
}

func (in *inherited) find(name, address string) net.Listener {
	if all := in.byName[name]; len(all) > 0 {
		in.byName[name] = all[1:]
		return all[0]
	}
	for other, all := range in.byName {
		for i, l := range all {
			if l.Addr().String() == strings.TrimPrefix(address, "unix:") {
				in.byName[other] = append(all[:i:i], all[i+1:]...)
				return l
			}
		}
	}
	return nil
}

// names of the sockets that nobody took, sorted.
func (in *inherited) names() []string {
	var names []string
	for name, all := range in.byName {
		if len(all) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Close closes what nobody took.
func (in *inherited) Close() error {
	var errs []error
	for _, all := range in.byName {
		for _, l := range all {
			errs = append(errs, l.Close())
		}
	}
	in.byName = nil
	return errors.Join(errs...)
}
