package server_test

import (
	"bytes"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// TestHTTP2HeadWithBody: the answer to HEAD ends the stream with its head. That is no client that has gone.
func TestHTTP2HeadWithBody(t *testing.T) {
	m := named(t, "a")
	d, c := h2(t, servertest.Setup{Members: addresses(m)})
	if a, _ := ask(t, c, newRequest(t, "HEAD", "http://h/", bytes.NewReader(make([]byte, 5000)))); a.StatusCode != 200 {
		t.Errorf("status %d", a.StatusCode)
	}
	if line := d.Lines(1)[0]; line["status"] != 200.0 || line["bytes_in"] != 5000.0 {
		t.Errorf("log line %v", line)
	}
}
