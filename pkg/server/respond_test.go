package server_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

func TestRespond(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	tests := []struct {
		name, runtime, want string
	}{
		{"a maintenance page", `{type: respond, status: 503, body: "<p>Back at noon.\n", content_type: "text/html; charset=utf-8"}`,
			"503 17 text/html; charset=utf-8 <p>Back at noon.\n"},
		{"plain", `{type: respond, body: "hello\n"}`, "200 6 text/plain; charset=utf-8 hello\n"},
		{"nothing", `{type: respond}`, "200 0  "},
		{"no content", `{type: respond, status: 204}`, "204   "},
		{"a status without a name", `{type: respond, status: 599, body: odd}`, "599 3 text/plain; charset=utf-8 odd"},
		{"the longest", `{type: respond, body: ` + long + `}`, "200 65536 text/plain; charset=utf-8 " + long},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := servertest.Start(t, servertest.Setup{Runtime: tt.runtime, Listener: "h2c: true"})
			c := servertest.Dial(t, d.Address)
			for _, method := range []string{"GET", "HEAD", "POST"} {
				c.Send(method, " /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
				r := c.Final(method)
				want := tt.want
				if method == "HEAD" {
					want = want[:strings.LastIndex(want, " ")+1]
					if i := strings.Index(want, " <p>"); i > 0 {
						want = want[:i+1]
					}
				}
				got := fmt.Sprintf("%d %s %s %s", r.Status, r.Header.Get("Content-Length"), r.Header.Get("Content-Type"), r.Body)
				if got != want || closes(r) || r.Err != nil || len(r.Header["Date"]) != 1 {
					t.Errorf("%s: got %.200q, want %.200q", method, got, want)
				}
			}
			r, err := servertest.HTTP2(t, d.Address, nil).Get("http://h/x")
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(r.Body)
			r.Body.Close()
			got := fmt.Sprintf("%d %s %s %s", r.StatusCode, r.Header.Get("Content-Length"), r.Header.Get("Content-Type"), body)
			if got != tt.want || err != nil {
				t.Errorf("HTTP/2: got %.200q, %v, want %.200q", got, err, tt.want)
			}
		})
	}
}

func TestRedirectRuntime(t *testing.T) {
	for runtime, want := range map[string]string{
		`{type: redirect, to: "https://new.example/a?b=c"}`:      "302 https://new.example/a?b=c 302 Found: https://new.example/a?b=c\n",
		`{type: redirect, status: 308, to: /elsewhere}`:          "308 /elsewhere 308 Permanent Redirect: /elsewhere\n",
		`{type: redirect, status: 301, to: "http://192.0.2.1/"}`: "301 http://192.0.2.1/ 301 Moved Permanently: http://192.0.2.1/\n",
	} {
		d := servertest.Start(t, servertest.Setup{Runtime: runtime, Listener: "h2c: true"})
		r := d.Get("/x")
		if got := fmt.Sprintf("%d %s %s", r.Status, r.Header.Get("Location"), r.Body); got != want {
			t.Errorf("%s: got %q, want %q", runtime, got, want)
		}
		res, err := servertest.HTTP2(t, d.Address, nil).Get("http://h/x")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.Header.Get("Location") != r.Header.Get("Location") {
			t.Errorf("%s: over HTTP/2 %v", runtime, res.Header)
		}
	}
}

// A body that nobody reads ends the connection, and is never the next request.
func TestRespondLeavesTheBody(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{Runtime: "{type: respond, status: 503, body: closed}"})
	evil := "GET /evil HTTP/1.1\r\nHost: h\r\n\r\n"
	for _, framing := range []string{
		fmt.Sprintf("Content-Length: 100000\r\n\r\n%s", evil),
		fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(evil), evil),
	} {
		c := servertest.Dial(t, d.Address)
		c.Send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n", framing)
		c.CloseWrite()
		if text, err := c.Rest(); strings.Count(text, "HTTP/1.1 ") != 1 || !strings.HasSuffix(text, "closed") || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	}
}

// A page that stands in front of an application comes and goes with a reload.
func TestMaintenancePage(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	c := servertest.Dial(t, d.Address)
	ask := func(want int) {
		t.Helper()
		c.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		if r := c.Final("GET"); r.Status != want {
			t.Errorf("got %s", r.Head)
		}
	}
	ask(http.StatusOK)
	d.Change(servertest.Setup{Members: addresses(m), Runtime: "{type: respond, status: 503, body: later}"})
	ask(http.StatusServiceUnavailable)
	d.Change(servertest.Setup{Members: addresses(m)})
	ask(http.StatusOK)
}
