package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// What a client sends in one write is answered in order, each request by its own answer, and the connection is kept or
// closed for reasons that are the client's or ours, never the member's.
func TestRequestsOfOneConnection(t *testing.T) {
	get := "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	put := "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\ntest"
	chunked := "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	raw := func(text string) servertest.Step {
		return servertest.Do(func(x *servertest.Exchange) { x.ReadBody(-1); fmt.Fprint(x, text); x.Close() })
	}
	for _, row := range []struct {
		name   string
		script []servertest.Step // of both members, then they answer "a" and "b"
		server []string
		send   string
		want   string // method and status of each answer that comes, and "closed" or "kept"
	}{
		{"100 at once", nil, nil, strings.Repeat(get, 100), strings.Repeat("200 ", 100) + "kept"},
		{"methods without bodies in their answers", []servertest.Step{servertest.Answer{Body: "head"}, servertest.Answer{Status: 304}},
			nil, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" + get + "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" + get, "HEAD 200 200 HEAD 304 304 kept"},
		{"an empty line behind a body", nil, nil, put + "\r\n" + get, "200 200 kept"},
		{"a retry before another", []servertest.Step{servertest.Status(503)}, nil, put + get + put, "503 200 200 kept"},
		{"a reset before another", []servertest.Step{servertest.Reset()}, nil, get + get, "502 200 kept"},
		{"chunks, then another", nil, nil, chunked + "4\r\ntest\r\n0\r\n\r\n" + get, "200 200 kept"},
		{"empty chunks, then another", nil, nil, chunked + "0\r\n\r\n" + get, "200 200 kept"},
		{"a short body that is refused", nil, []string{"max_body: 3"}, put + get, "413 200 kept"},
		{"chunks that are refused", nil, []string{"max_body: 3"}, chunked + "4\r\ntest\r\n0\r\n\r\n" + get, "413 closed"},
		{"an announced close ends it", nil, nil, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" + get, "200 closed"},
		{"a member that closes does not", []servertest.Step{servertest.Answer{Header: []string{"Connection: close"}, Close: true, Body: "x"}}, nil, get + get + get, "200 200 200 kept"},
		{"a member without a length does not", []servertest.Step{servertest.Answer{UntilClose: true, Body: "x"}}, nil, get + get + get, "200 200 200 kept"},
		{"a member of HTTP/1.0 does not", []servertest.Step{raw("HTTP/1.0 200 OK\r\n\r\nold")}, nil, get + get + get, "200 200 200 kept"},
		{"HTTP/1.0 is not kept", nil, nil, "GET / HTTP/1.0\r\n\r\n" + get, "200 closed"},
		{"HTTP/1.0 that asks is", nil, nil, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + get, "200 200 kept"},
		{"HTTP/1.0 gets no answer without a length and another", []servertest.Step{servertest.Answer{Chunks: []string{"x"}}},
			nil, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + get, "200 closed"},
		{"garbage behind a request", nil, nil, get + "\x16\x03\x01\x00\r\n\r\n", "200 400 closed"},
		{"HTTP/0.9", nil, nil, "GET /\r\n\r\n" + get, "400 closed"},
		{"HTTP/2 without h2c", nil, nil, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 closed"},
		{"a minor version to come", nil, nil, "GET / HTTP/1.7\r\nHost: x\r\n\r\n" + get, "200 200 kept"},
		{"CONNECT and what it would carry", nil, nil, "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n" + get, "405 closed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := named(t, "a", "b")
			for _, member := range m {
				member.Script(row.script...)
			}
			d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: row.server, Pool: []string{"passive_health: {failures: 0}"}})
			c := servertest.Dial(t, d.Address)
			c.Send(row.send)
			var got []string
			last := false
			for _, want := range strings.Fields(row.want) {
				switch want {
				case "HEAD":
					got, last = append(got, want), true
					continue
				case "closed":
					rest, err := c.Rest()
					if rest != "" || err != nil {
						t.Errorf("at the end: %q, %v", rest, err)
					}
					got = append(got, want)
					continue
				case "kept":
					c.Send(get)
					if r := c.Final("GET"); r.Status != 200 {
						t.Errorf("one more: %s", r.Head)
					}
					got = append(got, want)
					continue
				}
				method := "GET"
				if last {
					method, last = "HEAD", false
				}
				r := c.Final(method)
				got = append(got, fmt.Sprint(r.Status))
				if r.Err != nil {
					t.Errorf("%s: %v", r.Head, r.Err)
				}
			}
			if all := strings.Join(got, " "); all != row.want {
				t.Errorf("got  %s\nwant %s", all, row.want)
			}
		})
	}
}
