package chaos

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// tale makes a story of a GET to a pool of two members with one retry, answered well by the first; each case changes
// what is different.
type tale struct {
	*story
	a, b *member
	f    facts
}

func newTale() *tale {
	p := &pool{name: "p", retries: 1, failures: 3}
	t := &tale{a: &member{address: "a:1", pool: p}, b: &member{address: "b:1", pool: p}}
	p.members = []*member{t.a, t.b}
	at := time.Unix(1000, 0)
	t.story = &story{
		request: &request{id: "soak-1", pool: p, method: "GET", framing: noBody, sum: "s"},
		seen:    &seen{span: span{at, at.Add(time.Second)}, answered: true, status: 200, id: "soak-1", member: "a:1", checksum: "s", wrong: -1, got: 5, expected: 5},
		lines:   []line{{Status: 200, Attempts: 1, Member: "a:1", Pool: "p"}},
	}
	t.gets(t.a, act{status: 200})
	return t
}

// gets lets a member receive the request and do something.
func (t *tale) gets(m *member, a act) *receipt {
	r := &receipt{story: t.story, member: m, act: &a, at: t.seen.from}
	if !a.fault.silent() {
		r.done = t.seen.to
	}
	t.receipts = append(t.receipts, r)
	return r
}

// fails lets the first member fail, and the daemon answer that itself.
func (t *tale) fails(f fault, status, attempts int) {
	t.receipts = nil
	t.gets(t.a, act{fault: f, status: 200})
	t.ours(status, attempts)
}

func (t *tale) ours(status, attempts int) {
	t.seen.status, t.seen.member = status, ""
	t.lines[0].Status, t.lines[0].Attempts = status, attempts
}

func TestJudge(t *testing.T) {
	post := func(t *tale) { t.request.method = "POST" }
	body := func(size int64, how framing) func(*tale) {
		return func(t *tale) { t.request.method, t.request.framing, t.request.size = "PUT", how, size }
	}
	spare := func(t *tale) { t.f.spare = []string{"b:1"} }
	silent := func(t *tale) { t.fails(resetSilent, 502, 1) }
	hangs := func(t *tale) { t.fails(hangSilent, 504, 1) }
	says503 := func(t *tale) {
		t.receipts[0].act.status, t.seen.status, t.lines[0].Status = 503, 503, 503
	}
	second := func(t *tale) {
		t.gets(t.b, act{status: 200})
		t.seen.member, t.lines[0].Attempts, t.lines[0].Member = "b:1", 2, "b:1"
	}
	unseen := func(t *tale) { t.receipts = nil; t.ours(502, 1); t.f.blind = 1 }

	for _, c := range []struct {
		name string
		want string // a verdict, or what the error has in it
		make []func(*tale)
	}{
		{"answered", string(served1st), nil},
		{"rescued", string(rescued), []func(*tale){func(t *tale) { t.receipts[0].act.fault, t.receipts[0].done = resetSilent, time.Time{} }, second}},
		{"head in time", string(nobody), []func(*tale){hangs}},

		{"wrong body upstream", "wrong request", []func(*tale){func(t *tale) { t.receipts[0].wrong = "byte 3" }}},
		{"wrong body downstream", "byte 3 of the answer", []func(*tale){func(t *tale) { t.seen.wrong = 3 }}},
		{"wrong checksum", "the member got checksum", []func(*tale){func(t *tale) { t.seen.checksum = "other" }}},
		{"somebody else's answer", "is that of request soak-2", []func(*tale){func(t *tale) { t.seen.id = "soak-2" }}},
		{"wrong status", "the member sent 200", []func(*tale){func(t *tale) { t.seen.status, t.lines[0].Status = 201, 201 }}},
		{"lost trailer", "trailer", []func(*tale){func(t *tale) { t.seen.wanted = "soak-1" }}},
		{"answer of nobody", "did not have the request", []func(*tale){func(t *tale) { t.seen.member, t.lines[0].Member = "b:1", "b:1" }}},
		{"cut short as if whole", "as if whole", []func(*tale){func(t *tale) { t.seen.got = 4; t.receipts[0].act.fault = breakBody }}},
		{"broken by the member", string(brokenByIt), []func(*tale){func(t *tale) { t.seen.err = errLeft; t.receipts[0].act.fault = breakBody }}},
		{"broken by the daemon", "did not break it", []func(*tale){func(t *tale) { t.seen.err = errLeft }}},
		{"no answer", "no answer", []func(*tale){func(t *tale) { t.seen.answered, t.seen.err = false, errors.New("EOF") }}},

		{"not retried with a member left", "given up", []func(*tale){silent, spare}},
		{"503 passed on with a member left", "given up", []func(*tale){says503, spare}},
		{"504 passed on with a member left", "given up", []func(*tale){hangs, spare}},
		{"kept body not sent again", "given up", []func(*tale){silent, spare, body(64<<10, length)}},
		{"larger body", string(once), []func(*tale){silent, spare, body(64<<10+1, length)}},
		{"chunked body", string(once), []func(*tale){silent, spare, body(3, chunked)}},
		{"written POST", string(once), []func(*tale){silent, spare, post}},
		{"refused POST", "given up", []func(*tale){unseen, spare, post}},
		{"POST that may have been written", string(once), []func(*tale){unseen, spare, post, func(t *tale) { t.f.cut = true }}},
		{"retries used up", string(usedUp), []func(*tale){silent, spare, func(t *tale) { t.lines[0].Attempts = 2; t.f.blind = 1 }}},
		{"nobody left", string(nobody), []func(*tale){silent}},
		{"after a 1xx", string(afterFirst), []func(*tale){silent, spare, func(t *tale) { t.seen.interims = []string{"a:1"} }}},
		{"rebuilt", string(newPool), []func(*tale){silent, spare, func(t *tale) { t.f.rebuilt = true }}},
		{"stood still", string(stoodStill), []func(*tale){silent, spare, func(t *tale) { t.f.stalled = true }}},

		{"502 for no reason", "no member failed", []func(*tale){func(t *tale) { t.ours(502, 1) }}},
		{"504 for no reason", "no member hung", []func(*tale){func(t *tale) { t.fails(resetSilent, 504, 1) }}},
		{"504 at once", "sooner than any timeout", []func(*tale){hangs, func(t *tale) { t.seen.to = t.seen.from }}},
		{"503 for no reason", "not empty", []func(*tale){func(t *tale) { t.receipts = nil; t.ours(503, 0) }}},
		{"503 of an empty list", string(noMembers), []func(*tale){func(t *tale) { t.receipts = nil; t.ours(503, 0); t.f.emptied = true }}},
		{"400", "400 Bad Request", []func(*tale){func(t *tale) { t.ours(400, 1) }}},

		{"POST written twice", "written 2 times", []func(*tale){post, second}},
		{"streamed body sent twice", "sent 2 times", []func(*tale){body(64<<10+1, length), second}},
		{"sent again after a success", "had answered for good", []func(*tale){second}},
		{"sent again after a 1xx", "after the client had a 1xx", []func(*tale){second, func(t *tale) {
			t.receipts[0].act.fault, t.receipts[0].waited, t.seen.interims = resetSilent, true, []string{"a:1"}
		}}},
		{"the same member twice", "had not closed the connection", []func(*tale){func(t *tale) { t.receipts[0].act.fault = hangSilent; t.gets(t.a, act{status: 200}) }}},
		{"a stale connection", string(rescued), []func(*tale){func(t *tale) {
			t.receipts[0].act.fault, t.receipts[0].done = closeSilent, time.Time{}
			t.gets(t.a, act{status: 200})
		}}},
		{"too many members", "2 members were tried", []func(*tale){second, func(t *tale) { t.request.pool.retries = 0 }}},
		{"not in the list", "which the list did not have", []func(*tale){func(t *tale) { t.f.strangers = []string{"a:1"} }}},
		{"against the cookie", "the cookie names b:1", []func(*tale){func(t *tale) { t.request.owner, t.f.owned = "b:1", true }}},
		{"the cookie's member died", string(rescued), []func(*tale){second, func(t *tale) {
			t.request.owner, t.f.owned, t.receipts[0].died = "a:1", true, true
			t.receipts[0].act.fault = resetSilent
		}}},

		{"no line", "0 lines", []func(*tale){func(t *tale) { t.lines = nil }}},
		{"two lines", "2 lines", []func(*tale){func(t *tale) { t.lines = append(t.lines, t.lines[0]) }}},
		{"line with another status", "says 499", []func(*tale){func(t *tale) { t.lines[0].Status = 499 }}},
		{"line with attempts that nobody saw", "no more than 0 can have failed unseen", []func(*tale){func(t *tale) { t.lines[0].Attempts = 2 }}},
		{"line with another member", "says member b:1", []func(*tale){func(t *tale) { t.lines[0].Member = "b:1" }}},
		{"left", string(left), []func(*tale){func(t *tale) { t.request.leaves, t.lines, t.seen.answered = resetUpload, nil, false }}},
		{"left, and the body was taken for whole", "wrong request", []func(*tale){func(t *tale) {
			t.request.leaves, t.receipts[0].wrong = resetUpload, "whole"
		}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tale := newTale()
			for _, change := range c.make {
				change(tale)
			}
			got, err := tale.judge(tale.f)
			switch {
			case err == nil && string(got) != c.want:
				t.Errorf("verdict %q, want %q", got, c.want)
			case err != nil && !strings.Contains(err.Error(), c.want):
				t.Errorf("error %q, want %q", err, c.want)
			}
		})
	}
}
