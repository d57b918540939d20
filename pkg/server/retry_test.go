package server_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
)

// TestRetryTable drives the retry and health rules through the daemon: two members, the first has the fault,
// the second answers "b".
func TestRetryTable(t *testing.T) {
	fail := servertest.Answer{Status: 503, Body: "from a"}
	body64k, more := strings.Repeat("x", 64<<10), strings.Repeat("x", 64<<10+1)
	type row struct {
		name     string
		fault    func(*servertest.Member)
		method   string
		body     string // "chunked" sends a chunked body
		status   int
		attempts float64
		failures int // consecutive failures of a afterwards
	}
	step := func(s servertest.Step) func(*servertest.Member) { return func(m *servertest.Member) { m.Script(s) } }
	down := (*servertest.Member).Down
	rows := []row{
		{"refused GET", down, "GET", "", 200, 2, 1},
		{"refused POST with a kept body", down, "POST", "x", 200, 2, 1},
		{"refused POST of 64 KiB", down, "POST", body64k, 200, 2, 1},
		{"refused POST over 64 KiB", down, "POST", more, 502, 1, 1},
		{"refused POST chunked", down, "POST", "chunked", 502, 1, 1},
		{"refused PATCH", down, "PATCH", "x", 200, 2, 1},
		{"503 PUT over 64 KiB", step(fail), "PUT", more, 503, 1, 1},
		{"503 PUT chunked", step(fail), "PUT", "chunked", 503, 1, 1},
		{"500 GET is a success", step(servertest.Answer{Status: 500}), "GET", "", 500, 1, 0},
	}
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"} {
		for _, status := range []int{502, 503, 504} {
			rows = append(rows, row{fmt.Sprint(status, " ", method), step(servertest.Status(status)), method, "", 200, 2, 1})
		}
		rows = append(rows,
			row{"reset before the head " + method, step(servertest.Reset()), method, "", 200, 2, 1},
			row{"closed before the head " + method, step(servertest.Close()), method, "", 200, 2, 1},
			row{"garbage " + method, step(servertest.Raw("not HTTP\r\n\r\n")), method, "", 200, 2, 1},
			row{"silent " + method, step(servertest.Hold(servertest.Answer{})), method, "", 200, 2, 1},
		)
	}
	for _, method := range []string{"POST", "PATCH", "LOCK"} {
		rows = append(rows,
			row{"503 " + method, step(fail), method, "", 503, 1, 1},
			row{"reset before the head " + method, step(servertest.Reset()), method, "", 502, 1, 1},
			row{"closed before the head " + method, step(servertest.Close()), method, "x", 502, 1, 1},
			row{"garbage " + method, step(servertest.Raw("not HTTP\r\n\r\n")), method, "", 502, 1, 1},
			row{"silent " + method, step(servertest.Hold(servertest.Answer{})), method, "", 504, 1, 1},
		)
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			m := named(t, "a", "b")
			r.fault(m[0])
			d := servertest.Start(t, servertest.Setup{
				Members: addresses(m),
				Runtime: "{type: proxy, upstream: {pool: p}, response_timeout: 500ms}",
			})
			c := servertest.Dial(t, d.Address)
			c.Send(request(r.method, r.body)...)
			got := c.Final(r.method)
			if got.Status != r.status {
				t.Errorf("status %d, want %d: %s%s", got.Status, r.status, got.Head, got.Body)
			}
			l := d.Lines(1)[0]
			if l["upstream_attempts"] != r.attempts {
				t.Errorf("upstream_attempts %v, want %v", l["upstream_attempts"], r.attempts)
			}
			if n := show(t, d).Members[0].ConsecutiveFailures; n != r.failures {
				t.Errorf("%d failures of a, want %d", n, r.failures)
			}
			if want := strconv.Itoa(int(r.attempts) - 1); d.Metric(`scalws_upstream_pool_retries_total{pool="p"}`) != want {
				t.Errorf("pool retries %s, want %s", d.Metric(`scalws_upstream_pool_retries_total{pool="p"}`), want)
			}
			if r.attempts == 2 && len(r.body) > 0 {
				if b := m[1].WaitBodies(1)[0]; string(b.Body) != r.body {
					t.Errorf("b got %d bytes of body, want %d", len(b.Body), len(r.body))
				}
			}
		})
	}
}

// request is the text of a request; a body goes with its length.
func request(method, body string) []string {
	head := method + " / HTTP/1.1\r\nHost: example.com\r\n"
	switch {
	case body == "chunked":
		return []string{head, "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"}
	case body != "":
		return []string{head, "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n", body}
	default:
		return []string{head, "\r\n"}
	}
}

// R01: the second attempt sends the whole body, also where the first member had read a part of it.
func TestR01RetryReplaysTheWholeBody(t *testing.T) {
	m := named(t, "a", "b")
	m[0].Script(servertest.Early(10<<10, servertest.Answer{Status: 503, Close: true}))
	m[1].Default(servertest.Digest())
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	body := strings.Repeat("0123456789", 6000)
	c := servertest.Dial(t, d.Address)
	head := "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n"
	c.Send(head, body[:20000])
	m[0].WaitRequests(1)
	c.Send(body[20000:])
	sum := sha256.Sum256([]byte(body))
	if r, want := c.Final("PUT"), hex.EncodeToString(sum[:])+" 60000\n"; r.Body != want {
		t.Errorf("b got %q, want %q", r.Body, want)
	}
}

// R05: one request never reaches a member twice, whatever the balance.
func TestR05NeverTheSameMemberTwice(t *testing.T) {
	for _, balance := range []string{"balance: round_robin", "balance: least_conn", "balance: hash"} {
		t.Run(balance, func(t *testing.T) {
			t.Parallel()
			m := named(t, "a", "b")
			m[0].Default(servertest.Status(503))
			m[1].Default(servertest.Status(503))
			pool := []string{balance, "retries: 5", "passive_health: {failures: 0}"}
			if strings.Contains(balance, "hash") {
				pool = append(pool, "hash: {by: header, name: X-Id}")
			}
			d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: pool})
			var conns []*servertest.Conn
			for i := range 50 {
				c := servertest.Dial(t, d.Address)
				c.Send("GET / HTTP/1.1\r\nHost: x\r\nX-Id: " + strconv.Itoa(i) + "\r\n\r\n")
				conns = append(conns, c)
			}
			for _, c := range conns {
				if r := c.Final("GET"); r.Status != 503 {
					t.Errorf("got %d, want the last member's 503", r.Status)
				}
			}
			for i, member := range m {
				seen := map[string]bool{}
				for _, r := range member.WaitRequests(50) {
					id := r.Header.Get("X-Id")
					if seen[id] {
						t.Errorf("member %d got request %s twice", i, id)
					}
					seen[id] = true
				}
			}
		})
	}
}

// R07: a request that was written is never sent again unless it is idempotent and has no body.
func TestR07WrittenPostIsNotSentAgain(t *testing.T) {
	for _, c := range []struct{ method, body, extra string }{
		{"POST", "", ""}, {"POST", "x", ""}, {"POST", "x", "Idempotency-Key: k\r\n"}, {"PATCH", "x", ""},
	} {
		t.Run(c.method+c.body+c.extra, func(t *testing.T) {
			t.Parallel()
			m := named(t, "a")
			d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
			conn := servertest.Dial(t, d.Address)
			conn.Send(request("GET", "")...)
			conn.Final("GET")
			m[0].Script(servertest.Close())
			parts := request(c.method, c.body)
			conn.Send(append([]string{parts[0], c.extra}, parts[1:]...)...)
			if r := conn.Final(c.method); r.Status != 502 {
				t.Errorf("got %d, want 502", r.Status)
			}
			if n := len(m[0].Requests()); n != 2 {
				t.Errorf("the member got %d requests, want 2", n)
			}
		})
	}
}

// R09: an idle connection that the member closed costs the client nothing, and is no failure of the member.
func TestR09ClosedIdleConnectionIsReplaced(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	for range 20 {
		if r := d.Get("/"); r.Status != 200 {
			t.Fatalf("got %d", r.Status)
		}
		m[0].CloseIdle()
		m[0].WaitOpen(0)
	}
	if r := d.Get("/"); r.Status != 200 {
		t.Errorf("got %d", r.Status)
	}
	if u := show(t, d).Members[0]; u.ConsecutiveFailures != 0 || u.LastFailure != "" {
		t.Errorf("the member was blamed: %+v", u)
	}
}

// R11: after a retry the cookie names the member that answered.
func TestR11CookieNamesTheMemberThatAnswered(t *testing.T) {
	m := named(t, "a", "b")
	m[0].Default(servertest.Status(503))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"balance: hash", "hash: {by: cookie}"}})
	first := d.Get("/")
	cookie, _, _ := strings.Cut(first.Header.Get("Set-Cookie"), ";")
	if first.Body != "b" || cookie == "" {
		t.Fatalf("got %s%s", first.Head, first.Body)
	}
	d.Lines(1) // the log has no order over connections
	if again := d.Get("/", "Cookie: "+cookie); again.Body != "b" {
		t.Errorf("got %s", again.Body)
	}
	l := d.Lines(2)
	if l[0]["upstream_attempts"] != 2.0 || l[1]["upstream_attempts"] != 1.0 {
		t.Errorf("attempts %v, %v", l[0]["upstream_attempts"], l[1]["upstream_attempts"])
	}
}

// The last attempt's answer is the client's: the member's own, not ours.
func TestLastAnswerIsPassedOn(t *testing.T) {
	m := named(t, "a", "b")
	m[0].Default(servertest.Status(503))
	m[1].Default(servertest.Answer{Status: 504, Body: "from b", Header: []string{"X-From: b"}})
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	if r := d.Get("/"); r.Status != 504 || r.Body != "from b" || r.Header.Get("X-From") != "b" {
		t.Errorf("got %s%s", r.Head, r.Body)
	}
}

// A connection that closes in the moment when a request is written to it: the bodyless idempotent request goes
// once more to the same member if the connection was idle for a second; that counts as a resend and blames
// nobody. A shorter idle time makes it a failure, which another member may make good.
func TestR09ResendOnAStaleConnection(t *testing.T) {
	const resends = `scalws_upstream_retries_total{application="a",protocol="h1",tenant="t"}`
	const retries = `scalws_upstream_pool_retries_total{pool="p"}`
	for _, c := range []struct {
		name             string
		idle             time.Duration
		method           string
		members          int
		status           int
		resends, retries string
		failures         int
	}{
		{"idle for a second", time.Second, "GET", 1, 200, "1", "0", 0},
		{"idle for less, one member", 0, "GET", 1, 502, "0", "0", 1},
		{"idle for less, two members", 0, "GET", 2, 200, "0", "1", 1},
		{"POST", time.Second, "POST", 1, 502, "0", "0", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := named(t, "a", "b")[:c.members]
			d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
			for range m {
				d.Get("/") // one idle connection to each
			}
			idle := time.Now()
			m[0].Script(servertest.CloseUnread())
			d.Until("the connection was idle for long enough", func() bool { return time.Since(idle) > c.idle })
			conn := servertest.Dial(t, d.Address)
			conn.Send(request(c.method, "")...)
			if r := conn.Final(c.method); r.Status != c.status {
				t.Errorf("got %d, want %d", r.Status, c.status)
			}
			if a, b := d.Metric(resends), d.Metric(retries); a != c.resends || b != c.retries {
				t.Errorf("resends %s, want %s; pool retries %s, want %s", a, c.resends, b, c.retries)
			}
			if n := show(t, d).Members[0].ConsecutiveFailures; n != c.failures {
				t.Errorf("%d failures, want %d", n, c.failures)
			}
		})
	}
}
