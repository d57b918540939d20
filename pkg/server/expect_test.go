package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// E01 and E03: a client that waits for a 100 gets one at most, from whichever member takes the body, and none where the
// answer comes without it. A refusal that another member makes good is not seen.
func TestExpectAndRetries(t *testing.T) {
	const expect = "PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\n"
	const length = expect + "Content-Length: 4\r\n\r\n"
	early := func(status int) servertest.Step {
		return servertest.Early(0, servertest.Answer{Status: status})
	}
	twice := servertest.Answer{Interim: []servertest.Answer{{Status: 100}, {Status: 100}}, Silent: true, Body: "twice"}
	for _, row := range []struct {
		name string
		a, b servertest.Step // b is nil: it answers with the digest of the body
		send string          // before the client waits
		more string          // when it has a 100
		want string          // statuses in order
		body string          // the end of the last answer
	}{
		{"both take it", nil, nil, length, "test", "100 200", " 4\n"},
		{"503 without a 100, then taken", early(503), nil, length, "test", "100 200", " 4\n"},
		{"a reset, then taken", servertest.Reset(), nil, length, "test", "100 200", " 4\n"},
		{"503 without a 100, twice", early(503), early(503), length, "", "503", ""},
		{"a success without a 100", early(200), nil, length, "", "200", ""},
		{"a body that comes unasked", nil, nil, length + "test", "", "100 200", " 4\n"},
		{"503 and a body that comes unasked", early(503), nil, length + "test", "", "100 200", " 4\n"},
		{"chunks", nil, nil, expect + "Transfer-Encoding: chunked\r\n\r\n", "4\r\ntest\r\n0\r\n\r\n", "100 200", " 4\n"},
		{"chunks that are refused", early(503), nil, expect + "Transfer-Encoding: chunked\r\n\r\n", "", "503", ""},
		{"503 after the 100", servertest.Status(503), nil, length, "test", "100 503", "Service Unavailable"},
		{"two 100", twice, nil, length, "test", "100 200", "twice"},
		{"no body to wait for", nil, nil, expect + "Content-Length: 0\r\n\r\n", "", "200", " 0\n"},
		{"HTTP/1.0 has no expectations", nil, nil, strings.Replace(length, "1.1", "1.0", 1) + "test", "", "200", " 4\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := named(t, "a", "b")
			for i, step := range []servertest.Step{row.a, row.b} {
				m[i].Default(servertest.Digest())
				if step != nil {
					m[i].Default(step)
				}
			}
			d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
			c := servertest.Dial(t, d.Address)
			c.Send(row.send)
			var got []string
			var r servertest.Response
			for r.Status < 200 {
				r = c.Response("PUT")
				got = append(got, fmt.Sprint(r.Status))
				if r.Status == 100 && len(got) == 1 {
					c.Send(row.more)
				}
			}
			if all := strings.Join(got, " "); all != row.want || !strings.HasSuffix(r.Body, row.body) {
				t.Errorf("got %s %q, want %s %q", all, r.Body, row.want, row.body)
			}
		})
	}
}
