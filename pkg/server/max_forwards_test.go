package server_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
)

// How much further an OPTIONS may get is counted in it, and one that may get no further is answered (RFC 9110 section
// 7.6.2). All that is no such count is passed on as it came.
func TestMaxForwards(t *testing.T) {
	m := named(t, "a")[0]
	d := servertest.Start(t, servertest.Setup{Members: addresses([]*servertest.Member{m})})
	c := servertest.Dial(t, d.Address)
	for _, tt := range []struct {
		name, method, fields string
		want                 []string // what the member gets; nil: it is not asked
	}{
		{"one", "OPTIONS", "Max-Forwards: 1\r\n", []string{"0"}},
		{"many", "OPTIONS", "max-forwards: 0010\r\n", []string{"9"}},
		{"more than we count", "OPTIONS", "Max-Forwards: 99999999999999999999\r\n", []string{"9223372036854775806"}},
		{"none", "OPTIONS", "Max-Forwards: 0\r\n", nil},
		{"none, with a body", "OPTIONS", "Max-Forwards: 00\r\nContent-Length: 3\r\n", nil},
		{"not there", "OPTIONS", "", []string{}},
		{"no number", "OPTIONS", "Max-Forwards: -1\r\n", []string{"-1"}},
		{"two", "OPTIONS", "Max-Forwards: 0\r\nMax-Forwards: 1\r\n", []string{"0", "1"}},
		{"for this hop alone", "OPTIONS", "Max-Forwards: 0\r\nConnection: Max-Forwards\r\n", []string{}},
		{"another method", "GET", "Max-Forwards: 0\r\n", []string{"0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := len(m.Requests())
			body := ""
			if strings.Contains(tt.fields, "Content-Length") {
				body = "abc"
			}
			c.Send(tt.method + " / HTTP/1.1\r\nHost: x\r\n" + tt.fields + "\r\n" + body)
			r := c.Final(tt.method)
			asked := m.Requests()[before:]
			if tt.want == nil {
				if r.Status != 204 || !strings.Contains(r.Head, "\r\nAllow: GET, HEAD, OPTIONS, ") || len(asked) > 0 {
					t.Errorf("%d requests reached the member, and the client got\n%s", len(asked), r.Head)
				}
				return
			}
			if r.Status != 200 || len(asked) != 1 {
				t.Fatalf("%d requests reached the member, and the client got\n%s", len(asked), r.Head)
			}
			if diff := cmp.Diff(tt.want, append([]string{}, asked[0].Fields("max-forwards")...)); diff != "" {
				t.Errorf("the member's Max-Forwards (-want +got):\n%s", diff)
			}
		})
	}
}
