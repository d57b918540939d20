package ctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/scalws/scalws/pkg/client"
)

// target is the daemon that a run is about, and what decided that.
type target struct {
	place
	// by is what named the daemon: a flag, a variable or a context.
	by string
}

// choose decides which daemon it is: that of a flag, of the environment, of the current context, in this order.
// Neither socket nor server are set where none of them says.
func (s *session) choose() (target, error) {
	flags := place{Socket: s.socket, Server: s.server, Cert: s.cert, Key: s.key, CA: s.ca}
	env := place{
		Socket: s.Getenv("SCALWSCTL_SOCKET"), Server: s.Getenv("SCALWSCTL_SERVER"),
		Cert: s.Getenv("SCALWSCTL_CERT"), Key: s.Getenv("SCALWSCTL_KEY"), CA: s.Getenv("SCALWSCTL_CA"),
	}
	var t target
	var err error
	switch {
	case s.context != "" && flags.way() != "":
		return t, wrongWay(errors.New("--context excludes --socket and --server"))
	case flags.way() != "":
		t = target{place{Socket: flags.Socket, Server: flags.Server}, cmp.Or(named("--socket", flags.Socket), "--server")}
	case s.context != "":
		t, err = s.contextNamed(s.context, "--context")
	case env.way() != "":
		t = target{place{Socket: env.Socket, Server: env.Server}, cmp.Or(named("SCALWSCTL_SOCKET", env.Socket), "SCALWSCTL_SERVER")}
	default:
		t, err = s.contextNamed(s.Getenv("SCALWSCTL_CONTEXT"), "SCALWSCTL_CONTEXT")
	}
	if err != nil {
		return t, err
	}
	if t.Server == "" {
		env.Cert, env.Key, env.CA = "", "", "" // they are for servers; only a flag means this very run
	}
	t.Cert = cmp.Or(flags.Cert, env.Cert, t.Cert)
	t.Key = cmp.Or(flags.Key, env.Key, t.Key)
	t.CA = cmp.Or(flags.CA, env.CA, t.CA)
	if err := t.checkWay(); err != nil {
		if t.by != "" {
			err = fmt.Errorf("%w (%s)", err, t.by)
		}
		return t, wrongWay(err)
	}
	return t, nil
}

// named is the name of a value that is there.
func named(name, value string) string {
	if value == "" {
		return ""
	}
	return name
}

// wrongWay is a command line that does not name one daemon.
func wrongWay(err error) error {
	return &failure{code: ExitUsage, err: err, hint: "see 'scalwsctl help environment' and 'scalwsctl context list'"}
}

// contextNamed is the context that a flag or a variable names, or, without a name, the current one. There may
// be none.
func (s *session) contextNamed(name, by string) (target, error) {
	known, err := readSettings(s.settingsFile())
	if err != nil {
		return target{}, err
	}
	if name == "" {
		if name, by = known.Current, "current"; name == "" {
			return target{}, nil
		}
	}
	c, ok := known.find(name)
	if !ok {
		return target{}, known.unknown(ExitUsage, name, by)
	}
	return target{c, fmt.Sprintf("context %s (%s)", name, by)}, nil
}

// daemon is the client for the daemon that this run is about: the one that was chosen, or the one at the first
// of the usual sockets that accepts a connection. found is true for the last.
func (s *session) daemon(ctx context.Context) (c *client.Client, found bool, err error) {
	if s.chosen, err = s.choose(); err != nil {
		return nil, false, err
	}
	t := &s.chosen
	if found = t.way() == ""; found {
		if t.Socket, err = s.findSocket(ctx); err != nil {
			return nil, true, err
		}
	}
	return &client.Client{Socket: t.Socket, Server: t.Server, Cert: t.Cert, Key: t.Key, CA: t.CA, Timeout: s.timeout}, found, nil
}
