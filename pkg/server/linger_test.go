package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// TestEarlyAnswerToLargeUpload: a client that sends all of its body before it reads finds the whole answer, however
// much of the body there is (RFC 9112 section 9.6).
func TestEarlyAnswerToLargeUpload(t *testing.T) {
	m := named(t, "a")
	answer := strings.Repeat("too much\n", 2000)
	m[0].Default(servertest.Early(0, servertest.Answer{Status: 413, Body: answer}))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"max_body: 0"}})
	const size = 32 << 20
	c := servertest.Dial(t, d.Address)
	c.Send(fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", size))
	piece := strings.Repeat("x", 1<<20)
	for range size / len(piece) {
		c.Send(piece)
	}
	if a := c.Final("POST"); a.Status != 413 || a.Body != answer {
		t.Errorf("status %d with %d bytes of %d", a.Status, len(a.Body), len(answer))
	}
}
