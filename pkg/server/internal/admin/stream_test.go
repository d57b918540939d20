package admin

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// pipes is a listener whose connections are pipes: with them a server and its time fit into a bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// bubble serves a fixture over pipes in a bubble, with the deadlines that the daemon has.
func bubble(t *testing.T, test func(t *testing.T, f *fixture, dial func() net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		srv := &http.Server{
			Handler: f.handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 70 * time.Second,
		}
		done := make(chan error, 1)
		go func() { done <- srv.Serve(l) }()
		defer func() {
			if err := srv.Close(); err != nil {
				t.Error(err)
			}
			<-done
			synctest.Wait()
			if n := len(f.api.streams); n != 0 {
				t.Errorf("%d streams are left", n)
			}
		}()
		test(t, f, func() net.Conn {
			client, server := net.Pipe()
			l.conns <- server
			return client
		})
	})
}

// reader is the client's end of a stream.
type reader struct {
	t *testing.T
	*http.Response
	lines *bufio.Reader
	conn  net.Conn
}

// follow asks for a stream.
func follow(t *testing.T, conn net.Conn, target string, header ...string) *reader {
	t.Helper()
	r := &reader{t: t, conn: conn}
	if _, err := io.WriteString(conn, "GET "+target+" HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"+strings.Join(header, "")+"\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Response, r.lines = res, bufio.NewReader(res.Body)
	return r
}

// expect reads blocks, each the lines between two empty ones without the data.
func (r *reader) expect(want ...string) {
	r.t.Helper()
	for _, w := range want {
		var lines []string
		for {
			line, err := r.lines.ReadString('\n')
			if err != nil {
				r.t.Fatalf("waiting for %q: %v", w, err)
			}
			if line == "\n" {
				break
			}
			if !strings.HasPrefix(line, "data: {") {
				lines = append(lines, strings.TrimSuffix(line, "\n"))
			}
		}
		if got := strings.Join(lines, " "); got != w {
			r.t.Errorf("got %q, want %q", got, w)
		}
	}
}

func (r *reader) expectEnd() {
	r.t.Helper()
	if rest, err := io.ReadAll(r.lines); err != nil || len(rest) > 0 {
		r.t.Errorf("at the end: %q, %v", rest, err)
	}
}

func happened(seq uint64, pool string, kind lb.EventKind) lb.Event {
	return lb.Event{Seq: seq, Time: time.Unix(1_796_000_000, 0), Pool: pool, Kind: kind, Member: "a:1"}
}

func TestStream(t *testing.T) {
	past := []lb.Event{happened(1, "api", "ejected"), happened(2, "file", "ejected"), happened(3, "api", "probation"), happened(4, "", "reload")}
	tests := []struct {
		name, target string
		header       []string
		want         string
	}{
		{"all", "/v1/events", nil, ": id: b7.0|id: b7.1 event: ejected|id: b7.2 event: ejected|id: b7.3 event: probation|id: b7.4 event: reload"},
		{"since", "/v1/events?since=3", nil, ": id: b7.3|id: b7.4 event: reload"},
		{"of a pool", "/v1/events?pool=api", nil, ": id: b7.0|id: b7.1 event: ejected|id: b7.3 event: probation|id: b7.4 event: reload"},
		{"resumed", "/v1/events", []string{"Last-Event-ID: b7.2\r\n"}, ": id: b7.2|id: b7.3 event: probation|id: b7.4 event: reload"},
		{"resumed, and since of before", "/v1/events?since=1", []string{"Last-Event-ID: b7.3\r\n"}, ": id: b7.3|id: b7.4 event: reload"},
		{"resumed in another run", "/v1/events?pool=api&since=9", []string{"Last-Event-ID: a1.3\r\n"},
			": id: b7.0|id: b7.0 event: gap|id: b7.1 event: ejected|id: b7.3 event: probation|id: b7.4 event: reload"},
		{"resumed from nonsense", "/v1/events?since=9", []string{"Last-Event-ID: b7.x\r\n"},
			": id: b7.0|id: b7.0 event: gap|id: b7.1 event: ejected|id: b7.2 event: ejected|id: b7.3 event: probation|id: b7.4 event: reload"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fixture, dial func() net.Conn) {
				f.journal.add(past...)
				r := follow(t, dial(), tt.target, tt.header...)
				r.expect(strings.Split(tt.want, "|")...)
				f.journal.add(happened(9, "file", "recovered"), happened(10, "api", "recovered"))
				if !strings.Contains(tt.target, "pool=") {
					r.expect("id: b7.9 event: recovered")
				}
				r.expect("id: b7.10 event: recovered")
				close(f.journal.done)
				r.expectEnd()
			})
		})
	}
}

func TestStreamData(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture, dial func() net.Conn) {
		e := happened(1, "api", "ejected")
		e.Until, e.Actor = e.Time.Add(10*time.Second), "health"
		e.Evidence = []lb.Evidence{{Time: e.Time, Cause: lb.Reset, Detail: "read: line\nend"}}
		f.journal.add(e)
		close(f.journal.done)
		r := follow(t, dial(), "/v1/events")
		got, err := io.ReadAll(r.lines)
		if err != nil {
			t.Fatal(err)
		}
		const want = ":\nid: b7.0\n\nid: b7.1\nevent: ejected\n" +
			`data: {"seq":1,"time":"2026-11-30T00:53:20Z","pool":"api","kind":"ejected","member":"a:1","until":"2026-11-30T00:53:30Z",` +
			`"actor":"health","evidence":[{"time":"2026-11-30T00:53:20Z","cause":"reset","detail":"read: line\nend"}]}` + "\n\n"
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
		if got := r.Header.Get("Content-Type"); got != "text/event-stream" {
			t.Errorf("Content-Type %s", got)
		}
	})
}

// Neither the time that the server allows a request nor silence ends a stream.
func TestStreamLives(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture, dial func() net.Conn) {
		r := follow(t, dial(), "/v1/events?pool=api")
		begun := time.Now()
		r.expect(": id: b7.0")
		f.journal.add(happened(6, "file", "ejected")) // not of the pool, but a client need not see it again
		for range 40 {
			r.expect(": id: b7.6")
		}
		if got, want := time.Since(begun), 40*api.HeartbeatSeconds*time.Second; got != want {
			t.Errorf("40 heartbeats took %v, want %v", got, want)
		}
		f.journal.add(happened(7, "api", "ejected"))
		r.expect("id: b7.7 event: ejected")
	})
}

// Who takes nothing is cut off, and what happened last before the daemon ends still comes to the others.
func TestStreamCutsOffSlowReaders(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture, dial func() net.Conn) {
		slow, quick := follow(t, dial(), "/v1/events"), follow(t, dial(), "/v1/events")
		slow.expect(": id: b7.0")
		quick.expect(": id: b7.0")
		f.journal.add(happened(1, "api", "ejected"))
		quick.expect("id: b7.1 event: ejected")
		if n := len(f.api.streams); n != 2 {
			t.Errorf("%d streams, want 2", n)
		}
		<-time.After(streamPatience + time.Second)
		if n := len(f.api.streams); n != 1 {
			t.Errorf("%d streams after the patience, want the quick one", n)
		}
		if _, err := slow.conn.Read(make([]byte, 1)); err == nil {
			t.Error("the slow reader's connection lives")
		}
		f.journal.mu.Lock()
		f.journal.events = append(f.journal.events, happened(2, "api", "recovered")) // nobody is woken for it
		f.journal.mu.Unlock()
		close(f.journal.done)
		quick.expect("id: b7.2 event: recovered")
		quick.expectEnd()
	})
}

func TestStreamEndsWithItsClient(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture, dial func() net.Conn) {
		r := follow(t, dial(), "/v1/events")
		r.expect(": id: b7.0")
		if err := r.conn.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := len(f.api.streams); n != 0 {
			t.Errorf("%d streams", n)
		}
	})
}

func TestStreamsAreLimited(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture, dial func() net.Conn) {
		var all []*reader
		for range api.MaxStreams {
			all = append(all, follow(t, dial(), "/v1/events"))
		}
		conn := dial()
		refused := follow(t, conn, "/v1/events")
		f.expectProblem(t, refused.Response, 503, api.CodeTooManyStreams, fmt.Sprintf("there are %d event streams already: close one, or read lists", api.MaxStreams))
		if refused.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		if err := all[7].conn.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if again := follow(t, dial(), "/v1/events"); again.StatusCode != http.StatusOK {
			t.Errorf("after one has ended: %s", again.Status)
		}
	})
}

// A HEAD of a stream ends with its head.
func TestStreamHead(t *testing.T) {
	bubble(t, func(t *testing.T, _ *fixture, dial func() net.Conn) {
		conn := dial()
		if _, err := io.WriteString(conn, "HEAD /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: "HEAD"})
		if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%v, %+v", err, res)
		}
	})
}

func TestWantsStream(t *testing.T) {
	for accept, want := range map[string]bool{
		"":                                     false,
		"application/json":                     false,
		"*/*":                                  false,
		"text/event-stream":                    true,
		"Text/Event-Stream; charset=utf-8":     true,
		"application/json, text/event-stream":  true,
		"text/event-stream;q=0.1":              true,
		"text/event-stream;q=0.0":              false,
		"text/event-stream;q=0, text/html":     false,
		"text/event-stream-of-something, junk": false,
	} {
		r, err := http.NewRequest("GET", "/v1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		if accept != "" {
			r.Header.Set("Accept", accept)
		}
		if got := wantsStream(r); got != want {
			t.Errorf("Accept: %s: %v, want %v", accept, got, want)
		}
	}
}
