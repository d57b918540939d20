package server_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
)

// Answers as members give them that are not quite right, or look so: what the client gets, and whether the member is
// blamed for it.
func TestAnswersOfOddMembers(t *testing.T) {
	raw := func(text string) servertest.Step {
		return servertest.Do(func(x *servertest.Exchange) {
			x.ReadBody(-1)
			io.WriteString(x, text)
			x.CloseWrite()
			io.Copy(io.Discard, x)
			x.Close()
		})
	}
	const ok = "HTTP/1.1 200 OK\r\n"
	drip := func(every time.Duration, a servertest.Answer) servertest.Step { return servertest.Drip(every, a) }
	for _, row := range []struct {
		name   string
		step   servertest.Step
		status int
		body   string
		cause  string // of the failure; empty: none
		cut    bool   // the client can tell that it is not all
	}{
		{"a byte at a time", drip(time.Millisecond, servertest.Answer{Chunks: []string{"ab", "c"}, Interim: []servertest.Answer{{Status: 103}}}), 200, "abc", "", false},
		{"no reason", raw("HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx"), 200, "x", "", false},
		{"a status of one's own", raw("HTTP/1.1 499 Mine\r\nContent-Length: 1\r\n\r\nx"), 499, "x", "", false},
		{"205 with a body", raw("HTTP/1.1 205 Reset Content\r\nContent-Length: 1\r\n\r\nx"), 205, "x", "", false},
		{"HTTP/1.0 until close", raw("HTTP/1.0 200 OK\r\n\r\nx"), 200, "x", "", false},
		{"a field without a value", raw(ok + "X-Empty:\r\nContent-Length: 1\r\n\r\nx"), 200, "x", "", false},
		{"chunks with extensions", raw(ok + "Transfer-Encoding: chunked\r\n\r\n1;a=b\r\nx\r\n0;c\r\n\r\n"), 200, "x", "", false},
		{"a capital Chunked", raw(ok + "Transfer-Encoding: Chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"), 200, "x", "", false},
		{"500", servertest.Answer{Status: 500, Body: "x"}, 500, "x", "", false},

		{"101 unasked", raw("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), 502, "", "malformed_response", false},
		{"only an interim answer", raw("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), 502, "", "reset", false},
		{"half a head", raw(ok + "Content-Len"), 502, "", "reset", false},
		{"nothing", raw(""), 502, "", "reset", false},
		{"status 600", raw("HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n"), 502, "", "malformed_response", false},
		{"status 000", raw("HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n"), 502, "", "malformed_response", false},
		{"HTTP/2", raw("HTTP/2 200\r\n\r\n"), 502, "", "malformed_response", false},
		{"another protocol", raw("SSH-2.0-OpenSSH_9.2\r\n"), 502, "", "malformed_response", false},
		{"TLS", raw("\x15\x03\x01\x00\x02\x02\x46"), 502, "", "malformed_response", false},
		{"two lengths", raw(ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy"), 502, "", "malformed_response", false},
		{"a length below zero", raw(ok + "Content-Length: -1\r\n\r\n"), 502, "", "malformed_response", false},
		{"chunks and a length", raw(ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"), 502, "", "malformed_response", false},
		{"a coding of its own", raw(ok + "Transfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"), 502, "", "malformed_response", false},
		{"a CR in a value", raw(ok + "X: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n"), 502, "", "malformed_response", false},
		{"a head that takes too long", drip(20*time.Millisecond, servertest.Answer{Header: []string{"X: " + strings.Repeat("x", 1000)}}), 504, "", "response_timeout", false},
		{"interim answers for too long", servertest.Do(func(x *servertest.Exchange) {
			for x.Request() != nil {
				if _, err := io.WriteString(x, "HTTP/1.1 102 Processing\r\n\r\n"); err != nil {
					break
				}
				<-time.After(20 * time.Millisecond)
			}
			x.Close()
		}), 504, "", "response_timeout", false},

		{"a chunk that is none", raw(ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\nZZ\r\n"), 200, "x", "body_broken", true},
		{"a chunk without its end", raw(ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nxyz"), 200, "x", "body_broken", true},
		{"no last chunk", raw(ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"), 200, "x", "body_broken", true},
		{"no end of the trailers", raw(ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Sum: 1\r\n"), 200, "x", "body_broken", true},
		{"less than announced", raw(ok + "Content-Length: 2\r\n\r\nx"), 200, "x", "body_broken", true},
		{"a body that pauses", servertest.HoldBody(1, servertest.Answer{Body: "xy"}), 200, "x", "body_broken", true},
		{"chunks that pause", servertest.HoldBody(1, servertest.Answer{Chunks: []string{"x", "y"}}), 200, "x", "body_broken", true},
		{"a reset in a body without a length", servertest.Do(func(x *servertest.Exchange) {
			io.WriteString(x, ok+"\r\nx")
			x.WaitRelease()
			x.Reset()
		}), 200, "x", "body_broken", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := named(t, "a")
			m[0].Default(row.step)
			d := servertest.Start(t, servertest.Setup{
				Members: addresses(m), Runtime: "{type: proxy, upstream: {pool: p}, response_timeout: 500ms}",
				Server: []string{"upstream_client: {body_timeout: 400ms}"},
			})
			c := servertest.Dial(t, d.Address)
			c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			if row.name == "a reset in a body without a length" {
				c.Read(1)
				m[0].Release()
				rest, err := c.Rest()
				if err != nil || strings.Contains(rest, "0\r\n\r\n") {
					t.Errorf("got %q, %v", rest, err)
				}
			} else {
				r := c.Final("GET")
				if row.status != 200 && row.body == "" && r.Status == row.status {
					r.Body = "" // ours
				}
				if r.Status != row.status || r.Body != row.body || (r.Err != nil) != row.cut {
					t.Errorf("got %d %q, %v; want %d %q", r.Status, r.Body, r.Err, row.status, row.body)
				}
				if r.Status == 502 && closes(r) {
					t.Errorf("the client's connection is closed: %s", r.Head)
				}
			}
			want := 0
			if row.cause != "" {
				want = 1
			}
			d.Until("the attempt to be over", func() bool { return show(t, d).Members[0].InFlight == 0 })
			if s := show(t, d).Members[0]; s.LastFailure != row.cause || s.ConsecutiveFailures != want {
				t.Errorf("last failure %q, %d in a row; want %q", s.LastFailure, s.ConsecutiveFailures, row.cause)
			}
		})
	}
}
