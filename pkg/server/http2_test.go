package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"

	"github.com/scalws/scalws/internal/servertest"
)

// h2 is a daemon that also speaks HTTP/2 without TLS, and a client of it.
func h2(t *testing.T, s servertest.Setup) (*servertest.Daemon, *http.Client) {
	t.Helper()
	s.Listener = "h2c: true"
	d := servertest.Start(t, s)
	return d, servertest.HTTP2(t, d.Address, nil)
}

// ask sends a request and reads the whole answer.
func ask(t *testing.T, c *http.Client, r *http.Request) (*http.Response, string) {
	t.Helper()
	a, err := c.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatalf("%s %s: reading the answer: %v", r.Method, r.URL, err)
	}
	return a, string(body)
}

func newRequest(t *testing.T, method, url string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestHTTP2Request(t *testing.T) {
	m := named(t, "a")
	d, c := h2(t, servertest.Setup{Members: addresses(m)})
	r := newRequest(t, "GET", "http://example.com/a%2Fb//;x?a=1;b=2&%zz", nil)
	r.URL.RawQuery = "a=1;b=2&%zz"
	r.Header["Cookie"] = []string{"a=1", "b=2"}
	r.Header["X-Two"] = []string{"1", "2"}
	r.Header.Set("User-Agent", "ua")
	r.Header.Set("X-Request-Id", "id-1")
	a, body := ask(t, c, r)
	if a.Proto != "HTTP/2.0" || a.StatusCode != 200 || body != "a" {
		t.Fatalf("%s %d %q", a.Proto, a.StatusCode, body)
	}
	head := m[0].Requests()[0].Head
	want := "GET /a%2Fb//;x?a=1;b=2&%zz HTTP/1.1\r\nHost: example.com\r\nAccept-Encoding: identity\r\n" +
		"Cookie: a=1; b=2\r\nUser-Agent: ua\r\nX-Two: 1\r\nX-Two: 2\r\n" +
		"X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: example.com\r\n" +
		"Via: 2.0 scalws\r\nX-Request-Id: id-1\r\n\r\n"
	want = strings.Replace(want, "Accept-Encoding: identity\r\n", "", 1)
	if d := cmp.Diff(want, head); d != "" {
		t.Errorf("at the member (-want +got):\n%s", d)
	}
	line := d.Lines(1)[0]
	if line["protocol"] != "HTTP/2.0" || line["status"] != 200.0 || line["host"] != "example.com" || line["upstream_attempts"] != 1.0 {
		t.Errorf("log line %v", line)
	}
}

func TestHTTP2Bodies(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Digest())
	_, c := h2(t, servertest.Setup{Members: addresses(m)})
	for _, size := range []int{0, 1, 64 << 10, 64<<10 + 1, 3 << 20} {
		body := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		sum := sha256.Sum256(body)
		want := fmt.Sprintf("%s %d\n", hex.EncodeToString(sum[:]), size)
		t.Run(fmt.Sprintf("length %d", size), func(t *testing.T) {
			r := newRequest(t, "POST", "http://h/", bytes.NewReader(body))
			if _, got := ask(t, c, r); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
		t.Run(fmt.Sprintf("no length %d", size), func(t *testing.T) {
			r := newRequest(t, "POST", "http://h/", io.MultiReader(bytes.NewReader(body)))
			r.Trailer = http.Header{"X-Sum": nil}
			r.Body = &trailing{Reader: r.Body, at: func() { r.Trailer.Set("X-Sum", "s") }}
			if _, got := ask(t, c, r); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			all := m[0].Requests()
			if last := all[len(all)-1]; last.Trailer.Get("X-Sum") != "s" {
				t.Errorf("trailer %v", last.Trailer)
			}
		})
	}
}

// trailing is a body that calls at when it has ended.
type trailing struct {
	io.Reader
	at func()
}

func (t *trailing) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if err == io.EOF {
		t.at()
	}
	return n, err
}

func (t *trailing) Close() error { return nil }

// H05, F15: nothing of the connection and nothing invented reaches a client of HTTP/2.
func TestH05AnswerHead(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Answer{Status: 200, Body: "<html>", Header: []string{
		"Connection: keep-alive, X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", "Proxy-Connection: keep-alive", "Upgrade: h2c",
		"Date: Mon, 02 Jan 2006 15:04:05 GMT", "Set-Cookie: a=1", "Set-Cookie: b=2", "X-Keep: yes"}})
	_, c := h2(t, servertest.Setup{Members: addresses(m)})
	a, body := ask(t, c, newRequest(t, "GET", "http://h/", nil))
	want := http.Header{
		"Content-Length": {"6"}, "Date": {"Mon, 02 Jan 2006 15:04:05 GMT"}, "Set-Cookie": {"a=1", "b=2"}, "X-Keep": {"yes"},
	}
	if d := cmp.Diff(want, a.Header); d != "" || body != "<html>" {
		t.Errorf("%q (-want +got):\n%s", body, d)
	}
}

func TestF13TrailersReachHTTP2(t *testing.T) {
	for name, answer := range map[string]servertest.Answer{
		"announced":   {Chunks: []string{"body"}, Header: []string{"Trailer: X-Sum"}, Trailer: []string{"X-Sum: 1"}},
		"unannounced": {Chunks: []string{"body"}, Trailer: []string{"X-Sum: 1"}},
		"empty body":  {Chunks: []string{}, Trailer: []string{"X-Sum: 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := named(t, "a")
			m[0].Default(answer)
			_, c := h2(t, servertest.Setup{Members: addresses(m)})
			a, body := ask(t, c, newRequest(t, "GET", "http://h/", nil))
			if body != strings.Join(answer.Chunks, "") || a.Trailer.Get("X-Sum") != "1" {
				t.Errorf("body %q, trailer %v", body, a.Trailer)
			}
		})
	}
}

// F09: a body that the member breaks off is a stream that is reset.
func TestF09BrokenBodyResetsTheStream(t *testing.T) {
	for name, step := range map[string]servertest.Step{
		"length":  servertest.CutBody(5, servertest.Answer{Body: strings.Repeat("x", 100)}),
		"chunked": servertest.CutBody(5, servertest.Answer{Chunks: []string{strings.Repeat("x", 100)}}),
	} {
		t.Run(name, func(t *testing.T) {
			m := named(t, "a")
			m[0].Default(step)
			d, c := h2(t, servertest.Setup{Members: addresses(m)})
			a, err := c.Do(newRequest(t, "GET", "http://h/", nil))
			if err != nil {
				t.Fatal(err)
			}
			defer a.Body.Close()
			body, err := io.ReadAll(a.Body)
			var reset http2.StreamError
			if !errors.As(err, &reset) || string(body) != "xxxxx" {
				t.Errorf("body %q, error %v", body, err)
			}
			d.Until("the failure is counted", func() bool { return show(t, d).Members[0].ConsecutiveFailures == 1 })
		})
	}
}

// E03: interim answers over HTTP/2.
func TestE03InterimOverHTTP2(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Answer{Body: "final", Header: []string{"X-Final: 1"}, Interim: []servertest.Answer{
		{Status: 103, Header: []string{"Link: </a.css>", "Connection: X-Hop", "X-Hop: 1"}}, {Status: 102}}})
	_, c := h2(t, servertest.Setup{Members: addresses(m)})
	var interim []string
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		interim = append(interim, fmt.Sprint(code, h))
		return nil
	}}
	r := newRequest(t, "GET", "http://h/", nil)
	a, body := ask(t, c, r.WithContext(httptrace.WithClientTrace(context.Background(), trace)))
	if a.StatusCode != 200 || body != "final" || a.Header.Get("Link") != "" || a.Header.Get("X-Final") != "1" {
		t.Errorf("%d %q %v", a.StatusCode, body, a.Header)
	}
	if d := cmp.Diff([]string{"103 map[Link:[</a.css>]]", "102 map[]"}, interim); d != "" {
		t.Errorf("interim (-want +got):\n%s", d)
	}
}

// R01: a body that was still arriving when the first member failed reaches the second one whole.
func TestR01ReplayOverHTTP2(t *testing.T) {
	m := named(t, "a", "b")
	m[0].Default(servertest.Early(10000, servertest.Status(503)))
	m[1].Default(servertest.Digest())
	d, c := h2(t, servertest.Setup{Members: addresses(m)})
	body := bytes.Repeat([]byte("x"), 60000)
	more := make(chan struct{})
	in, out := io.Pipe()
	go func() {
		out.Write(body[:20000])
		<-more
		out.Write(body[20000:])
		out.Close()
	}()
	r := newRequest(t, "PUT", "http://h/", in)
	r.ContentLength = int64(len(body))
	done := make(chan string)
	go func() {
		a, got := ask(t, c, r)
		done <- fmt.Sprint(a.StatusCode, " ", got)
	}()
	m[1].WaitRequests(1)
	close(more)
	sum := sha256.Sum256(body)
	if got, want := <-done, fmt.Sprintf("200 %s 60000\n", hex.EncodeToString(sum[:])); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := d.Lines(1)[0]["upstream_attempts"]; n != 2.0 {
		t.Errorf("%v attempts", n)
	}
}

// P01: clients that reset their streams are nobody's failure, and the member's work is cut off.
func TestP01ResetStreams(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Hold(servertest.Answer{}))
	d, c := h2(t, servertest.Setup{Members: addresses(m)})
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 20 {
		r := newRequest(t, "GET", "http://h/", nil).WithContext(ctx)
		all.Go(func() {
			if a, err := c.Do(r); err == nil {
				a.Body.Close()
				t.Error("answered")
			}
		})
	}
	m[0].WaitBodies(20)
	cancel()
	all.Wait()
	for _, line := range d.Lines(20) {
		if line["status"] != 499.0 {
			t.Errorf("log line %v", line)
		}
	}
	m[0].Wait("the requests to be cut off", func(all []servertest.Request) bool {
		return !slices.ContainsFunc(all, func(r servertest.Request) bool { return !r.Left })
	})
	if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 || s.InFlight != 0 || s.State != "up" {
		t.Errorf("member %+v", s)
	}
}

// T01: an early answer to a big upload arrives, and other streams go on.
func TestT01EarlyAnswerToAnUpload(t *testing.T) {
	m := named(t, "a")
	m[0].Script(servertest.Hold(servertest.Answer{Body: "other"}), servertest.Early(1000, servertest.Answer{Status: 413, Body: "too much"}))
	_, c := h2(t, servertest.Setup{Members: addresses(m), Server: []string{"max_body: 0"}})
	other := make(chan string)
	go func() {
		_, body := ask(t, c, newRequest(t, "GET", "http://h/", nil))
		other <- body
	}()
	m[0].WaitBodies(1)
	r := newRequest(t, "POST", "http://h/", io.LimitReader(zeros{}, 50<<20))
	a, body := ask(t, c, r)
	if a.StatusCode != 413 || body != "too much" {
		t.Errorf("%d %q", a.StatusCode, body)
	}
	m[0].Release()
	if got := <-other; got != "other" {
		t.Errorf("the other stream got %q", got)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// T03: bodies of many streams whose member is slow to take them all arrive.
func TestT03ParallelUploads(t *testing.T) {
	m := named(t, "a")
	const size = 1 << 20
	m[0].Default(servertest.Hold(servertest.Digest()))
	_, c := h2(t, servertest.Setup{Members: addresses(m)})
	sum := sha256.Sum256(make([]byte, size))
	want := fmt.Sprintf("%s %d\n", hex.EncodeToString(sum[:]), size)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, got := ask(t, c, newRequest(t, "POST", "http://h/", io.LimitReader(zeros{}, size))); got != want {
				t.Errorf("got %q", got)
			}
		})
	}
	m[0].WaitBodies(50)
	m[0].Release()
	all.Wait()
}

// S01, S03: what has come of a body is passed on before the rest.
func TestS03StreamsOverHTTP2(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.HoldBody(6, servertest.Answer{Body: "event\nlater"}))
	_, c := h2(t, servertest.Setup{Members: addresses(m), Server: []string{"max_body: 0"}})
	in, out := io.Pipe()
	r := newRequest(t, "POST", "http://h/", in)
	answered := make(chan *http.Response)
	go func() {
		a, err := c.Do(r)
		if err != nil {
			t.Error(err)
		}
		answered <- a
	}()
	const part = 5 << 20
	go func() {
		io.CopyN(out, zeros{}, part)
	}()
	m[0].WaitRequests(1)
	m[0].Wait("the first part of the upload", func(all []servertest.Request) bool { return all[0].Length == part })
	out.Close()
	a := <-answered
	if a == nil {
		t.FailNow()
	}
	defer a.Body.Close()
	first := make([]byte, 6)
	if _, err := io.ReadFull(a.Body, first); err != nil || string(first) != "event\n" {
		t.Fatalf("first piece %q, %v", first, err)
	}
	m[0].Release()
	if rest, err := io.ReadAll(a.Body); err != nil || string(rest) != "later" {
		t.Errorf("rest %q, %v", rest, err)
	}
}

// The client's faults, over HTTP/2.
func TestHTTP2ClientFaults(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Digest())
	d, c := h2(t, servertest.Setup{Members: addresses(m), Server: []string{"max_body: 1KiB", "body_read_timeout: 50ms", "max_uri: 100B", "max_headers: 20"}})
	never, _ := io.Pipe()
	long := newRequest(t, "GET", "http://h/"+strings.Repeat("x", 100), nil)
	fields := newRequest(t, "GET", "http://h/", nil)
	for i := range 30 {
		fields.Header.Set(fmt.Sprint("X-", i), "1")
	}
	for _, row := range []struct {
		name    string
		request *http.Request
		status  int
	}{
		{"length over max_body", newRequest(t, "POST", "http://h/", strings.NewReader(strings.Repeat("x", 1025))), 413},
		{"chunks over max_body", newRequest(t, "POST", "http://h/", io.LimitReader(zeros{}, 100<<10)), 413},
		{"body stops", newRequest(t, "POST", "http://h/", never), 408},
		{"target too long", long, 414},
		{"too many fields", fields, 431},
		{"TRACE", newRequest(t, "TRACE", "http://h/", nil), 405},
	} {
		t.Run(row.name, func(t *testing.T) {
			if a, body := ask(t, c, row.request); a.StatusCode != row.status {
				t.Errorf("%d %q, want %d", a.StatusCode, body, row.status)
			}
		})
	}
	if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 {
		t.Errorf("member %+v", s)
	}
}

// K01: a drain tells clients of HTTP/2 to go, and their requests in flight finish.
func TestK01DrainOverHTTP2(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Hold(servertest.Answer{Body: "whole"}))
	d, c := h2(t, servertest.Setup{Members: addresses(m)})
	done := make(chan string)
	go func() {
		_, body := ask(t, c, newRequest(t, "GET", "http://h/", nil))
		done <- body
	}()
	m[0].WaitBodies(1)
	d.Drain()
	waitListenerClosed(d)
	m[0].Release()
	if got := <-done; got != "whole" {
		t.Errorf("got %q", got)
	}
	if err := d.Stop(); err != nil {
		t.Errorf("drain: %v", err)
	}
}

// A client that speaks HTTP/1.1 to a listener with h2c is served as ever, however its first bytes come.
func TestH2CListenerServesHTTP1(t *testing.T) {
	m := named(t, "a")
	d, _ := h2(t, servertest.Setup{Members: addresses(m)})
	c := servertest.Dial(t, d.Address)
	for range 2 {
		c.Send("P")
		c.Send("OST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok")
		if a := c.Final("POST"); a.Status != 200 || a.Body != "a" {
			t.Errorf("got %s", a.Head)
		}
	}
}

// A connection whose first request came along with what is looked at before it, a preface that was none or a PROXY
// header, waits for the next one as long as any other: idle_timeout, and not header_timeout.
func TestSecondRequestHasIdleTimeout(t *testing.T) {
	for name, row := range map[string]struct{ listener, before string }{
		"h2c":            {"h2c: true", ""},
		"proxy protocol": {"proxy_protocol: true", "PROXY TCP4 192.0.2.9 192.0.2.1 4711 80\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			m := named(t, "a")
			d := servertest.Start(t, servertest.Setup{Members: addresses(m), Listener: row.listener,
				Server: []string{"header_timeout: 50ms", "idle_timeout: 20s", `trusted_proxies: ["127.0.0.0/8"]`}})
			c := servertest.Dial(t, d.Address)
			c.Send(row.before, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			c.Final("GET")
			<-time.After(150 * time.Millisecond)
			c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			if a := c.Final("GET"); a.Body != "a" {
				t.Errorf("got %s", a.Head)
			}
		})
	}
}
