package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// demoMetrics is where the demo's metrics are, if nobody else listens there.
const demoMetrics = "127.0.0.1:9464"

// Demo is a configuration that needs no file, with the members that it balances over.
type Demo struct {
	members   []*http.Server
	addresses []string
	text      []byte
}

// NewDemo starts three sample members on loopback ports of their own and writes a configuration for them:
// one api pool behind a listener on the given address.
func NewDemo(address string) (*Demo, error) {
	d := &Demo{}
	var list strings.Builder
	for _, name := range []string{"a", "b", "c"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(fmt.Errorf("starting sample member: %w", err), d.Close())
		}
		m := &http.Server{Handler: sampleMember(name, l.Addr().String()), ReadHeaderTimeout: time.Minute}
		go m.Serve(l)
		d.members = append(d.members, m)
		d.addresses = append(d.addresses, l.Addr().String())
		fmt.Fprintf(&list, "      - {address: %q}\n", l.Addr())
	}
	d.text = fmt.Appendf(nil, demoText, address, freeMetrics(), list.String())
	return d, nil
}

// demoText is the demo's configuration. The pool takes its members from the API, so that they can be
// replaced while it runs.
const demoText = `server:
  listeners:
    - {name: http, address: %q}
metrics:
  address: %q
upstreams:
  demo:
    members_from: api
    members:
%stenants:
  - name: demo
    applications:
      - name: demo
        domains: ["*"]
        runtime: {type: proxy, upstream: {pool: demo}}
`

// freeMetrics is the usual metrics address, or any free port where it is taken.
func freeMetrics() string {
	l, err := net.Listen("tcp", demoMetrics)
	if err != nil {
		return "127.0.0.1:0"
	}
	l.Close()
	return demoMetrics
}

// sampleMember answers every request with its name.
func sampleMember(name, address string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "member %s (%s) answers %s %s\n", name, address, r.Method, r.URL.Path)
	})
}

// Text is the configuration.
func (d *Demo) Text() []byte { return d.text }

// Members are the addresses of the sample members.
func (d *Demo) Members() []string { return d.addresses }

// Close stops the sample members.
func (d *Demo) Close() error {
	var errs []error
	for _, m := range d.members {
		errs = append(errs, m.Shutdown(context.Background()))
	}
	return errors.Join(errs...)
}
