package server_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
)

// The answer to a head that did not come is on time, however long the wait was: it is late by no clock, and the
// client has idle_timeout to take it.
func TestZ01AnswerAfterALongWaitForTheHead(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{Server: []string{"header_timeout: 1200ms", "idle_timeout: 200ms"}})
	c := servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\n")
	r := c.Final("GET")
	if r.Status != 408 {
		t.Fatalf("got %s", r.Head)
	}
	l := d.Lines(1)[0]
	began, err := time.Parse(time.RFC3339Nano, l["time"].(string))
	if err != nil {
		t.Fatal(err)
	}
	if date, err := http.ParseTime(r.Header.Get("Date")); err != nil || !date.After(began) {
		t.Errorf("Date %v for a request that began at %v, %v", date, began, err)
	}
}

// A client that is slow to take interim answers does not use up the time of the member.
func TestE03SlowClientOfInterimAnswers(t *testing.T) {
	const timeout = time.Second
	m := named(t, "a")
	hint := servertest.Answer{Status: 103, Header: []string{"Link: " + strings.Repeat("x", 60_000)}}
	var all []servertest.Answer
	for range 90 {
		all = append(all, hint)
	}
	m[0].Default(servertest.Answer{Body: "a", Interim: all})
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Runtime: "{type: proxy, upstream: {pool: p}, response_timeout: 1s}"})
	nc, err := net.Dial("tcp", d.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	began := time.Now()
	io.WriteString(nc, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	pass(d, began, 2*timeout)
	text, err := io.ReadAll(nc)
	if err != nil || !bytes.HasSuffix(text, []byte("\r\n\r\na")) {
		t.Errorf("got %d bytes that end in %q, %v", len(text), text[max(0, len(text)-200):], err)
	}
	if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 {
		t.Errorf("the member is blamed: %+v", s)
	}
}
