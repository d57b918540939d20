package admin

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scalws/scalws/pkg/api"
)

// A body that comes too slowly is refused when the server's time for it is over, and has changed nothing.
func TestSlowBody(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture, dial func() net.Conn) {
		conn := dial()
		begun, written := time.Now(), make(chan struct{})
		go func() {
			defer close(written)
			_, err := io.WriteString(conn, "PUT /v1/upstreams/api HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"+`{"members": []`)
			for err == nil {
				<-time.After(time.Second)
				_, err = io.WriteString(conn, " ")
			}
		}()
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		f.expectProblem(t, res, 400, api.CodeInvalidBody, "body: incomplete when the time for it was over")
		if waited := time.Since(begun); waited != time.Minute {
			t.Errorf("answered after %v", waited)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		<-written
	})
}

// FuzzRequest gives whole requests to the API. Whatever they are, the answer is what the description says, a
// refusal is a problem and has changed nothing, and nothing is our fault.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"GET /v1/upstreams HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /v1/upstreams/ip/explain?client_ip=::1%25x HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /v1/upstreams/header/explain?header=a%00b&header=c HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /v1/events?pool=api&since=18446744073709551615 HTTP/1.1\r\nHost: x\r\n\r\n",
		"PUT /v1/upstreams/api?dry_run=true HTTP/1.1\r\nHost: x\r\nIf-Match: \"3f9a1c.7\"\r\nContent-Length: 15\r\n\r\n{\"members\": []}",
		"PUT /v1/upstreams/api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n{\"members\": []}\r\n0\r\n\r\n",
		"POST /v1/upstreams/ip/preview HTTP/1.1\r\nHost: x\r\nContent-Length: 29\r\n\r\n{\"members\": [],\"keys\":[\"::\"]}",
		"HEAD /metrics?x HTTP/1.0\r\n\r\n",
		"BREW //v1/../upstreams/%2e HTTP/1.1\r\nHost: x\r\nOrigin: null\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(text))))
		if err != nil {
			return
		}
		r.Header.Del("Accept") // a stream does not end
		api := newFixture(t)
		before := newFixture(t).runtime.pools
		w := httptest.NewRecorder()
		api.handler.ServeHTTP(w, r)
		api.expectDescribed(r, w)
		if w.Code == http.StatusOK {
			return
		}
		if w.Code >= 500 || w.Code < 400 {
			t.Errorf("answered %d", w.Code)
		}
		if diff := cmp.Diff(before, api.runtime.pools, cmpopts.IgnoreFields(PoolView{}, "Engine")); diff != "" || len(api.runtime.calls) > 0 {
			t.Errorf("a refused request changed the pools: %s", diff)
		}
		problem := new(struct{ Status int })
		if err := json.Unmarshal(w.Body.Bytes(), problem); err != nil || problem.Status != w.Code {
			t.Errorf("%d with %q: %v", w.Code, w.Body, err)
		}
	})
}

func FuzzDecodePreview(f *testing.F) {
	for _, seed := range []string{
		`{"members": []}`, `{"members": [{"address": "a:1"}], "keys": ["x", "\u0000"]}`, `{"keys": [1], "members": []}`, `{"keys": {}}`,
		`{"members": [], "keys": [""], "keys": []}`, `{"keys": ["x"]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		members, keys, err := decodePreview(body, false)
		if err != nil {
			return
		}
		// What is accepted, encoding/json reads too, and as the same lists.
		var plain api.PreviewMembers
		if err := json.Unmarshal(body, &plain); err != nil || len(plain.Members) != len(members) {
			t.Fatalf("%v, %d members of %d", err, len(members), len(plain.Members))
		}
		if diff := cmp.Diff(plain.Keys, keys, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}
