package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/scalws/scalws/pkg/api"
)

// maxEvent is the longest line of a stream that is read, in bytes: many times the longest event.
const maxEvent = 1 << 20

// malformedStream is a stream that is none of the admin API. Reading it again would not make it one.
type malformedStream struct{ err error }

func (e *malformedStream) Error() string { return "reading events: " + e.err.Error() }

// Unwrap is the reason.
func (e *malformedStream) Unwrap() error { return e.err }

// eventReader reads server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
type eventReader struct {
	lines *bufio.Scanner
	// alive is called for each line.
	alive func()
	// id is that of the block which is read, last that of the last whole one: the one to resume behind.
	id, last string
}

func newEventReader(r io.Reader, alive func()) *eventReader {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxEvent)
	return &eventReader{lines: lines, alive: alive}
}

// next is the next event; io.EOF at the end of the stream. An event that the end cuts off is none.
func (r *eventReader) next() (event api.Event, err error) {
	var data []byte
	for r.lines.Scan() {
		r.alive()
		line := r.lines.Bytes()
		if len(line) == 0 {
			r.last = r.id
			if data == nil {
				continue
			}
			if err := json.Unmarshal(data, &event); err != nil {
				return api.Event{}, &malformedStream{fmt.Errorf("decoding event: %w", err)}
			}
			return event, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) { // the kind is in the data too, and a comment has no name
		case "id":
			r.id = string(value)
		case "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
		}
	}
	switch err := r.lines.Err(); {
	case err == nil:
		return api.Event{}, io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		return api.Event{}, &malformedStream{fmt.Errorf("a line of more than %d bytes", maxEvent)}
	default:
		return api.Event{}, fmt.Errorf("reading events: %w", err)
	}
}
