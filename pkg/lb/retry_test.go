package lb

import (
	"fmt"
	"testing"
	"time"
)

// TestShouldRetry is the contract's table, and every way out of it.
func TestShouldRetry(t *testing.T) {
	const (
		never      = "never"
		idempotent = "idempotent"
		always     = "always"
	)
	tests := []struct {
		name     string
		progress Progress
		outcome  Outcome
		want     string
	}{
		{"refused", NothingSent, Failure(ConnectRefused), always},
		{"connect timeout", NothingSent, Failure(ConnectTimeout), always},
		{"resolution", NothingSent, Failure(ConnectFailed), always},
		{"TLS", NothingSent, Failure(TLSFailed), always},
		{"closed before anything was written", NothingSent, Failure(Reset), always},
		{"502", HeadReceived, Failure(Status502), idempotent},
		{"503", HeadReceived, Failure(Status503), idempotent},
		{"504", HeadReceived, Failure(Status504), idempotent},
		{"no head in time", Sent, Failure(ResponseTimeout), idempotent},
		{"reset", Sent, Failure(Reset), idempotent},
		{"malformed", Sent, Failure(MalformedResponse), idempotent},
		{"body broke", HeadReceived, Failure(BodyBroken), never},
		{"reset in the body", HeadReceived, Failure(Reset), never},
		{"success", HeadReceived, Success(), never},
		{"client's fault before", NothingSent, Neutral(), never},
		{"client's fault", Sent, Neutral(), never},
		{"client's fault after", HeadReceived, Neutral(), never},
	}
	for _, test := range tests {
		for bits := range 16 {
			a := Attempt{
				Idempotent: bits&1 != 0, Replayable: bits&2 != 0, ClientStarted: bits&4 != 0, Upgrade: bits&8 != 0,
				Progress: test.progress, Outcome: test.outcome,
			}
			want := (test.want == always || test.want == idempotent && a.Idempotent) && a.Replayable && !a.ClientStarted && !a.Upgrade
			t.Run(fmt.Sprintf("%s/%04b", test.name, bits), func(t *testing.T) {
				if got := ShouldRetry(a); got != want {
					t.Errorf("%+v: %v, want %v", a, got, want)
				}
			})
		}
	}
}

func TestMayRetryCountsTheMembersTried(t *testing.T) {
	refused := Attempt{Replayable: true, Progress: NothingSent, Outcome: Failure(ConnectRefused)}
	for retries := range MaxRetries + 1 {
		p := newPool(t, "a b c d e f g", with(func(s *Settings) { s.Retries = retries }))
		var tried Tried
		attempts := 1
		pick(t, p, epoch, Key{}, &tried)
		for p.MayRetry(refused, &tried) {
			pick(t, p, epoch, Key{}, &tried)
			attempts++
		}
		if attempts != 1+retries {
			t.Errorf("retries: %d made %d attempts", retries, attempts)
		}
		if p.MayRetry(Attempt{Replayable: true, Outcome: Neutral()}, new(Tried)) {
			t.Error("a client's fault is tried again")
		}
	}
}

// A retry that finds no member takes nothing from the budget.
func TestRetryWithoutMemberIsFree(t *testing.T) {
	p := newPool(t, "a", with(func(s *Settings) { s.Budget = &RetryBudget{MinPerSecond: 1} }))
	var tried Tried
	pick(t, p, epoch, Key{}, &tried)
	for range 5 {
		if _, ok := p.Retry(epoch, Key{}, &tried); ok {
			t.Fatal("there is nobody else")
		}
	}
	if !p.RetryAllowed(epoch) {
		t.Error("the budget was charged for retries that were not made")
	}
}

func TestNoBudgetAllowsAll(t *testing.T) {
	p := newPool(t, "a", nil)
	for range 1000 {
		if !p.RetryAllowed(epoch) {
			t.Fatal("refused")
		}
	}
}

func TestRetryBudget(t *testing.T) {
	type step struct {
		after             time.Duration
		requests, retries int
		allowed           int
	}
	tests := []struct {
		name   string
		budget RetryBudget
		steps  []step
	}{
		{"nothing", RetryBudget{}, []step{{0, 100, 10, 0}}},
		{"a fifth of the requests", RetryBudget{Ratio: 0.2}, []step{
			{0, 4, 1, 0}, {0, 1, 5, 1}, {0, 95, 100, 19},
			{9 * time.Second, 0, 1, 0},
			{10 * time.Second, 10, 10, 2}, // the first second is out of the window
		}},
		{"all", RetryBudget{Ratio: 1}, []step{{0, 3, 9, 3}}},
		{"a minimum each second", RetryBudget{MinPerSecond: 2}, []step{
			{0, 0, 5, 2}, {999 * time.Millisecond, 0, 5, 0}, {time.Second, 0, 5, 2}, {2 * time.Second, 0, 5, 2},
		}},
		{"both", RetryBudget{Ratio: 0.1, MinPerSecond: 3}, []step{
			{0, 10, 5, 3}, {0, 30, 5, 1}, {time.Second, 0, 5, 3}, {2 * time.Second, 100, 20, 7},
		}},
		{"an hour later", RetryBudget{Ratio: 0.5}, []step{{0, 10, 0, 0}, {time.Hour, 4, 9, 2}, {time.Hour, 2, 9, 1}}},
		{"times before", RetryBudget{Ratio: 0.5}, []step{{time.Minute, 10, 0, 0}, {0, 0, 9, 5}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPool(t, "a b c", with(func(s *Settings) { s.Budget = &test.budget }))
			for n, s := range test.steps {
				for range s.requests {
					var tried Tried
					pick(t, p, after(s.after), Key{}, &tried)
					for range 2 { // retries are no requests
						pick(t, p, after(s.after), Key{}, &tried)
					}
				}
				allowed := 0
				for range s.retries {
					may := p.RetryAllowed(after(s.after))
					var tried Tried
					tried.add(p.roster.Load().members[0])
					_, made := p.Retry(after(s.after), Key{}, &tried)
					if made != may {
						t.Fatalf("step %d: allowed %v, made %v", n, may, made)
					}
					if made {
						allowed++
					}
				}
				if allowed != s.allowed {
					t.Errorf("step %d: %d of %d allowed, want %d", n, allowed, s.retries, s.allowed)
				}
			}
		})
	}
}

func TestCauses(t *testing.T) {
	want := []string{
		"", "connect_refused", "connect_timeout", "connect_failed", "tls_failed", "response_timeout", "reset",
		"malformed_response", "body_broken", "status_502", "status_503", "status_504", "",
	}
	for c, name := range want {
		if got := Cause(c).String(); got != name {
			t.Errorf("cause %d is %q, want %q", c, got, name)
		}
	}
	o := Failure(Status502)
	if o.Cause() != Status502 || !o.Failed() || Success().Failed() || Neutral().Failed() || Neutral() != (Outcome{}) {
		t.Error("outcomes are mixed up")
	}
}
