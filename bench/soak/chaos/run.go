// Package chaos puts a daemon between members that die, hang, break off, answer early and come back, and clients of
// all kinds, while lists are replaced and the configuration is reloaded. Every request is judged by what its client
// and every member saw of it: a wrong byte is always a defect, a failure is one unless the facts excuse it.
package chaos

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Daemon is the daemon under test, as an operator reaches it.
type Daemon interface {
	// Address is where clients connect, also those of HTTP/2 without TLS.
	Address() string
	// Secure is where clients connect over TLS, and the settings with which they trust the daemon; nil: they do not.
	Secure() (address string, settings *tls.Config)
	// AccessLog is a file that the daemon writes a line of JSON to for each request.
	AccessLog() string
	// SetMembers replaces the member list of a pool.
	SetMembers(ctx context.Context, pool string, addresses []string) error
	// Reload puts a version of the configuration, 0 or 1, in place and tells the daemon.
	Reload(version int) error
}

// Run is members, clients and a judge. Its members are there from New on, so that a daemon can be configured
// with them.
type Run struct {
	seed    uint64
	clients int
	pools   []*pool
	stories *stories

	reloads, stalls spans
	journal         journal

	sources  atomic.Uint64
	replaced atomic.Uint64
	reloaded atomic.Uint64

	mu    sync.Mutex
	tally map[verdict]int
}

// New starts the members. The same seed makes up the same moods, acts and requests; in which order they meet is
// up to the machine.
func New(seed uint64, clients int) (*Run, error) {
	r := &Run{seed: seed, clients: clients, pools: pools(), stories: newStories(), tally: make(map[verdict]int)}
	for _, p := range r.pools {
		for i := range p.members {
			m, err := newMember(p, r.stories, r.source().Uint64())
			if err != nil {
				r.Close()
				return nil, err
			}
			p.members[i] = m
		}
		p.begin(p.addresses())
		if p.from == "file" {
			p.begin(p.addresses()[1:]) // which of the two versions is in effect is not known
		}
	}
	return r, nil
}

// source is a new source of chance that follows from the seed.
func (r *Run) source() *rand.Rand { return rand.New(rand.NewPCG(r.seed, r.sources.Add(1)<<32)) }

// Close ends the members.
func (r *Run) Close() {
	for _, p := range r.pools {
		for _, m := range p.members {
			if m != nil {
				m.close()
			}
		}
	}
}

// Configuration is the sections upstreams and tenants of a version of the configuration, and the timeouts
// towards members that the judge reckons with, which belong into the section server.
func (r *Run) Configuration(version int) (server, rest string) {
	server = fmt.Sprintf("  upstream_client: {connect_timeout: %s, response_timeout: %s, body_timeout: %s, idle_timeout: %s}\n",
		connectTimeout, responseTimeout, bodyTimeout, memberIdle)
	var b strings.Builder
	b.WriteString("upstreams:\n")
	for _, p := range r.pools {
		b.WriteString(p.yaml(version))
	}
	b.WriteString("tenants:\n  - name: soak\n    applications:\n")
	for _, p := range r.pools {
		fmt.Fprintf(&b, "      - {name: %s, domains: [%s], runtime: {type: proxy, upstream: {pool: %s}}}\n", p.name, p.host(), p.name)
	}
	return server, b.String()
}

// Chaos lets clients, members and disturbances loose until the context ends, and then waits for what is under way.
// It returns the first thing that was wrong, with its whole story.
func (r *Run) Chaos(ctx context.Context, d Daemon) error {
	during, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	// A request that has begun is brought to its end when the time is over, but not once something was wrong.
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	fail := func(err error) {
		if err != nil {
			stop(err)
			cut()
		}
	}
	// What judges goes on until the clients are done; what disturbs, and the clients, do not.
	judging, judged := context.WithCancel(context.WithoutCancel(ctx))
	defer judged()
	var work, judges sync.WaitGroup
	judges.Go(func() { fail(follow(judging, d.AccessLog(), r.stories)) })
	judges.Go(func() { fail(r.court(judging)) })
	judges.Go(func() { r.watch(judging) })
	for _, p := range r.pools {
		for _, m := range p.members {
			random := r.source()
			work.Go(func() { fail(m.live(during, random)) })
		}
		chances := r.source()
		work.Go(func() { p.storms(during, chances) })
		if p.from == "api" {
			random := r.source()
			work.Go(func() { fail(r.replace(during, d, p, random)) })
		}
	}
	random := r.source()
	work.Go(func() { fail(r.reload(during, d, random)) })
	for i := range r.clients {
		random := r.source()
		work.Go(func() { fail(r.client(during, requests, d, i, random)) })
	}
	work.Wait()
	r.drain(during)
	judged()
	judges.Wait()
	if failed(during) {
		return context.Cause(during)
	}
	return nil
}

// failed is true where something else than the caller ended the context.
func failed(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded)
}

// drain waits until all stories are judged, or one was found wrong.
func (r *Run) drain(ctx context.Context) {
	for range int(2 * patience / logRhythm) {
		r.stories.mu.Lock()
		left := len(r.stories.ended)
		r.stories.mu.Unlock()
		if left == 0 || failed(ctx) {
			return
		}
		time.Sleep(logRhythm)
	}
}

// court judges the stories as they end.
func (r *Run) court(ctx context.Context) error {
	for {
		final := ctx.Err() != nil
		for {
			s := r.stories.next(time.Now(), final)
			if s == nil {
				break
			}
			if err := r.try(s); err != nil {
				return err
			}
		}
		if strays := r.stories.firstStray(); strays != "" {
			return errors.New(strays)
		}
		if final {
			return nil
		}
		r.forget(time.Now().Add(-2 * tooLong))
		sleep(ctx, logRhythm)
	}
}

// try judges one story.
func (r *Run) try(s *story) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := r.facts(s)
	v, err := s.judge(f)
	if err != nil {
		return fmt.Errorf("%w\n%s\n%s", err, s.tell(r.around(s)), f)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally[v]++
	return nil
}

func (r *Run) forget(before time.Time) {
	r.reloads.forget(before)
	r.stalls.forget(before)
	r.journal.forget(before)
	for _, p := range r.pools {
		p.journal.forget(before)
		for _, m := range p.members {
			m.forget(before)
		}
	}
}
