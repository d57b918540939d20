package ctl_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/ctl"
	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// running is a "scalwsctl console" that runs in this process.
type running struct {
	// origin is where it listens, token what it wants.
	origin, token string
	stop          context.CancelFunc
	code          chan int
}

// startConsole runs it until the test ends.
func startConsole(t *testing.T, socket string, args ...string) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	var complaints bytes.Buffer
	c := &running{stop: stop, code: make(chan int, 1)}
	sys := ctl.System{Out: out, Err: &complaints, Getenv: func(string) string { return "" }, UID: os.Getuid(), Now: time.Now}
	go func() {
		code := ctl.Main(ctx, append([]string{"console", "--socket", socket}, args...), sys)
		out.CloseWithError(fmt.Errorf("it ended with %d: %s", code, complaints.String()))
		c.code <- code
	}()
	t.Cleanup(func() {
		stop()
		in.Close()
	})
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatalf("reading the URL: %v", err)
	}
	page, token, found := strings.Cut(strings.TrimSpace(line), "#token=")
	if !found || len(token) < 26 {
		t.Fatalf("the URL %q has no token", line)
	}
	c.origin, c.token = strings.TrimSuffix(page, "/console/"), token
	return c
}

// ask sends a request. A field with the name Host becomes the host.
func (c *running) ask(t *testing.T, method, path string, header http.Header) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, c.origin+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(r.Header, header)
	if host := header.Get("Host"); host != "" {
		r.Host = host
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// key is a header with the token.
func (c *running) key() http.Header { return http.Header{"Authorization": {"Bearer " + c.token}} }

// problem is the problem document of an answer.
func problem(t *testing.T, r *http.Response) api.Problem {
	t.Helper()
	var p api.Problem
	if err := json.NewDecoder(r.Body).Decode(&p); err != nil || r.Header.Get("Content-Type") != api.ProblemType {
		t.Fatalf("%s answer of type %q is no problem: %v", r.Status, r.Header.Get("Content-Type"), err)
	}
	return p
}

func TestConsoleGuard(t *testing.T) {
	c := startConsole(t, servertest.Start(t, servertest.Setup{}).Socket)
	other := startConsole(t, servertest.Start(t, servertest.Setup{}).Socket)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(c.origin, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	with := func(name, value string) http.Header {
		h := c.key()
		h.Set(name, value)
		return h
	}
	for name, test := range map[string]struct {
		method, path string
		header       http.Header
		status       int
	}{
		"pools":                        {"GET", "/v1/upstreams", c.key(), 200},
		"one pool":                     {"GET", "/v1/upstreams/p", c.key(), 200},
		"metrics":                      {"GET", "/metrics", c.key(), 200},
		"HEAD":                         {"HEAD", "/v1/status", c.key(), 200},
		"the page needs no token":      {"GET", "/console/", nil, 200},
		"localhost":                    {"GET", "/v1/status", with("Host", "localhost:"+port), 200},
		"as a browser asks":            {"GET", "/v1/status", with("Sec-Fetch-Site", "same-origin"), 200},
		"the daemon's refusal":         {"GET", "/v1/upstreams/none", c.key(), 404},
		"no token":                     {"GET", "/v1/upstreams", nil, 403},
		"no token, metrics":            {"GET", "/metrics", nil, 403},
		"no token, no such path":       {"GET", "/", nil, 403},
		"another token":                {"GET", "/v1/upstreams", other.key(), 403},
		"part of the token":            {"GET", "/v1/upstreams", http.Header{"Authorization": {"Bearer " + c.token[:25]}}, 403},
		"the token as a cookie":        {"GET", "/v1/upstreams", http.Header{"Cookie": {"token=" + c.token}}, 403},
		"the token as a query":         {"GET", "/v1/upstreams?token=" + c.token, nil, 403},
		"the token of another scheme":  {"GET", "/v1/upstreams", http.Header{"Authorization": {"Basic " + c.token}}, 403},
		"another host":                 {"GET", "/v1/upstreams", with("Host", "evil.example:"+port), 403},
		"another host, the page":       {"GET", "/console/", http.Header{"Host": {"evil.example:" + port}}, 403},
		"localhost without its port":   {"GET", "/v1/upstreams", with("Host", "localhost"), 403},
		"a name that begins like ours": {"GET", "/v1/upstreams", with("Host", "127.0.0.1.evil.example:"+port), 403},
		"another port":                 {"GET", "/v1/upstreams", with("Host", "127.0.0.1:1"), 403},
		"PUT":                          {"PUT", "/v1/upstreams/p", c.key(), 405},
		"POST":                         {"POST", "/v1/reload", c.key(), 405},
		"DELETE":                       {"DELETE", "/v1/upstreams/p", c.key(), 405},
		"OPTIONS":                      {"OPTIONS", "/v1/upstreams", c.key(), 405},
		"PUT of the page":              {"PUT", "/console/", c.key(), 405},
		"another path":                 {"GET", "/debug/pprof", c.key(), 404},
		"a way up":                     {"GET", "/v1/../healthz", c.key(), 404},
		"a ticket that is none":        {"GET", "/open/" + c.token, nil, 403},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.ask(t, test.method, test.path, test.header); got.StatusCode != test.status {
				t.Errorf("status %d, want %d", got.StatusCode, test.status)
			}
		})
	}
	if got := problem(t, c.ask(t, "GET", "/v1/upstreams", nil)); got.Detail != "the token is missing or wrong" {
		t.Errorf("detail %q", got.Detail)
	}
}

// serveSocket serves a handler on a socket.
func serveSocket(t *testing.T, handler http.HandlerFunc) (socket string) {
	t.Helper()
	socket = filepath.Join(servertest.SocketDir(t), "admin.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(handler)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return socket
}

// answerStatus answers what the command asks for before it starts, and tells whether it did.
func answerStatus(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path != api.PathStatus {
		return false
	}
	io.WriteString(w, "{}")
	return true
}

// The daemon sees the question and none of what makes it a browser's, whose questions it refuses.
func TestConsolePassesOn(t *testing.T) {
	type seen struct {
		Method, URI, Host string
		Header            http.Header
	}
	asked := make(chan seen, 1)
	c := startConsole(t, serveSocket(t, func(w http.ResponseWriter, r *http.Request) {
		if !answerStatus(w, r) {
			asked <- seen{r.Method, r.RequestURI, r.Host, r.Header}
			w.Header().Set("Date", "Sun, 29 Nov 2026 10:00:00 GMT")
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("Etag", `"7"`)
			io.WriteString(w, "an answer")
		}
	}))
	header := c.key()
	for name, value := range map[string]string{
		"Accept": "application/json", "Last-Event-ID": "b00t.7", "Cookie": "a=b", "Origin": c.origin, "Referer": c.origin,
		"Sec-Fetch-Site": "same-origin", "X-Forwarded-For": "192.0.2.1", "User-Agent": "browser", "Accept-Encoding": "br",
		"If-None-Match": `"7"`,
	} {
		header.Set(name, value)
	}
	r := c.ask(t, "GET", "/v1/upstreams/a%2Fb?since=7", header)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := seen{"GET", "/v1/upstreams/a%2Fb?since=7", "localhost", http.Header{
		"Accept": {"application/json"}, "Last-Event-Id": {"b00t.7"}, "User-Agent": {"scalwsctl console"},
		"Accept-Encoding": {"gzip"}, "Connection": {"close"}, // the transport's own
	}}
	if diff := cmp.Diff(want, <-asked); diff != "" {
		t.Errorf("the daemon was asked (-want +got):\n%s", diff)
	}
	// The page sets its clock by the daemon's.
	if string(body) != "an answer" || r.Header.Get("Date") != "Sun, 29 Nov 2026 10:00:00 GMT" || r.Header.Get("Etag") != `"7"` || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the answer is %q with %v", body, r.Header)
	}
	if policy := r.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("Content-Security-Policy %q", policy)
	}
}

// Events come through as they happen, and go on behind the last one.
func TestConsoleStreamsEvents(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{})
	c := startConsole(t, d.Socket, "--request-timeout", "1s") // which does not bound a stream
	header := c.key()
	header.Set("Accept", api.StreamType)
	stream := bufio.NewReader(c.ask(t, "GET", "/v1/events", header).Body)
	next := func(lines *bufio.Reader) (id string) {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("reading the stream: %v", err)
			}
			if after, found := strings.CutPrefix(line, "id: "); found {
				id = strings.TrimSpace(after) // also of a sign of life, which has no data
			}
			if strings.HasPrefix(line, "data: ") {
				return id
			}
		}
	}
	set := func(address string) {
		t.Helper()
		if _, err := d.Admin.SetMembers(t.Context(), "p", []api.SetMember{{Address: address}}); err != nil {
			t.Fatal(err)
		}
	}
	set("192.0.2.1:80")
	first := next(stream)
	set("192.0.2.2:80")
	second := next(stream)

	header.Set(api.HeaderLastEvent, first)
	if got := next(bufio.NewReader(c.ask(t, "GET", "/v1/events", header).Body)); got != second {
		t.Errorf("behind %s came %s, want %s", first, got, second)
	}

	// It ends in good order while both streams are open.
	c.stop()
	if code := <-c.code; code != ctl.ExitDone {
		t.Errorf("exit code %d", code)
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(c.origin, "http://")); err == nil {
		conn.Close()
		t.Error("somebody still listens")
	}
}

// A daemon that goes is a problem of each answer, and not the end of the console.
func TestConsoleWithoutDaemon(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{})
	c := startConsole(t, d.Socket)
	if err := d.Stop(); err != nil {
		t.Fatal(err)
	}
	r := c.ask(t, "GET", "/v1/upstreams", c.key())
	if got := problem(t, r); r.StatusCode != 502 || !strings.Contains(got.Detail, "connecting to "+d.Socket) {
		t.Errorf("%s: %q", r.Status, got.Detail)
	}
}

func TestConsoleRequestTimeout(t *testing.T) {
	c := startConsole(t, serveSocket(t, func(w http.ResponseWriter, r *http.Request) {
		if !answerStatus(w, r) {
			<-r.Context().Done()
		}
	}), "--request-timeout", "100ms")
	if r := c.ask(t, "GET", "/v1/upstreams", c.key()); r.StatusCode != 504 {
		t.Errorf("status %d", r.StatusCode)
	}
}

// The URL that a browser is started with is good for once: the list of processes shows it to everybody.
func TestConsoleOpen(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "url")
	script := "#!/bin/sh\nprintf %s \"$1\" >" + fifo + ".new && mv " + fifo + ".new " + fifo + "\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	d := servertest.Start(t, servertest.Setup{})
	c := startConsole(t, d.Socket, "--open")
	var url []byte
	d.Until("the browser to be started", func() bool {
		var err error
		url, err = os.ReadFile(fifo)
		return err == nil
	})
	path := strings.TrimPrefix(string(url), c.origin)
	if strings.Contains(path, c.token) || !strings.HasPrefix(path, "/open/") {
		t.Fatalf("the browser was started with %s", url)
	}
	if r := c.ask(t, "HEAD", path, nil); r.StatusCode != 403 {
		t.Errorf("HEAD used the ticket: status %d", r.StatusCode)
	}
	r := c.ask(t, "GET", path, nil)
	if want := c.origin + "/console/#token=" + c.token; r.StatusCode != 303 || r.Header.Get("Location") != want {
		t.Errorf("%s to %s, want %s", r.Status, r.Header.Get("Location"), want)
	}
	if r := c.ask(t, "GET", path, nil); r.StatusCode != 403 {
		t.Errorf("the second time: status %d", r.StatusCode)
	}
}
