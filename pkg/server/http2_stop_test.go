package server_test

import (
	"io"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// TestHTTP2UploadStoppedAtOnce: a member that fails at the head stops the upload at the very moment at which it
// begins. The race detector watches.
func TestHTTP2UploadStoppedAtOnce(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Reset())
	_, c := h2(t, servertest.Setup{Members: addresses(m), Pool: []string{"passive_health: {failures: 0}"}})
	for range 100 {
		silent, end := io.Pipe()
		if a, _ := ask(t, c, newRequest(t, "POST", "http://h/", silent)); a.StatusCode != 502 {
			t.Errorf("status %d", a.StatusCode)
		}
		end.Close()
	}
}
