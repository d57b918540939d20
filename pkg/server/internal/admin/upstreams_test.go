package admin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

func TestSetMembers(t *testing.T) {
	f := newFixture(t)
	res := f.do("PUT", "/v1/upstreams/api", `{"members": [{"address": "192.0.2.5:8080", "weight": 2}, {"address": "API-1.Internal:80"}]}`,
		"Content-Type", "application/x-www-form-urlencoded")
	u := decode[api.Upstream](t, res)
	wantMembers := []api.Member{
		{Address: "192.0.2.5:8080", Weight: 2, State: api.StateUp},
		{Address: "api-1.internal:80", Weight: 1, State: api.StateUp},
	}
	if diff := cmp.Diff(wantMembers, u.Members); diff != "" {
		t.Error(diff)
	}
	if u.Revision != 8 || res.Header.Get("ETag") != `"3f9a1c.8"` {
		t.Errorf("revision %d, ETag %s", u.Revision, res.Header.Get("ETag"))
	}
	wantCall := [][]lb.Member{{{Address: "192.0.2.5:8080", Weight: 2}, {Address: "api-1.internal:80", Weight: 1}}}
	if diff := cmp.Diff(wantCall, f.runtime.calls); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"uid=1000 gid=100 pid=4242"}, f.runtime.actors); diff != "" {
		t.Error(diff)
	}
	want := []string{`"set_members","pool":"api","who":{"uid":1000,"gid":100,"pid":4242},"from":"socket",` +
		`"revision_before":7,"revision_after":8,"result":"done","detail":"2 members"}`}
	if diff := cmp.Diff(want, f.lines()); diff != "" {
		t.Error(diff)
	}
	if f.runtime.saves != 1 {
		t.Errorf("%d saves", f.runtime.saves)
	}
}

func TestSetMembersEmptyList(t *testing.T) {
	f := newFixture(t)
	res := f.do("PUT", "/v1/upstreams/api", `{"members": []}`)
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || !strings.Contains(string(b), `"members":[]`) || len(f.runtime.calls) != 1 {
		t.Errorf("%s: %s", res.Status, b)
	}
}

func TestSetMembersRefused(t *testing.T) {
	const valid = `{"members": [{"address": "192.0.2.5:8080"}]}`
	large := strings.Repeat(" ", api.MaxBody+1)
	tests := []struct {
		name, target, body string
		header             []string
		status             int
		code, detail       string
	}{
		{"no pool", "/v1/upstreams/none", valid, nil, 404, api.CodePoolNotFound, `there is no pool "none"`},
		{"no pool before body", "/v1/upstreams/none", large, nil, 404, api.CodePoolNotFound, `there is no pool "none"`},
		{"slash in the name", "/v1/upstreams/a%2Fb", valid, nil, 404, api.CodePoolNotFound, `there is no pool "a/b"`},
		{"no pool before 501", "/v1/upstreams/none", valid, nil, 404, api.CodePoolNotFound, `there is no pool "none"`},
		{"from file", "/v1/upstreams/file", valid, nil, 409, api.CodeMembersFromFile, "pool file takes its members from the configuration file (members_from: file)"},
		{"from file before body", "/v1/upstreams/file", large, nil, 409, api.CodeMembersFromFile, "pool file takes its members from the configuration file (members_from: file)"},
		{"too large", "/v1/upstreams/api", large, nil, 413, api.CodeBodyTooLarge, "body: larger than 2097152 bytes"},
		{"too large before query", "/v1/upstreams/api?x=1", large, nil, 413, api.CodeBodyTooLarge, "body: larger than 2097152 bytes"},
		{"query", "/v1/upstreams/api?force=true", valid, nil, 400, api.CodeInvalidQuery, "query: unknown parameter force: this call takes dry_run"},
		{"dry run of another kind", "/v1/upstreams/api?dry_run", valid, nil, 400, api.CodeInvalidQuery, "query: dry_run must be true or false"},
		{"dry run twice", "/v1/upstreams/api?dry_run=true&dry_run=true", valid, nil, 400, api.CodeInvalidQuery, "query: dry_run is given twice"},
		{"weight", "/v1/upstreams/api", `{"members": [{"address": "a:1"}, {"address": "b:1", "weight": 0}]}`, nil, 400, api.CodeInvalidMembers, "members[1].weight: must be between 1 and 1000"},
		{"400 before 412", "/v1/upstreams/api", "{}", []string{"If-Match", `"other.1"`}, 400, api.CodeInvalidBody, `body: "members" is missing: must be ` + bodyForm},
		{"If-None-Match any", "/v1/upstreams/api", valid, []string{"If-None-Match", "*"}, 412, api.CodePreconditionFailed, `If-None-Match names pool api as it is: its ETag is "3f9a1c.7"`},
		{"If-None-Match weak", "/v1/upstreams/api", valid, []string{"If-None-Match", `"other.1", W/"3f9a1c.7"`}, 412, api.CodePreconditionFailed, `If-None-Match names pool api as it is: its ETag is "3f9a1c.7"`},
		{"If-Match", "/v1/upstreams/api", valid, []string{"If-Match", `"3f9a1c.6", W/"3f9a1c.7"`}, 412, api.CodePreconditionFailed, `pool api has changed: its ETag is "3f9a1c.7" now`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.expectProblem(t, f.do("PUT", tt.target, tt.body, tt.header...), tt.status, tt.code, tt.detail)
			before := 7
			if tt.status == 404 {
				before = 0
			}
			want := fmt.Sprintf(`"revision_before":%d,"revision_after":%d,"result":"refused","detail":`, before, before)
			if lines := f.lines(); len(lines) != 1 || !strings.Contains(lines[0], want) {
				t.Errorf("audit: %q, want one line with %s", lines, want)
			}
			if f.runtime.saves != 0 {
				t.Error("what was not changed was saved")
			}
		})
	}
}

func TestSetMembersIfMatch(t *testing.T) {
	for _, match := range []string{`"3f9a1c.7"`, "*", `"x", "3f9a1c.7"`} {
		f := newFixture(t)
		if res := f.do("PUT", "/v1/upstreams/api", `{"members": []}`, "If-Match", match); res.StatusCode != http.StatusOK {
			t.Errorf("If-Match: %s: %s", match, res.Status)
		}
	}
}

func TestSetMembersIfNoneMatch(t *testing.T) {
	f := newFixture(t)
	if res := f.do("PUT", "/v1/upstreams/api", `{"members": []}`, "If-None-Match", `"3f9a1c.6"`); res.StatusCode != http.StatusOK {
		t.Errorf("with the tag of an earlier state: %s", res.Status)
	}
}

// Of several who saw the same state, one may change it.
func TestSetMembersIfMatchIsAtomic(t *testing.T) {
	f := newFixture(t)
	statuses := make(chan int, 50)
	var group sync.WaitGroup
	for range cap(statuses) {
		group.Go(func() {
			r := httptest.NewRequest("PUT", "/v1/upstreams/api", strings.NewReader(`{"members": []}`))
			r.Header.Set("If-Match", `"3f9a1c.7"`)
			w := httptest.NewRecorder()
			f.handler.ServeHTTP(w, r)
			statuses <- w.Code
		})
	}
	group.Wait()
	close(statuses)
	counts := map[int]int{}
	for status := range statuses {
		counts[status]++
	}
	if diff := cmp.Diff(map[int]int{200: 1, 412: cap(statuses) - 1}, counts); diff != "" {
		t.Error(diff)
	}
}

// A reload may come between the check and the change.
func TestSetMembersRuntimeRefuses(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		status int
		code   string
		result string
	}{
		{"no pool", fmt.Errorf("setting members: %w", ErrNoPool), 404, api.CodePoolNotFound, "refused"},
		{"from file", ErrFromFile, 409, api.CodeMembersFromFile, "refused"},
		{"member", lb.MemberError{Index: 0, Field: "address", Message: "is a unix socket"}, 400, api.CodeInvalidMembers, "refused"},
		{"other", errors.New("secret cause"), 500, api.CodeInternal, "failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.runtime.err = tt.err
			res := f.do("PUT", "/v1/upstreams/api", `{"members": []}`)
			p := decode[api.Problem](t, res)
			if p.Status != tt.status || p.Code != tt.code || res.StatusCode != tt.status || strings.Contains(p.Detail, "secret") {
				t.Errorf("%+v", p)
			}
			if lines := f.lines(); len(lines) != 1 || !strings.Contains(lines[0], `"result":"`+tt.result+`"`) {
				t.Errorf("audit: %q", lines)
			}
		})
	}
}

func TestAuditHoldsHostileNames(t *testing.T) {
	f := newFixture(t)
	f.do("PUT", "/v1/upstreams/a%0aforged%20"+strings.Repeat("x", 4000), `{"members": []}`)
	if n := strings.Count(f.audit.String(), "\n"); n != 1 || len(f.audit.String()) > 1500 {
		t.Errorf("%d lines, %d bytes: %s", n, len(f.audit.String()), f.audit.String())
	}
}

func TestAuditFrom(t *testing.T) {
	f := newFixture(t)
	r := httptest.NewRequest("PUT", "/v1/upstreams/api", strings.NewReader(`{"members": []}`))
	r.RemoteAddr = "[2001:db8::1]:4711"
	f.handler.ServeHTTP(httptest.NewRecorder(), r)
	if want := `"who":{},"from":"[2001:db8::1]:4711"`; !strings.Contains(f.audit.String(), want) {
		t.Errorf("audit without %q: %s", want, f.audit.String())
	}
}

// serveSocket serves the fixture on a unix socket, as the daemon does.
func serveSocket(t *testing.T, f *fixture) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "admin.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{
		Handler:           f.handler,
		ReadHeaderTimeout: 10 * time.Second,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return WithPeer(ctx, Peer{UID: 7, GID: 8, PID: 9})
		},
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(listener) }()
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return socket
}

// A body above the limit is answered while the client has sent none of it, or just as much as shows that
// it is too large, and the connection is closed.
func TestTooLargeIsAnsweredAtOnce(t *testing.T) {
	chunk := strings.Repeat("x", 1<<20)
	tests := []struct{ name, head, sent string }{
		{"known length", "Content-Length: 3000000\r\n\r\n", ""},
		{"known length, expecting 100", "Content-Length: 3000000\r\nExpect: 100-continue\r\n\r\n", ""},
		{"chunked", "Transfer-Encoding: chunked\r\n\r\n", strings.Repeat("100000\r\n"+chunk+"\r\n", 2) + "1\r\nx"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			conn, err := net.Dial("unix", serveSocket(t, f))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, "PUT /v1/upstreams/api HTTP/1.1\r\nHost: localhost\r\n"+tt.head+tt.sent); err != nil {
				t.Fatal(err)
			}
			reader := bufio.NewReader(conn)
			res, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			f.expectProblem(t, res, 413, api.CodeBodyTooLarge, "body: larger than 2097152 bytes")
			if !res.Close {
				t.Error("the answer does not say that the connection closes")
			}
			if _, err := reader.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("after the answer: %v, want the end", err)
			}
		})
	}
}

// A client that goes away in the middle of its body has changed nothing.
func TestIncompleteBody(t *testing.T) {
	f := newFixture(t)
	conn, err := net.Dial("unix", serveSocket(t, f))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "PUT /v1/upstreams/api HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n"+`{"members": []}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	f.expectProblem(t, res, 400, api.CodeInvalidBody, "body: incomplete: unexpected EOF")
}
