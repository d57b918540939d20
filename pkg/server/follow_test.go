package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// A stream through the real server: an event comes at once, and the end of the daemon ends it well.
func TestStreamOfADaemon(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{})
	kinds := make(chan string, 10)
	ended := make(chan error, 1)
	go func() {
		for event, err := range d.Admin.Follow(t.Context(), "p", 0) {
			if err != nil {
				ended <- err
				return
			}
			kinds <- event.Kind + " " + event.Member
			if event.Kind == api.EventRemoved {
				break
			}
		}
		ended <- nil
	}()
	begun := time.Now()
	for _, list := range [][]api.SetMember{{{Address: "192.0.2.1:80"}}, nil} {
		if _, err := d.Admin.SetMembers(t.Context(), "p", list); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"member_added 192.0.2.1:80", "member_removed 192.0.2.1:80"} {
		if got := <-kinds; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if waited := time.Since(begun); waited > 5*time.Second {
		t.Errorf("the events came after %v", waited)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// An open stream does not hold up the end of a daemon, and what happened before the end is in it.
func TestStreamEndsWithItsDaemon(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{})
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://localhost/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := overSocket(t, d).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := d.Admin.SetMembers(t.Context(), "p", []api.SetMember{{Address: "192.0.2.1:80"}}); err != nil {
		t.Fatal(err)
	}
	if err := d.Stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil || !strings.Contains(string(text), `"kind":"member_added"`) {
		t.Errorf("%v: %s", err, text)
	}
}
