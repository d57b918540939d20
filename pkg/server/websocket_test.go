package server_test

import (
	"io"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// W05: a tunnel is opened by a 101 to a WebSocket handshake and by nothing else. What the client has sent behind a
// handshake that opens none is a request of its own.
func TestW05WhatOpensATunnel(t *testing.T) {
	raw := func(text string) servertest.Step {
		return servertest.Do(func(x *servertest.Exchange) {
			x.ReadBody(-1)
			io.WriteString(x, text)
			x.WaitRelease()
			x.Close()
		})
	}
	const switching = "HTTP/1.1 101 Switching Protocols\r\n"
	ask := func(fields string) string { return "GET /ws HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n" }
	for _, row := range []struct {
		name   string
		step   servertest.Step
		send   string
		status int
		asked  string // the Upgrade field that the member got
		cause  string
	}{
		{"as browsers write it", servertest.Upgrade(), ask("Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"), 101, "websocket", ""},
		{"in capitals", servertest.Upgrade(), ask("CONNECTION: UPGRADE\r\nUPGRADE: WebSocket\r\n"), 101, "WebSocket", ""},
		{"over two Connection lines", servertest.Upgrade(), ask("Connection: keep-alive\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"), 101, "websocket", ""},
		{"a length of zero", servertest.Upgrade(), ask("Content-Length: 0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"), 101, "websocket", ""},
		{"a 101 with framing", raw(switching + "Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello"), upgrade, 502, "websocket", "malformed_response"},

		{"no Connection", servertest.Answer{Body: "x"}, ask("Upgrade: websocket\r\n"), 200, "", ""},
		{"no Upgrade", servertest.Answer{Body: "x"}, ask("Connection: Upgrade\r\n"), 200, "", ""},
		{"HTTP/1.0", servertest.Answer{Body: "x"}, strings.Replace(ask("Connection: Upgrade\r\nUpgrade: websocket\r\n"), "1.1", "1.0", 1), 200, "", ""},
		{"h2c", servertest.Answer{Body: "x"}, ask("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"), 200, "", ""},
		{"one of two", servertest.Answer{Body: "x"}, ask("Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n"), 200, "", ""},
		{"POST", servertest.Answer{Body: "x"}, strings.Replace(ask("Content-Length: 0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"), "GET", "POST", 1), 200, "", ""},
		{"a body", servertest.Answer{Body: "x"}, ask("Content-Length: 4\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n") + "test", 200, "", ""},

		{"a success", servertest.Answer{Body: "x"}, upgrade, 200, "websocket", ""},
		{"an interim answer, then a success", servertest.Answer{Interim: []servertest.Answer{{Status: 103}}, Body: "x"}, upgrade, 200, "websocket", ""},
		{"a 101 without a protocol", raw(switching + "Connection: Upgrade\r\n\r\n"), upgrade, 502, "websocket", "malformed_response"},
		{"a 101 that Connection does not know of", raw(switching + "Upgrade: websocket\r\n\r\n"), upgrade, 502, "websocket", "malformed_response"},
		{"a 101 to another protocol", raw(switching + "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"), upgrade, 502, "websocket", "malformed_response"},
		{"a 101 in HTTP/1.0", raw("HTTP/1.0 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), upgrade, 502, "websocket", "malformed_response"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := named(t, "a")
			m[0].Script(row.step)
			d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
			c := servertest.Dial(t, d.Address)
			behind := "GET /behind HTTP/1.1\r\nHost: x\r\n\r\n"
			c.Send(row.send, behind)
			r := c.Final("GET")
			if r.Status != row.status {
				t.Fatalf("got %s%s", r.Head, r.Body)
			}
			got := m[0].WaitRequests(1)[0]
			if asked := strings.Join(got.Fields("Upgrade"), ", "); asked != row.asked || len(got.Fields("HTTP2-Settings")) > 0 {
				t.Errorf("the member got %s", got.Head)
			}
			if row.status == 101 {
				if echo := c.Read(len(behind)); echo != behind {
					t.Errorf("through the tunnel: %q", echo)
				}
				c.CloseWrite()
			} else if !closes(r) {
				if r := c.Final("GET"); r.Status != 200 || r.Body != "a" {
					t.Errorf("behind it: %s%s", r.Head, r.Body)
				}
			}
			if s := show(t, d).Members[0]; s.LastFailure != row.cause {
				t.Errorf("last failure %q, want %q", s.LastFailure, row.cause)
			}
		})
	}
}
