package ctl

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scalws/scalws/internal/console"
	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// ticketPath is where a ticket is exchanged for the console.
const ticketPath = "/open/"

// tunnel is the console on a loopback port: the page, and the admin API behind a guard.
//
// The port is open to every user and every web page of this machine, while the socket is not. So each request for
// data needs the token, in a field that no other page can have a browser send, and a Host that is ours: else a name
// that somebody else has pointed to this address would make our answers theirs to read (DNS rebinding). There is no
// cookie, because browsers send those of one port to all other ports of the host.
type tunnel struct {
	address string
	// token opens the API as often as wanted, ticket opens the page once.
	token  string
	ticket string
	used   sync.Once

	timeout time.Duration
	page    http.Handler
	daemon  http.Handler
}

// newTunnel serves at an address, in front of a daemon. timeout bounds each answer but the stream of events; 0 does
// not.
func newTunnel(daemon *client.Client, timeout time.Duration, address string) *tunnel {
	return &tunnel{
		address: address,
		token:   newToken(),
		ticket:  newToken(),
		timeout: timeout,
		page:    http.StripPrefix(strings.TrimSuffix(console.Path, "/"), console.Handler()),
		daemon: &httputil.ReverseProxy{
			Rewrite:       passOn,
			Transport:     daemon,
			FlushInterval: -1, // an event is not kept back
			ErrorHandler:  respondUnreachable,
			ErrorLog:      discard(),
		},
	}
}

// url is what the user opens. Browsers keep what is behind the # to themselves.
func (t *tunnel) url() string { return "http://" + t.address + console.Path + "#token=" + t.token }

// ticketURL is the same for once. A program that is started with it shows it to every user of the machine, in the list
// of processes; by then it has been used.
func (t *tunnel) ticketURL() string { return "http://" + t.address + ticketPath + t.ticket }

// ServeHTTP lets in what is ours, reads only, and knows the token. The page itself holds nothing that is secret.
func (t *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	console.Harden(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case !t.isAddressed(r):
		refuseConsole(w, http.StatusForbidden, "the console is not called %q", r.Host)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuseConsole(w, http.StatusMethodNotAllowed, "the console changes nothing: only GET and HEAD are taken")
	case strings.HasPrefix(r.URL.Path, console.Path):
		t.page.ServeHTTP(w, r)
	case t.redeems(r):
		http.Redirect(w, r, t.url(), http.StatusSeeOther)
	case !t.knows(r):
		refuseConsole(w, http.StatusForbidden, "the token is missing or wrong")
	case !isAsked(r.URL.Path):
		refuseConsole(w, http.StatusNotFound, "the console has no such path")
	default:
		t.ask(w, r)
	}
}

// isAddressed tells whether the Host of a request is the address that was printed, or localhost with its port.
func (t *tunnel) isAddressed(r *http.Request) bool {
	_, port, err := net.SplitHostPort(t.address)
	return err == nil && slices.Contains([]string{t.address, "localhost:" + port}, strings.ToLower(r.Host))
}

// redeems tells whether a request brings the ticket for the first time.
func (t *tunnel) redeems(r *http.Request) (first bool) {
	given, found := strings.CutPrefix(r.URL.Path, ticketPath)
	if found && r.Method == http.MethodGet && same(given, t.ticket) {
		t.used.Do(func() { first = true })
	}
	return first
}

// knows tells whether a request brings the token (RFC 6750 section 2.1).
func (t *tunnel) knows(r *http.Request) bool {
	given, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return found && same(given, t.token)
}

// same compares in a time that says nothing about where two texts differ.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// isAsked tells whether a path is one of the daemon's that the console reads.
func isAsked(p string) bool {
	return p == api.PathMetrics || strings.HasPrefix(p, "/v1/") && path.Clean(p) == p
}

// ask passes a question on to the daemon.
func (t *tunnel) ask(w http.ResponseWriter, r *http.Request) {
	if t.timeout > 0 && !strings.Contains(r.Header.Get("Accept"), api.StreamType) {
		ctx, cancel := context.WithTimeout(r.Context(), t.timeout)
		defer cancel()
		r = r.WithContext(ctx)
	}
	w.Header().Del("Cache-Control") // the daemon says itself
	t.daemon.ServeHTTP(w, r)
}

// passOn makes the request for the daemon: what it may need of the browser's, and no more. The daemon refuses whatever
// a browser sends by itself, and is right not to know that this one was let in.
func passOn(r *httputil.ProxyRequest) {
	header := make(http.Header)
	for _, name := range []string{"Accept", "Last-Event-ID"} {
		if values := r.In.Header.Values(name); len(values) > 0 {
			header[http.CanonicalHeaderKey(name)] = values
		}
	}
	header.Set("User-Agent", "scalwsctl console")
	r.Out.Header = header
	r.Out.Body, r.Out.ContentLength = nil, 0
}

// respondUnreachable answers for a daemon that did not.
func respondUnreachable(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusBadGateway
	if errors.Is(err, context.DeadlineExceeded) {
		status = http.StatusGatewayTimeout
	}
	refuseConsole(w, status, "%v", err)
}

// refuseConsole answers with a problem, as the daemon does, so that the page reads all refusals alike.
func refuseConsole(w http.ResponseWriter, status int, format string, args ...any) {
	w.Header().Set("Content-Type", api.ProblemType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// An error of the connection has nobody who could be told.
	_ = json.NewEncoder(w).Encode(api.NewProblem(status, "", format, args...))
}

// discard is for what net/http would write into a terminal about connections that browsers break off.
func discard() *log.Logger { return log.New(io.Discard, "", 0) }
