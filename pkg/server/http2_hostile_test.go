package server_test

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/scalws/scalws/internal/servertest"
)

// K01: a drain that comes in the middle of a connection's beginning. The client is told to go, the request that it had
// begun is answered, and the daemon ends.
func TestK01DrainInThePreface(t *testing.T) {
	for _, row := range []struct {
		name string
		sent int // bytes of the preface before the drain
	}{{"before it", 0}, {"in it", 10}, {"behind it", len(http2.ClientPreface)}} {
		t.Run(row.name, func(t *testing.T) {
			m := named(t, "a")
			m[0].Script(servertest.Hold(servertest.Answer{Body: "held"}))
			d, _ := h2(t, servertest.Setup{Members: addresses(m)})
			held := servertest.Dial(t, d.Address) // lets a wait for the drain to have begun be one for its effect
			held.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			m[0].WaitBodies(1)
			nc, err := net.Dial("tcp", d.Address)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(nc, http2.ClientPreface[:row.sent])
			d.Drain()
			waitListenerClosed(d)
			f := servertest.NewFrames(t, &skipping{Conn: nc, skip: row.sent})
			f.Get(1, "/")
			e := f.Wait(0)
			f.Conn.Close()
			if e.GoAway == nil || *e.GoAway != http2.ErrCodeNo {
				t.Errorf("the connection ended with %+v", e)
			}
			m[0].Release()
			if a := held.Final("GET"); a.Body != "held" {
				t.Errorf("the held one got %s", a.Head)
			}
			held.Close()
			if err := d.Stop(); err != nil {
				t.Errorf("drain: %v", err)
			}
		})
	}
}

// skipping leaves out the first bytes of what is written.
type skipping struct {
	net.Conn
	skip int
}

func (s *skipping) Write(p []byte) (int, error) {
	n := min(s.skip, len(p))
	s.skip -= n
	m, err := s.Conn.Write(p[n:])
	return n + m, err
}

// E01 over HTTP/2: a member that answers before it has seen anything of the body. The answer and the body's carrier
// begin at the same moment.
func TestE01AnswersAtOnceOverHTTP2(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Early(0, servertest.Answer{Status: 401, Body: "no", Close: true}))
	d, _ := h2(t, servertest.Setup{Members: addresses(m)})
	f := servertest.DialFrames(t, d.Address, nil)
	for i := range uint32(100) {
		id := 2*i + 1
		f.Head(id, false, ":method", "POST", ":scheme", "http", ":authority", "h", ":path", "/", "content-length", "10")
		e := f.Wait(id)
		if e.Status != 401 || e.Body != "no" {
			t.Fatalf("stream %d: %+v", id, e)
		}
	}
}

// T03: an upload that its member does not read does not hold up the others on the connection.
func TestT03StuckUpload(t *testing.T) {
	m := named(t, "a")
	m[0].Script(servertest.Do(func(x *servertest.Exchange) {
		x.WaitRelease()
		x.Close()
	}))
	m[0].Default(servertest.Digest())
	_, c := h2(t, servertest.Setup{Members: addresses(m), Server: []string{"max_body: 0"}})
	var sent atomic.Int64
	stuck := make(chan error)
	go func() {
		a, err := c.Post("http://h/stuck", "", io.TeeReader(io.LimitReader(zeros{}, 64<<20), counting{&sent}))
		if err == nil {
			a.Body.Close()
		}
		stuck <- err
	}()
	m[0].WaitRequests(1)
	// It is stuck when the client can send no more of it for a while.
	for last, same := int64(0), 0; same < 20; {
		<-time.After(5 * time.Millisecond)
		if now := sent.Load(); now != last {
			last, same = now, 0
		} else {
			same++
		}
	}
	for range 3 {
		if _, got := ask(t, c, newRequest(t, "POST", "http://h/", io.LimitReader(zeros{}, 2<<20))); !strings.HasSuffix(got, " 2097152\n") {
			t.Errorf("got %q", got)
		}
	}
	m[0].Release()
	<-stuck
}

// counting counts what is written to it.
type counting struct{ n *atomic.Int64 }

func (c counting) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// A client that opens no window for its answers holds the members' connections for idle_timeout and no longer, and
// nobody else is held up by it.
func TestFrozenClientOverHTTP2(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Stream(8 << 20))
	d, c := h2(t, servertest.Setup{Members: addresses(m), Server: []string{"idle_timeout: 200ms"}})
	frozen := servertest.DialFrames(t, d.Address, nil, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	const streams = 20
	for i := range uint32(streams) {
		frozen.Get(2*i+1, "/frozen")
	}
	m[0].WaitRequests(streams)
	if _, body := ask(t, c, newRequest(t, "GET", "http://h/", nil)); len(body) != 8<<20 {
		t.Errorf("somebody else got %d bytes", len(body))
	}
	if e := frozen.Wait(1); e.Status != 200 || e.Reset == nil {
		t.Errorf("the frozen client got %+v", e)
	}
	d.Until("the members to be let go", func() bool { return show(t, d).Members[0].InFlight == 0 })
	for _, line := range d.Lines(streams + 1) {
		if want := 499.0; line["path"] == "/frozen" && line["status"] != want {
			t.Errorf("log line %v", line)
		}
	}
	if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 {
		t.Errorf("member %+v", s)
	}
}

// P01: uploads that are broken off, by a reset of the stream or of the connection, are nobody's failure.
func TestP01UploadsBrokenOffOverHTTP2(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Digest())
	d, _ := h2(t, servertest.Setup{Members: addresses(m)})
	const uploads = 40
	for i := range uploads {
		f := servertest.DialFrames(t, d.Address, nil)
		length := []string{"100", "100000"}[i/2%2] // one that is kept, one that is streamed
		f.Head(1, false, ":method", "PUT", ":scheme", "http", ":authority", "h", ":path", "/", "content-length", length)
		f.WriteData(1, false, []byte("hello"))
		m[0].WaitRequests(i + 1)
		if i%2 == 0 {
			f.WriteRSTStream(1, http2.ErrCodeCancel)
		} else {
			f.Conn.(*net.TCPConn).SetLinger(0)
			f.Conn.Close()
		}
	}
	for _, line := range d.Lines(uploads) {
		if line["status"] != 499.0 || line["upstream_attempts"] != 1.0 {
			t.Errorf("log line %v", line)
		}
	}
	if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 || s.InFlight != 0 {
		t.Errorf("member %+v", s)
	}
}

// A flood of streams that are reset as soon as they are opened costs the connection that sends it, and leaves nothing
// behind.
func TestResetFlood(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Hold(servertest.Answer{}))
	d, c := h2(t, servertest.Setup{Members: addresses(m)})
	f := servertest.DialFrames(t, d.Address, nil)
	read := make(chan struct{})
	go func() { defer close(read); io.Copy(io.Discard, f.Conn) }()
	block := f.Block(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/")
	for i := range uint32(3000) {
		id := 2*i + 1
		err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndStream: true, EndHeaders: true})
		if err != nil || f.WriteRSTStream(id, http2.ErrCodeCancel) != nil {
			break // the daemon has had enough
		}
	}
	f.Conn.Close()
	<-read
	d.Until("the members to be let go", func() bool { return show(t, d).Members[0].InFlight == 0 })
	if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 || s.State != "up" {
		t.Errorf("member %+v", s)
	}
	m[0].Default(servertest.Answer{Body: "a"})
	if _, body := ask(t, c, newRequest(t, "GET", "http://h/", nil)); body != "a" {
		t.Errorf("somebody else got %q", body)
	}
}

// F13: trailers of a request that would mean something to the framing, or to whoever reads the head, do not reach the
// member as trailers; their stream may be reset.
func TestF13RequestTrailersOverHTTP2(t *testing.T) {
	for _, row := range []struct {
		name, value string
		passed      bool
	}{
		{"x-sum", "1", true},
		{"content-length", "9", false},
		{"transfer-encoding", "chunked", false},
		{"host", "evil", false},
		{"te", "trailers", false},
		{"connection", "close", false},
		{"authorization", "x", false},
		{"trailer", "x", false},
		{"x-sum", "1\r\n\r\nGET / HTTP/1.1", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := named(t, "a")
			d, _ := h2(t, servertest.Setup{Members: addresses(m)})
			f := servertest.DialFrames(t, d.Address, nil)
			f.Head(1, false, ":method", "POST", ":scheme", "http", ":authority", "h", ":path", "/", "trailer", row.name)
			f.Try(f.WriteData(1, false, []byte("body")))
			f.Head(1, true, row.name, row.value)
			e := f.Wait(1)
			if row.passed && e.Status != 200 {
				t.Errorf("answered %+v", e)
			}
			passed := false
			for _, r := range m[0].Requests() {
				passed = passed || len(r.Trailer.Values(row.name)) > 0
			}
			if passed != row.passed || len(m[0].Requests()) > 1 {
				t.Errorf("passed on: %v, requests: %v", passed, m[0].Requests())
			}
		})
	}
}

// Answers without a body over HTTP/2, and what a member may send with them all the same.
func TestBodilessAnswersOverHTTP2(t *testing.T) {
	for _, row := range []struct {
		name, method string
		answer       servertest.Step
		status       int
		length       string
	}{
		{"HEAD with a length", "HEAD", servertest.Answer{Body: "12345"}, 200, "content-length: 5"},
		{"HEAD of chunks", "HEAD", servertest.Answer{Chunks: []string{"12345"}}, 200, ""},
		{"204", "GET", servertest.Answer{Status: 204}, 204, ""},
		{"204 with a length", "GET", servertest.Answer{Status: 204, Header: []string{"Content-Length: 5"}, Behind: "12345"}, 204, ""},
		{"204 of chunks", "GET", servertest.Answer{Status: 204, Header: []string{"Transfer-Encoding: chunked"}, Behind: "0\r\n\r\n"}, 204, ""},
		{"304 with a length", "GET", servertest.Answer{Status: 304, Header: []string{"Content-Length: 5"}}, 304, "content-length: 5"},
		{"304 of chunks", "GET", servertest.Answer{Status: 304, Header: []string{"Transfer-Encoding: chunked"}}, 304, ""},
		{"a second answer behind", "GET", servertest.Answer{Behind: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"}, 200, "content-length: 0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := named(t, "a")
			m[0].Script(row.answer)
			d, _ := h2(t, servertest.Setup{Members: addresses(m), Pool: []string{"keepalive: 1"}})
			f := servertest.DialFrames(t, d.Address, nil)
			f.Head(1, true, ":method", row.method, ":scheme", "http", ":authority", "h", ":path", "/")
			e := f.Wait(1)
			length := ""
			for _, field := range e.Fields {
				if strings.HasPrefix(field, "content-length") {
					length = field
				}
			}
			if e.Status != row.status || e.Body != "" || e.Reset != nil || length != row.length {
				t.Errorf("answered %+v", e)
			}
			f.Get(3, "/")
			if e := f.Wait(3); e.Body != "a" {
				t.Errorf("the next one got %+v", e)
			}
		})
	}
}
