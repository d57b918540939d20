package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/scalws/scalws/pkg/api"
)

// Events is what happened after the event numbered since, the oldest first; 0 is all that the daemon still
// knows. pool leaves out the events of other pools, "" does not. Where events are missing a gap stands for them.
//
// GET /v1/events. 404: there is no such pool, and nothing is known of one.
func (c *Client) Events(ctx context.Context, pool string, since uint64) (api.Events, error) {
	return do[api.Events](ctx, c, http.MethodGet, eventsPath(pool, since), nil)
}

func eventsPath(pool string, since uint64) string {
	query := url.Values{}
	if pool != "" {
		query.Set(api.ParamPool, pool)
	}
	if since > 0 {
		query.Set(api.ParamSince, strconv.FormatUint(since, 10))
	}
	return withQuery(api.PathEvents, query)
}

const (
	// silence is how long a stream may be silent: three heartbeats.
	silence = 3 * api.HeartbeatSeconds * time.Second
	// firstPause and longestPause bound the time before a connection is made again.
	firstPause, longestPause = 100 * time.Millisecond, 5 * time.Second
)

// Follow is what happened after the event numbered since, as Events has it, and then what happens, as it
// happens:
//
//	for event, err := range daemon.Follow(ctx, "api", 0) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(event.Kind, event.Member)
//	}
//
// When the connection ends Follow makes another one and goes on behind the last event. What the daemon no
// longer knows by then is a gap, and so is its restart, because events end with their process. An error is
// the last that comes: the context's, a refusal, or a daemon that was not there at the beginning.
// [Client.Timeout] does not bound it.
//
// GET /v1/events as text/event-stream. 404: there is no such pool, and nothing is known of one. 503: there are
// api.MaxStreams streams already; once a stream has begun, that too is waited for.
func (c *Client) Follow(ctx context.Context, pool string, since uint64) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		f := follower{client: c, path: eventsPath(pool, since), silence: silence, yield: yield}
		if err := f.run(ctx); err != nil && !f.stopped {
			yield(api.Event{}, callError(http.MethodGet, api.PathEvents, err))
		}
	}
}

// follower is one use of Follow.
type follower struct {
	client *Client
	path   string
	// silence is how long a stream may be silent.
	silence time.Duration
	yield   func(api.Event, error) bool
	// last is the id to go on behind, begun is true once there was a stream, pause is how long to
	// wait before the next one.
	last  string
	begun bool
	pause time.Duration
	// stopped is true once the caller wants no more.
	stopped bool
}

// run follows until there is nothing more to follow.
func (f *follower) run(ctx context.Context) error {
	f.pause = firstPause
	for {
		err := f.stream(ctx)
		switch {
		case f.stopped:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !f.passing(err):
			return err
		}
		// Half of the pause is by chance, so that all who follow a daemon do not come back at one instant.
		select {
		case <-time.After(f.pause/2 + rand.N(f.pause/2)):
		case <-ctx.Done():
			return ctx.Err()
		}
		f.pause = min(2*f.pause, longestPause)
	}
}

// passing tells whether the end of a stream is one after which another is tried.
func (f *follower) passing(err error) bool {
	var problem *api.Problem
	var malformed *malformedStream
	switch {
	case !f.begun, errors.As(err, &malformed):
		return false
	case errors.As(err, &problem):
		return problem.Status == http.StatusServiceUnavailable
	}
	return true
}

// stream reads one stream to its end.
func (f *follower) stream(ctx context.Context) error {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	// A daemon that is gone without a word is noticed by the silence, also of the answer's head.
	watch := time.AfterFunc(f.silence, cancel)
	defer watch.Stop()
	err := f.read(reading, func() { watch.Reset(f.silence) })
	if reading.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("reading events: nothing came for %v", f.silence)
	}
	return err
}

// read is stream without its watch. alive is called for each sign of life.
func (f *follower) read(ctx context.Context, alive func()) error {
	r := request{method: http.MethodGet, path: f.path, accept: api.StreamType}
	if f.last != "" {
		r.header = http.Header{api.HeaderLastEvent: {f.last}}
	}
	resp, err := f.client.open(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media != api.StreamType {
		return &malformedStream{fmt.Errorf("the answer is %q and no stream of events", media)}
	}
	f.begun = true
	events := newEventReader(resp.Body, alive)
	defer func() { f.last = cmp.Or(events.last, f.last) }()
	for {
		event, err := events.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f.pause = firstPause
		if !f.yield(event, nil) {
			f.stopped = true
			return nil
		}
	}
}
