package admin

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

const (
	// streamPatience is how long a stream's reader may take for a piece of it before it is cut off.
	streamPatience = 10 * time.Second
	// streamPiece is how much is written at once, in bytes, give or take an event.
	streamPiece = 32 << 10
)

// stream answers with events as they come, in the format of server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html), until the client goes or the daemon ends.
//
// It reads from the journal at its own pace and keeps no queue. A reader that is slower than events come finds
// a gap; one that takes nothing at all loses its connection. In neither case anybody waits for it.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, pool string, since uint64) error {
	select {
	case h.streams <- struct{}{}:
		defer func() { <-h.streams }()
	default:
		return refuse(api.CodeTooManyStreams,
			"there are %d event streams already: close one, or read lists", api.MaxStreams)
	}
	s := stream{
		to: w, control: http.NewResponseController(w),
		boot: h.Runtime.Status().Boot, pool: pool, seen: since,
	}
	lost := s.resume(r.Header.Get(api.HeaderLastEvent))
	header := w.Header()
	header.Set("Content-Type", api.StreamType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	defer s.bound()
	s.mark() // the head must not wait for the first event
	if lost {
		s.add(lb.Event{Kind: lb.EventGap})
	}
	heartbeat := time.NewTicker(api.HeartbeatSeconds * time.Second)
	defer heartbeat.Stop()
	for ended := false; ; {
		events, more := h.Journal.Since(s.seen)
		// Looked at behind the events: who was let out by what one of them tells does not get it.
		if stillAllowed(r) != nil {
			return nil // a certificate was revoked, a role taken away
		}
		if s.write(events) != nil || ended {
			return nil // the head is out, and whoever cannot be written to cannot be told
		}
		select {
		case <-more:
		case <-heartbeat.C:
			s.mark()
		case <-h.Journal.Done():
			ended = true // what came last is still written
		case <-r.Context().Done():
			return nil
		}
	}
}

// stream is one stream to one client.
type stream struct {
	to      http.ResponseWriter
	control *http.ResponseController
	boot    string
	pool    string
	// seen is the number of the last event that was looked at.
	seen uint64
	// text is not written yet.
	text bytes.Buffer
}

// resume goes on after the event of an id, if there is one. It reports whether events before the first one of
// this run may be missing: the id is of another run, or none of ours.
func (s *stream) resume(id string) (lost bool) {
	if id == "" {
		return false
	}
	boot, number, _ := strings.Cut(id, ".")
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil || boot != s.boot {
		s.seen = 0
		return true
	}
	s.seen = seq
	return false
}

// write sends events, and what waits already.
func (s *stream) write(events []lb.Event) error {
	for _, e := range events {
		s.seen = e.Seq
		if !concerns(e, s.pool) {
			continue
		}
		s.add(e)
		if s.text.Len() >= streamPiece {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return s.flush()
}

// mark appends a sign of life: a comment, and an id without an event, from which a client that got no event yet,
// or none of its pool for long, can go on.
func (s *stream) mark() { fmt.Fprintf(&s.text, ":\nid: %s.%d\n\n", s.boot, s.seen) }

// add appends an event to the text. JSON has no line ends inside, so one data line is enough.
func (s *stream) add(e lb.Event) {
	fmt.Fprintf(&s.text, "id: %s.%d\nevent: %s\ndata: ", s.boot, e.Seq, e.Kind)
	_ = line(&s.text, event(e)) // values of these types always have a JSON form
	s.text.WriteByte('\n')
}

// bound gives what is written next streamPatience. At the end that is net/http's last chunk: a deadline from before
// would break it, and a TLS connection with it.
func (s *stream) bound() error { return s.control.SetWriteDeadline(time.Now().Add(streamPatience)) }

// flush sends the text within streamPatience.
func (s *stream) flush() error {
	if err := s.bound(); err != nil {
		return err
	}
	if _, err := s.text.WriteTo(s.to); err != nil {
		return err
	}
	return s.control.Flush()
}
