package client

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/scalws/scalws/pkg/api"
)

// A daemon that is gone without a word is given up, and asked again.
func TestFollowGivesUpSilence(t *testing.T) {
	asked := 0
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", api.StreamType)
		if asked++; asked == 1 {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, "data: {\"seq\":1}\n\n")
	}))
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	defer server.Close()

	var got api.Event
	f := follower{
		client: &Client{Socket: socket}, path: api.PathEvents, silence: 50 * time.Millisecond,
		yield: func(e api.Event, _ error) bool { got = e; return false },
	}
	if err := f.run(t.Context()); err != nil || got.Seq != 1 || asked != 2 {
		t.Errorf("%v, %+v after %d streams", err, got, asked)
	}
}
