package servertest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
)

// keptBody is how much of a body the log keeps.
const keptBody = 1 << 20

// Request is what a member has received of one request so far.
type Request struct {
	// Connection counts the member's connections from 1: two requests with the same number came over
	// one connection.
	Connection int
	// Head is the request line and the fields as they came, with the empty line.
	Head string
	// Method, Target, Proto, Host and Header as net/http reads them from Head.
	Method, Target, Proto, Host string
	Header                      http.Header
	// Body is its first MiB, Length and SHA256 (in hex) are of all of it.
	Body   []byte
	Length int64
	SHA256 string
	// Trailer are the fields after a chunked body; nil until they came.
	Trailer http.Header
	// Complete says that the body ended as its framing promised.
	Complete bool
	// Err is why the head could not be read or the body did not end properly.
	Err error
	// Left says that the peer closed or reset its side while the answer was held.
	Left bool
}

// Fields are the values of a field in Head, in order, with the hop-by-hop ones.
func (r Request) Fields(name string) []string { return fieldValues(r.Head, name) }

// String is one line for a log.
func (r Request) String() string {
	line, _, _ := strings.Cut(r.Head, "\r\n")
	text := fmt.Sprintf("connection %d: %q, %d body bytes", r.Connection, line, r.Length)
	switch {
	case r.Err != nil:
		text += ", broken: " + r.Err.Error()
	case !r.Complete:
		text += ", incomplete"
	}
	if r.Left {
		text += ", left"
	}
	return text
}

// record is a log entry that still grows. Guarded by the member's mu.
type record struct {
	Request
	sum hash.Hash
}

// snapshot is the entry as it is now. Body bytes are only ever appended, so they can be shared.
func (r *record) snapshot() Request {
	s := r.Request
	s.Header = s.Header.Clone()
	s.Trailer = maps.Clone(s.Trailer)
	s.SHA256 = hex.EncodeToString(r.sum.Sum(nil))
	return s
}

// add notes body bytes.
func (r *record) add(data []byte) {
	r.Length += int64(len(data))
	r.sum.Write(data)
	r.Body = append(r.Body, data[:min(len(data), keptBody-len(r.Body))]...)
}

// receive reads the next head into the log and takes the step for it. It is nil when there is none
// that net/http understands.
func (m *Member) receive(c *link) *Exchange {
	head, err := peekHead(c.in)
	var request *http.Request
	if err == nil {
		request, err = http.ReadRequest(c.in)
	}
	entry := &record{Request: Request{Connection: c.number, Head: head, Err: err}, sum: sha256.New()}
	if err == nil {
		entry.Method, entry.Target, entry.Proto = request.Method, request.RequestURI, request.Proto
		entry.Host, entry.Header = request.Host, request.Header.Clone()
		entry.Complete = request.Body == http.NoBody
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = append(m.log, entry)
	m.announce()
	if err != nil {
		return nil
	}
	// Logged, and under the gate, in one go: who has seen the request in the log can release it.
	return &Exchange{member: m, link: c, step: m.take(atHead), gate: m.gate, request: request, entry: entry}
}

// readBody reads at most limit bytes of the body into the log; all of it if limit is negative.
func (x *Exchange) readBody(limit int64) error {
	buffer := make([]byte, 32<<10)
	for limit != 0 && !x.complete() {
		chunk := buffer
		if limit > 0 {
			chunk = buffer[:min(limit, int64(len(buffer)))]
		}
		n, err := x.request.Body.Read(chunk)
		limit -= int64(n)
		x.member.update(func() {
			x.entry.add(chunk[:n])
			switch {
			case errors.Is(err, io.EOF):
				x.entry.Complete, x.entry.Trailer = true, x.request.Trailer
			case err != nil:
				x.entry.Err = err
			}
		})
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading a request body: %w", err)
		}
	}
	return nil
}

// complete says that the body has been read to its end.
func (x *Exchange) complete() bool {
	x.member.mu.Lock()
	defer x.member.mu.Unlock()
	return x.entry.Complete
}

// Requests are all requests so far, in the order in which their heads arrived.
func (m *Member) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.snapshot()
}

// Wait waits until ok is true of the log, and returns that log. What names it in the failure.
func (m *Member) Wait(what string, ok func([]Request) bool) []Request {
	m.t.Helper()
	var log []Request
	m.wait(what, func() bool {
		log = m.Requests()
		return ok(log)
	})
	return log
}

// WaitRequests waits until at least n heads have arrived.
func (m *Member) WaitRequests(n int) []Request {
	m.t.Helper()
	m.waitCount(n, "requests", func() int { return len(m.log) })
	return m.Requests()
}

// WaitBodies waits until at least n requests have been read to the end of their bodies.
func (m *Member) WaitBodies(n int) []Request {
	m.t.Helper()
	m.waitCount(n, "complete requests", func() int {
		complete := 0
		for _, r := range m.log {
			if r.Complete {
				complete++
			}
		}
		return complete
	})
	return m.Requests()
}

// Connections are all that were accepted so far.
func (m *Member) Connections() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.accepted
}

// WaitConnections waits until at least n connections were accepted.
func (m *Member) WaitConnections(n int) {
	m.t.Helper()
	m.waitCount(n, "connections", func() int { return m.accepted })
}

// WaitOpen waits until exactly n connections are open.
func (m *Member) WaitOpen(n int) {
	m.t.Helper()
	m.wait(fmt.Sprintf("exactly %d open connections", n), func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.open) == n
	})
}

// waitCount waits until there are n of what count counts with mu held.
func (m *Member) waitCount(n int, what string, count func() int) {
	m.t.Helper()
	m.wait(fmt.Sprintf("%d %s", n, what), func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return count() >= n
	})
}

// wait asks ok again after every change until it is true.
func (m *Member) wait(what string, ok func() bool) {
	m.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		m.mu.Lock()
		changed := m.changed // taken before the question: a change after it is not missed
		m.mu.Unlock()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			m.t.Fatalf("member %s: waited in vain for %s\n%s", m.Address(), what, m.describe())
		}
	}
}

// describe is the log as text.
func (m *Member) describe() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := fmt.Sprintf("%d connections accepted, %d open, %d requests", m.accepted, len(m.open), len(m.log))
	for _, r := range m.snapshot() {
		text += "\n" + r.String()
	}
	return text
}

// snapshot copies the log. The caller holds mu.
func (m *Member) snapshot() []Request {
	log := make([]Request, len(m.log))
	for i, r := range m.log {
		log[i] = r.snapshot()
	}
	return log
}

// update changes what can be waited for.
func (m *Member) update(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	m.announce()
}

// announce wakes those who wait. The caller holds mu.
func (m *Member) announce() {
	close(m.changed)
	m.changed = make(chan struct{})
}
