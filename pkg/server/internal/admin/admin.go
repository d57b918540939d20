// Package admin answers the admin API, version 1, over net/http (docs/admin-api.md).
//
// It decides what is asked and whether it may be done, and turns the engine's values into those of the
// API. Pools live in the daemon, which it knows as a [Runtime]. A refused request has changed nothing.
package admin

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// Runtime is the daemon as the API needs it. All methods may be called from any goroutine.
type Runtime interface {
	// Pools are all pools, in any order.
	Pools() []PoolView
	// Pool is one of them.
	Pool(name string) (PoolView, bool)
	// SetMembers replaces the member list of a pool and returns the pool as it is afterwards. It is called with
	// Changes held. The members
	// are canonical and checked for the pool's scheme. It fails with [ErrNoPool] or [ErrFromFile] where
	// a reload came in between, or with an [lb.MemberError]; the pool is unchanged then.
	SetMembers(ctx context.Context, name string, members []lb.Member, actor string) (PoolView, error)
	// RuntimeMembers is false where no list is taken at run time (admin.runtime_members).
	RuntimeMembers() bool
	// SaveMembers returns when the lists that were set are where they outlive the process, if they are kept at
	// all. It is called after each SetMembers, without Changes held. What fails is the runtime's to report: the
	// change has been made.
	SaveMembers()
	// Status is the process.
	Status() api.Status
	// Changes serialises changes: it is held over the steps of one (compare the revision, replace, note the
	// revision), and by Reload.
	Changes() sync.Locker
	// Config is the effective configuration, as JSON in the keys of the file.
	Config() ([]byte, error)
	// Plan says what a reload would do if text were the configuration file. What it refuses is an [api.Problem].
	Plan(text []byte) (*api.Plan, error)
	// Reload loads the configuration file again and says what became of it. What it refuses is an [api.Problem];
	// everything is as before then.
	Reload(actor string) (*api.Plan, error)
}

// PoolView is a pool at one time: what the engine says, and the settings that the engine has not heard of.
type PoolView struct {
	Status lb.Status
	// FromAPI is true for members_from: api.
	FromAPI bool
	// HTTPS is true for scheme: https, which CAFile and ServerName belong to.
	HTTPS      bool
	CAFile     string
	ServerName string
	// Keepalive is how many idle connections are kept for each member.
	Keepalive int
	// Incarnation tells this pool from an earlier one of the same name, over restarts too.
	Incarnation string
	// RestoredFrom is when the state was written that the list comes from; zero: it comes from elsewhere.
	RestoredFrom time.Time
	// Engine answers questions about the pool as it is when it is asked.
	Engine Engine
}

// Engine is an [lb.Pool] without what changes it.
type Engine interface {
	TokenKey(now time.Time, text []byte) (lb.Key, bool)
	Explain(now time.Time, key lb.Key) lb.Explanation
	Preview(now time.Time, members []lb.Member, keys []string, stop func() bool) lb.Preview
	Rehearse(now time.Time, members []lb.Member) (lb.Change, lb.Status)
}

// What [Runtime.SetMembers] refuses.
var (
	ErrNoPool   = errors.New("no pool of that name")
	ErrFromFile = errors.New("the pool takes its members from the configuration file")
)

// Journal is what happened in the daemon.
type Journal interface {
	// Since returns the events after a number, the oldest first, with a gap in front where some of them are
	// gone. more is closed when there are others.
	Since(seq uint64) (events []lb.Event, more <-chan struct{})
	// Done is closed when no more events come, because the daemon ends.
	Done() <-chan struct{}
}

// Options are what the API is made of. All are required.
type Options struct {
	Runtime Runtime
	Journal Journal
	// Metrics answers GET /metrics.
	Metrics http.Handler
	// Audit gets a line for each change, done or refused.
	Audit *AuditLog
	// Log gets a line for each answer 500.
	Log *slog.Logger
}

// handler is the API over a runtime.
type handler struct {
	Options
	// streams holds one signal for each event stream, previews one for the preview that is computed.
	streams, previews chan struct{}
}

func newHandler(o Options) *handler {
	return &handler{Options: o, streams: make(chan struct{}, api.MaxStreams), previews: make(chan struct{}, 1)}
}

// Handler answers the API.
func Handler(o Options) http.Handler { return newHandler(o).mux() }

func (h *handler) mux() http.Handler {
	byPath := map[string]map[string]route{}
	for _, r := range h.routes() {
		if byPath[r.path] == nil {
			byPath[r.path] = map[string]route{}
		}
		byPath[r.path][r.method] = r
	}
	mux := http.NewServeMux()
	for pattern, methods := range byPath {
		mux.Handle(pattern, h.byMethod(methods))
	}
	notFound := h.serve(route{handle: func(_ http.ResponseWriter, r *http.Request) error {
		return refuse(api.CodeNotFound, "no such path: %s", cut(r.URL.Path))
	}})
	mux.Handle("/", notFound)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// ServeMux answers a path that is not in its shortest form with a redirect, which a client that
		// writes does not follow.
		if !strings.HasPrefix(r.URL.Path, "/") || path.Clean(r.URL.Path) != r.URL.Path {
			notFound.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// byMethod serves one path. HEAD is a GET whose body net/http leaves out (RFC 9110 section 9.3.2).
func (h *handler) byMethod(methods map[string]route) http.Handler {
	if get, ok := methods[http.MethodGet]; ok {
		methods[http.MethodHead] = get
	}
	allow := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
	notAllowed := route{handle: func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", allow)
		return refuse(api.CodeMethodNotAllowed, "%s is not allowed here: use %s", cut(r.Method), allow)
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rt, ok := methods[r.Method]
		if !ok {
			rt = notAllowed
		}
		h.serve(rt).ServeHTTP(w, r)
	})
}

// serve is the way of every request: the guard, the call, the audit log, and the problem where there is one.
func (h *handler) serve(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := guard(r, rt)
		r = withCaller(withGuard(r, rt), caller)
		answer := w
		var asked *change
		if rt.change != "" && !rt.isRehearsal(r) {
			asked = &change{what: rt.change, pool: r.PathValue("name")}
			r = withChange(r, asked)
			answer = &audited{ResponseWriter: w, line: func() { h.record(r, asked, nil) }}
		}
		if asked != nil {
			defer func() { h.record(r, asked, err) }() // a call that ends in a panic has a line too
		}
		if err == nil {
			err = errUnfinished
			err = rt.handle(answer, r)
		}
		if err == nil {
			return
		}
		if asked != nil {
			h.record(r, asked, err)
		}
		h.respondProblem(w, r, err)
	})
}

// errUnfinished is what came of a call that has not returned.
var errUnfinished = errors.New("the call has not come to its end")
