package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
)

// attempts is what became of a request whose attempts fail one after the other.
type attempts struct {
	Status      int
	Body        string
	Attempts    float64
	Last        int    // which member is in the log
	Asked       []int  // requests of each member
	Resends     string // scalws_upstream_retries_total
	Retries     string // scalws_upstream_pool_retries_total
	Failures    []int  // in a row, of each member
	LastFailure string // of the first member
}

// R05, R09, R13: chains of attempts of different kinds.
func TestChainsOfAttempts(t *testing.T) {
	down := (*servertest.Member).Down
	script := func(s ...servertest.Step) func(*servertest.Member) {
		return func(m *servertest.Member) { m.Script(s...) }
	}
	fail := script(servertest.Answer{Status: 503, Body: "full"})
	hang := script(servertest.Hold(servertest.Answer{Body: "late"}))
	// closing has kept the connection of an earlier request, and closes it when the next one comes.
	stale := func(then func(*servertest.Member)) func(*servertest.Member) {
		return func(m *servertest.Member) {
			m.Script(servertest.CloseUnread())
			then(m)
		}
	}
	endless := script(servertest.Do(func(x *servertest.Exchange) {
		fmt.Fprint(x, "HTTP/1.1 503 Full\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
		x.WaitRelease()
		x.Close()
	}))
	for _, row := range []struct {
		name   string
		pool   string
		faults []func(*servertest.Member) // nil answers with its name
		warm   bool                       // each member has an idle connection, for more than a second
		method string
		want   attempts
	}{
		{"503, a reset, an answer", "retries: 2", []func(*servertest.Member){fail, script(servertest.Reset()), nil}, false, "GET",
			attempts{200, "c", 3, 2, []int{1, 1, 1}, "0", "2", []int{1, 1, 0}, "status_503"}},
		{"503, a reset, and no more retries", "retries: 1", []func(*servertest.Member){fail, script(servertest.Reset()), nil}, false, "GET",
			attempts{502, "", 2, 1, []int{1, 1, 0}, "0", "1", []int{1, 1, 0}, "status_503"}},
		{"refused, then 503, to POST", "retries: 2", []func(*servertest.Member){down, fail, nil}, false, "POST",
			attempts{503, "full", 2, 1, []int{0, 1, 0}, "0", "1", []int{1, 1, 0}, "connect_refused"}},
		{"garbage, a timeout, then 503", "retries: 5", []func(*servertest.Member){script(servertest.Raw("junk\r\n\r\n")), hang, fail}, false, "PUT",
			attempts{503, "full", 3, 2, []int{1, 1, 1}, "0", "2", []int{1, 1, 1}, "malformed_response"}},
		{"503, a timeout", "retries: 5", []func(*servertest.Member){fail, hang}, false, "GET",
			attempts{504, "", 2, 1, []int{1, 1}, "0", "1", []int{1, 1}, "status_503"}},
		{"a timeout, then an answer", "retries: 1", []func(*servertest.Member){hang, nil}, false, "DELETE",
			attempts{200, "b", 2, 1, []int{1, 1}, "0", "1", []int{1, 0}, "response_timeout"}},
		{"503 with a body that does not end", "retries: 1", []func(*servertest.Member){endless, nil}, false, "GET",
			attempts{200, "b", 2, 1, []int{1, 1}, "0", "1", []int{1, 0}, "status_503"}},
		{"stale", "retries: 1", []func(*servertest.Member){stale(func(*servertest.Member) {}), nil}, true, "DELETE",
			attempts{200, "a", 1, 0, []int{2, 1}, "1", "0", []int{0, 0}, ""}},
		{"stale, then refused", "retries: 1", []func(*servertest.Member){stale(down), nil}, true, "GET",
			attempts{200, "b", 2, 1, []int{1, 2}, "1", "1", []int{1, 0}, "connect_refused"}},
		{"stale, then closed", "retries: 1", []func(*servertest.Member){stale(script(servertest.Close())), nil}, true, "HEAD",
			attempts{200, "", 2, 1, []int{2, 2}, "1", "1", []int{1, 0}, "reset"}},
		{"stale, then 503", "retries: 0", []func(*servertest.Member){stale(fail), nil}, true, "OPTIONS",
			attempts{503, "full", 1, 0, []int{2, 1}, "1", "0", []int{1, 0}, "status_503"}},
		{"stale, to POST without a body", "retries: 1", []func(*servertest.Member){stale(func(*servertest.Member) {}), nil}, true, "POST",
			attempts{502, "", 1, 0, []int{1, 1}, "0", "0", []int{1, 0}, "reset"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := named(t, []string{"a", "b", "c"}[:len(row.faults)]...)
			d := servertest.Start(t, servertest.Setup{
				Members: addresses(m), Pool: []string{row.pool},
				Runtime: "{type: proxy, upstream: {pool: p}, preserve_host: false, response_timeout: 500ms}",
			})
			lines := 1
			if row.warm {
				for range m {
					d.Get("/warm")
				}
				lines += len(m)
				d.Lines(len(m)) // the log has no order over connections
				pass(d, time.Now(), 1100*time.Millisecond)
			}
			for i, fault := range row.faults {
				if fault != nil {
					fault(m[i])
				}
			}
			c := servertest.Dial(t, d.Address)
			c.Send(row.method + " / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 0\r\n\r\n")
			r := c.Final(row.method)
			line := d.Lines(lines)[lines-1]
			got := attempts{
				Status: r.Status, Body: r.Body, Attempts: line["upstream_attempts"].(float64),
				Resends: d.Metric(`scalws_upstream_retries_total{application="a",protocol="h1",tenant="t"}`),
				Retries: d.Metric(`scalws_upstream_pool_retries_total{pool="p"}`),
			}
			if strings.Contains(r.Body, "the member did not") || strings.Contains(r.Body, "no connection") {
				got.Body = "" // ours
			}
			ids := map[string]bool{}
			for i, member := range m {
				if line["upstream_member"] == member.Address() {
					got.Last = i
				}
				all := member.Requests()
				got.Asked = append(got.Asked, len(all))
				for _, r := range all {
					if r.Target == "/" {
						ids[r.Header.Get("X-Request-Id")] = true
					}
					if r.Host != member.Address() {
						t.Errorf("member %d was asked for %s", i, r.Host)
					}
				}
				got.Failures = append(got.Failures, show(t, d).Members[i].ConsecutiveFailures)
			}
			got.LastFailure = show(t, d).Members[0].LastFailure
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(ids) > 1 {
				t.Errorf("the attempts had the ids %v", ids)
			}
			// What is left of an attempt that was given up does not answer anybody else.
			for _, member := range m {
				member.Release()
				member.Up()
			}
			for range 2 * len(m) {
				if r := d.Get("/"); r.Status != 200 || len(r.Body) != 1 {
					t.Errorf("afterwards: %s%s", r.Head, r.Body)
				}
			}
		})
	}
}
