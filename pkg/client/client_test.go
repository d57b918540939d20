package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// serve runs a handler on a unix socket and returns the socket's path.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return socket
}

// answer is a handler that always gives the same answer.
func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// calls are all methods that reach the daemon and whose answer is JSON, by name.
var calls = map[string]func(ctx context.Context, c *client.Client) (any, error){
	"upstreams":   func(ctx context.Context, c *client.Client) (any, error) { return c.Upstreams(ctx) },
	"upstream":    func(ctx context.Context, c *client.Client) (any, error) { return c.Upstream(ctx, "api") },
	"set members": func(ctx context.Context, c *client.Client) (any, error) { return c.SetMembers(ctx, "api", nil) },
	"set members if": func(ctx context.Context, c *client.Client) (any, error) {
		return c.SetMembersIf(ctx, "api", `"x.7"`, nil)
	},
	"rehearse": func(ctx context.Context, c *client.Client) (any, error) { return c.Rehearse(ctx, "api", `"x.7"`, nil) },
	"edit members": func(ctx context.Context, c *client.Client) (any, error) {
		return c.EditMembers(ctx, "api", func(list []api.SetMember) ([]api.SetMember, error) { return list, nil })
	},
	"explain": func(ctx context.Context, c *client.Client) (any, error) {
		return c.Explain(ctx, "api", client.Asked{Header: "a b"})
	},
	"preview": func(ctx context.Context, c *client.Client) (any, error) {
		return c.Preview(ctx, "api", nil, []string{"k"})
	},
	"events":  func(ctx context.Context, c *client.Client) (any, error) { return c.Events(ctx, "api", 41) },
	"status":  func(ctx context.Context, c *client.Client) (any, error) { return c.Status(ctx) },
	"openapi": func(ctx context.Context, c *client.Client) (any, error) { return c.OpenAPI(ctx) },
	"metrics": func(ctx context.Context, c *client.Client) (any, error) { return c.Metrics(ctx) },
	"follow": func(ctx context.Context, c *client.Client) (any, error) {
		for event, err := range c.Follow(ctx, "api", 41) {
			return event, err
		}
		return nil, nil
	},
}

func TestRequests(t *testing.T) {
	weight := 2
	pool := `{"name":"api","members_from":"api","members":[{"address":"192.0.2.5:8080","weight":2,"state":"up"}]}`
	want := api.Upstream{Name: "api", MembersFrom: "api",
		Members: []api.Member{{Address: "192.0.2.5:8080", Weight: 2, State: "up"}}}
	for name, test := range map[string]struct {
		call    func(ctx context.Context, c *client.Client) (any, error)
		request string
		answer  string
		want    any
	}{
		"upstreams": {
			call:    calls["upstreams"],
			request: "GET /v1/upstreams localhost ",
			answer:  `{"upstreams":[` + pool + `]}`,
			want:    []api.Upstream{want},
		},
		"upstream": {calls["upstream"], "GET /v1/upstreams/api localhost ", pool, want},
		"upstream with a name that needs escaping": {
			func(ctx context.Context, c *client.Client) (any, error) { return c.Upstream(ctx, "a/b c") },
			"GET /v1/upstreams/a%2Fb%20c localhost ", pool, want,
		},
		"set members": {
			func(ctx context.Context, c *client.Client) (any, error) {
				return c.SetMembers(ctx, "api", []api.SetMember{{Address: "192.0.2.5:8080", Weight: &weight}, {Address: "b:1"}})
			},
			`PUT /v1/upstreams/api localhost {"members":[{"address":"192.0.2.5:8080","weight":2},{"address":"b:1"}]}`,
			pool, want,
		},
		"set no members":               {calls["set members"], `PUT /v1/upstreams/api localhost {"members":[]}`, pool, want},
		"set members of a known state": {calls["set members if"], `PUT /v1/upstreams/api localhost {"members":[]} If-Match: "x.7"`, pool, want},
		"rehearse": {
			calls["rehearse"], `PUT /v1/upstreams/api?dry_run=true localhost {"members":[]} If-Match: "x.7"`,
			`{"added":[{"address":"b:1","weight":1}],"unchanged":1}`, api.Change{Added: []api.Entry{{Address: "b:1", Weight: 1}}, Unchanged: 1},
		},
		"explain": {
			calls["explain"], "GET /v1/upstreams/api/explain?header=a+b localhost ",
			`{"pool":"api","member":"b:1"}`, api.Explanation{Pool: "api", Member: "b:1"},
		},
		"explain without a key": {
			func(ctx context.Context, c *client.Client) (any, error) { return c.Explain(ctx, "a/b", client.Asked{}) },
			"GET /v1/upstreams/a%2Fb/explain localhost ", `{"pool":"a/b"}`, api.Explanation{Pool: "a/b"},
		},
		"preview": {
			calls["preview"], `POST /v1/upstreams/api/preview localhost {"members":[],"keys":["k"]}`,
			`{"keys":1,"moved":1,"from":{"a:1":1}}`, api.Preview{Keys: 1, Moved: 1, From: map[string]int{"a:1": 1}},
		},
		"events": {
			calls["events"], "GET /v1/events?pool=api&since=41 localhost ",
			`{"boot":"b7","events":[{"seq":42,"kind":"gap"}]}`, api.Events{Boot: "b7", Events: []api.Event{{Seq: 42, Kind: "gap"}}},
		},
		"all events": {
			func(ctx context.Context, c *client.Client) (any, error) { return c.Events(ctx, "", 0) },
			"GET /v1/events localhost ", `{}`, api.Events{},
		},
		"openapi": {calls["openapi"], "GET /v1/openapi.json localhost ", `{"openapi":"3.1.0"}`, json.RawMessage(`{"openapi":"3.1.0"}`)},
		"metrics": {calls["metrics"], "GET /metrics localhost ", "up 1\n", []byte("up 1\n")},
		"status": {
			calls["status"], "GET /v1/status localhost ",
			`{"version":"v1","pid":7}`, api.Status{Version: "v1", PID: 7},
		},
		"a field that this client does not know": {
			calls["status"], "GET /v1/status localhost ",
			`{"version":"v1","newer":true}`, api.Status{Version: "v1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var request string
			c := &client.Client{Socket: serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				request = r.Method + " " + r.RequestURI + " " + r.Host + " " + string(body)
				if match := r.Header.Get("If-Match"); match != "" {
					request += " If-Match: " + match
				}
				io.WriteString(w, test.answer)
			})}
			got, err := test.call(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.request, request); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	for name, test := range map[string]struct {
		status      int
		contentType string
		body        string
		want        api.Problem
	}{
		"a problem": {
			400, api.ProblemType,
			`{"type":"about:blank","title":"Bad Request","status":400,"detail":"members[1].weight: must be between 1 and 1000",` +
				`"code":"invalid_members","errors":[{"path":"members[1].weight","detail":"must be between 1 and 1000"}]}`,
			api.Problem{Type: "about:blank", Title: "Bad Request", Status: 400, Code: api.CodeInvalidMembers,
				Detail: "members[1].weight: must be between 1 and 1000",
				Errors: []api.FieldError{{Path: "members[1].weight", Detail: "must be between 1 and 1000"}}},
		},
		"a problem with parameters in its type, without title and status": {
			409, api.ProblemType + "; charset=utf-8", `{"detail":"no","code":"members_from_file"}`,
			api.Problem{Title: "Conflict", Status: 409, Detail: "no", Code: api.CodeMembersFromFile},
		},
		"a problem whose status lies": {
			404, api.ProblemType, `{"title":"OK","status":200}`,
			api.Problem{Title: "OK", Status: 404},
		},
		"a problem that is no JSON": {
			500, api.ProblemType, `<html>`,
			api.Problem{Type: "about:blank", Title: "Internal Server Error", Status: 500, Detail: "the answer was 500 Internal Server Error"},
		},
		"plain text": {
			503, "text/plain; charset=utf-8", "\n draining \nsecond line",
			api.Problem{Type: "about:blank", Title: "Service Unavailable", Status: 503, Detail: "the answer was 503 Service Unavailable: draining"},
		},
		"very long plain text": {
			503, "text/plain", strings.Repeat("x", 5000),
			api.Problem{Type: "about:blank", Title: "Service Unavailable", Status: 503,
				Detail: "the answer was 503 Service Unavailable: " + strings.Repeat("x", 200) + "..."},
		},
		"a page": {
			502, "text/html", "<html>no</html>",
			api.Problem{Type: "about:blank", Title: "Bad Gateway", Status: 502, Detail: "the answer was 502 Bad Gateway"},
		},
		"a redirect": {
			301, "text/html", "",
			api.Problem{Type: "about:blank", Title: "Moved Permanently", Status: 301, Detail: "the answer was 301 Moved Permanently"},
		},
		"a success that is none of this API": {
			204, "", "",
			api.Problem{Type: "about:blank", Title: "No Content", Status: 204, Detail: "the answer was 204 No Content"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client.Client{Socket: serve(t, answer(test.status, test.contentType, test.body))}
			for call, do := range calls {
				_, err := do(t.Context(), c)
				var got *api.Problem
				if !errors.As(err, &got) {
					t.Fatalf("%s: error %v is no problem", call, err)
				}
				if diff := cmp.Diff(test.want, *got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", call, diff)
				}
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	dead := filepath.Join(t.TempDir(), "dead")
	listener, err := net.Listen("unix", dead)
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	listener.Close()

	missing := filepath.Join(t.TempDir(), "missing")
	for name, test := range map[string]struct {
		socket string
		reason error
		text   string
	}{
		"missing":        {missing, fs.ErrNotExist, "connecting to " + missing + ": connect: no such file or directory"},
		"nobody listens": {dead, syscall.ECONNREFUSED, "connecting to " + dead + ": connect: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			for call, do := range calls {
				_, err := do(t.Context(), &client.Client{Socket: test.socket})
				var unreachable *client.Unreachable
				if !errors.As(err, &unreachable) || unreachable.Socket != test.socket {
					t.Fatalf("%s: error %v is not Unreachable with its socket", call, err)
				}
				if !errors.Is(err, test.reason) {
					t.Errorf("%s: error %v does not unwrap to %v", call, err, test.reason)
				}
				if err.Error() != test.text {
					t.Errorf("%s: text %q, want %q", call, err, test.text)
				}
			}
		})
	}
}

func TestBrokenAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		limit   int64
		want    string
	}{
		"larger than the limit":           {answer(200, "application/json", `{"version":"v1"}`), 10, "larger than 10 bytes"},
		"a refusal larger than the limit": {answer(400, api.ProblemType, `{"detail":"12345678"}`), 10, "larger than 10 bytes"},
		"not JSON":                        {answer(200, "text/html", `<html>`), 0, "decoding the answer"},
		"more than one value":             {answer(200, "application/json", `{} {}`), 0, "decoding the answer"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"version":`)
		}, 0, "reading the answer"},
		"closed without a word": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client.Client{Socket: serve(t, test.handler), MaxAnswer: test.limit}
			_, err := c.Status(t.Context())
			if err == nil || !strings.HasPrefix(err.Error(), "calling GET /v1/status: ") || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want one of GET /v1/status about %q", err, test.want)
			}
		})
	}
}

// What answers without a pool is not the admin API, whatever status it gives.
func TestAnswerWithoutAPool(t *testing.T) {
	for _, body := range []string{`{}`, `null`, `{"upstreams":[]}`} {
		c := &client.Client{Socket: serve(t, answer(200, "application/json", body))}
		for _, call := range []string{"upstream", "set members"} {
			if _, err := calls[call](t.Context(), c); err == nil || !strings.Contains(err.Error(), "there is no pool in it") {
				t.Errorf("%s answered with %s: error %v", call, body, err)
			}
		}
	}
}

func TestAnswerOfExactlyTheLimit(t *testing.T) {
	const text = `{"version":"v1"}`
	c := &client.Client{Socket: serve(t, answer(200, "application/json", text)), MaxAnswer: int64(len(text))}
	if _, err := c.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestContextEnds(t *testing.T) {
	hang := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	caused, cancelCause := context.WithCancelCause(t.Context())
	cancelCause(errors.New("the user went home"))
	for name, test := range map[string]struct {
		ctx  context.Context
		c    client.Client
		want error
	}{
		"timeout of the client":    {t.Context(), client.Client{Socket: hang, Timeout: 20 * time.Millisecond}, context.DeadlineExceeded},
		"canceled before":          {canceled, client.Client{Socket: hang}, context.Canceled},
		"canceled with a cause":    {caused, client.Client{Socket: hang}, context.Canceled},
		"canceled, daemon is gone": {canceled, client.Client{Socket: "/nowhere"}, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.c.Status(test.ctx)
			if !errors.Is(err, test.want) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
		})
	}
}

// No call is made for these: the paths would mean another route.
func TestNamesThatNoPathCarries(t *testing.T) {
	c := &client.Client{Socket: serve(t, func(http.ResponseWriter, *http.Request) { t.Error("called") })}
	for _, name := range []string{"", ".", ".."} {
		_, get := c.Upstream(t.Context(), name)
		_, put := c.SetMembers(t.Context(), name, nil)
		_, rehearse := c.Rehearse(t.Context(), name, "", nil)
		_, explain := c.Explain(t.Context(), name, client.Asked{})
		_, preview := c.Preview(t.Context(), name, nil, nil)
		for _, err := range []error{get, put, rehearse, explain, preview} {
			var problem *api.Problem
			if !errors.As(err, &problem) || problem.Status != 404 || problem.Code != api.CodePoolNotFound {
				t.Errorf("%q: error %v, want a 404 problem", name, err)
			}
		}
	}
}

// The daemon would answer 413 without reading, and the answer could get lost: no call is made.
func TestBodyOverTheLimit(t *testing.T) {
	c := &client.Client{Socket: serve(t, func(http.ResponseWriter, *http.Request) { t.Error("called") })}
	members := make([]api.SetMember, 10_000)
	for i := range members {
		members[i].Address = strings.Repeat("a", 250) + ":1"
	}
	_, err := c.SetMembers(t.Context(), "api", members)
	var problem *api.Problem
	if !errors.As(err, &problem) || problem.Status != 413 || problem.Code != api.CodeBodyTooLarge {
		t.Fatalf("error %v, want a 413 problem", err)
	}
}
