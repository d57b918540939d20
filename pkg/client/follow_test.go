package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// streams is a handler that answers one request after the other with these texts, as streams, and later ones
// with a stream without an event. A text that begins with a number is a problem of that status.
func streams(t *testing.T, asked *[]string, texts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.RequestURI+" "+r.Header.Get("Last-Event-ID"))
		if got := r.Header.Get("Accept"); got != "text/event-stream" {
			t.Errorf("Accept: %s", got)
		}
		text := ":\n\n"
		if n := len(*asked); n <= len(texts) {
			text = texts[n-1]
		}
		var status int
		if n, _ := fmt.Sscanf(text, "%d ", &status); n == 1 {
			answer(status, api.ProblemType, fmt.Sprintf(`{"code":"some","detail":%q}`, text))(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, text)
	}
}

func TestFollow(t *testing.T) {
	const one, two = "id: b7.1\nevent: ejected\ndata: {\"seq\":1,\"kind\":\"ejected\"}\n\n", "id: b7.2\nevent: recovered\ndata: {\"seq\":2,\"kind\":\"recovered\"}\n\n"
	const again = "id: c9.0\ndata: {\"seq\":0,\"kind\":\"gap\"}\n\nid: c9.1\ndata: {\"seq\":1,\"kind\":\"member_added\"}\n\n"
	tests := []struct {
		name  string
		texts []string
		// take is how many events are taken before the end.
		take  int
		want  string
		asked []string
		err   string
	}{
		{"one stream", []string{":\n\n" + one + two}, 2, "1 ejected, 2 recovered", []string{"/v1/events?pool=api "}, ""},
		{"resumed", []string{one, two}, 2, "1 ejected, 2 recovered", []string{"/v1/events?pool=api ", "/v1/events?pool=api b7.1"}, ""},
		{"an event that was cut off", []string{one + two[:30], two}, 2, "1 ejected, 2 recovered", []string{"/v1/events?pool=api ", "/v1/events?pool=api b7.1"}, ""},
		{"another run", []string{one, again}, 3, "1 ejected, 0 gap, 1 member_added", []string{"/v1/events?pool=api ", "/v1/events?pool=api b7.1"}, ""},
		{"too many meanwhile", []string{one, "503 full", two}, 2, "1 ejected, 2 recovered",
			[]string{"/v1/events?pool=api ", "/v1/events?pool=api b7.1", "/v1/events?pool=api b7.1"}, ""},
		{"data of two lines and other ends", []string{"id:b7.1\r\ndata: {\"seq\":1,\r\ndata:\"kind\":\"x\"}\r\nretry: 5\r\n\r\n"}, 1, "1 x", []string{"/v1/events?pool=api "}, ""},
		{"resumed before an event came", []string{":\nid: b7.41\n\n", one}, 1, "1 ejected", []string{"/v1/events?pool=api ", "/v1/events?pool=api b7.41"}, ""},
		{"resumed after others' events", []string{one + ":\nid: b7.9\n\n" + two[:30], two}, 2, "1 ejected, 2 recovered",
			[]string{"/v1/events?pool=api ", "/v1/events?pool=api b7.9"}, ""},
		{"too many", []string{"503 full"}, 9, "", []string{"/v1/events?pool=api "}, "503 full"},
		{"no pool", []string{"404 none"}, 9, "", []string{"/v1/events?pool=api "}, "404 none"},
		{"no pool any more", []string{one, "404 none"}, 9, "1 ejected", []string{"/v1/events?pool=api ", "/v1/events?pool=api b7.1"}, "404 none"},
		{"not events", []string{"data: x\n\n"}, 9, "", []string{"/v1/events?pool=api "}, "calling GET /v1/events: reading events: decoding event: invalid character 'x' looking for beginning of value"},
		{"a line without an end", []string{"data: " + strings.Repeat("x", 1<<20)}, 9, "", []string{"/v1/events?pool=api "}, "calling GET /v1/events: reading events: a line of more than 1048576 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var asked []string
			c := &client.Client{Socket: serve(t, streams(t, &asked, tt.texts...))}
			var got []string
			var failed error
			for event, err := range c.Follow(t.Context(), "api", 0) {
				if err != nil {
					failed = err
					continue // an error is the last that comes
				}
				if got = append(got, fmt.Sprint(event.Seq, " ", event.Kind)); len(got) == tt.take {
					break
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.asked, asked); diff != "" {
				t.Error(diff)
			}
			if text := fmt.Sprint(failed); text != tt.err && (failed != nil || tt.err != "") {
				t.Errorf("error %v, want %s", failed, tt.err)
			}
		})
	}
}

func TestFollowNoStream(t *testing.T) {
	c := &client.Client{Socket: serve(t, answer(200, "application/json", `{}`))}
	for _, err := range c.Follow(t.Context(), "", 7) {
		if err == nil || !strings.Contains(err.Error(), `the answer is "application/json" and no stream of events`) {
			t.Errorf("error %v", err)
		}
	}
}

func TestFollowNobody(t *testing.T) {
	c := &client.Client{Socket: filepath.Join(t.TempDir(), "missing")}
	for _, err := range c.Follow(t.Context(), "", 0) {
		var unreachable *client.Unreachable
		if !errors.As(err, &unreachable) {
			t.Errorf("error %v", err)
		}
	}
}

// The context ends a stream that is silent, and the wait between two.
func TestFollowEndsWithItsContext(t *testing.T) {
	for name, handler := range map[string]func(http.ResponseWriter, *http.Request){
		"silent": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {}\n\n")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"between two": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {}\n\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := &client.Client{Socket: serve(t, handler)}
			var last error
			for _, err := range c.Follow(ctx, "", 0) {
				last = err
				cancel()
			}
			if !errors.Is(last, context.Canceled) {
				t.Errorf("error %v", last)
			}
		})
	}
}
