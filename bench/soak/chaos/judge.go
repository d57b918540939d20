package chaos

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// verdict is what a request came to where nothing was wrong.
type verdict string

const (
	served1st  verdict = "answered at the first attempt"
	rescued    verdict = "rescued by a retry or a resend"
	left       verdict = "left by their client"
	brokenByIt verdict = "broken in the body by their member"
	once       verdict = "failed: may not be sent again"
	usedUp     verdict = "failed: retries used up"
	nobody     verdict = "failed: no member left that had to be tried"
	noMembers  verdict = "failed: the list was empty"
	afterFirst verdict = "failed: a 1xx had been passed on"
	newPool    verdict = "failed: the pool may have been rebuilt"
	stoodStill verdict = "failed while the machine stood still"
)

// verdicts in the order of the report.
var verdicts = []verdict{served1st, rescued, left, brokenByIt, once, usedUp, nobody, noMembers, afterFirst, newPool, stoodStill}

// judge says what a request came to, or what is wrong with it. It goes by what client and members saw and by the
// rules of docs/load-balancing.md; the access log is believed only where it does not contradict them.
func (s *story) judge(f facts) (verdict, error) {
	for _, check := range []func(facts) error{s.checkRequest, s.checkAttempts, s.checkOrder, s.checkLog} {
		if err := check(f); err != nil {
			return "", err
		}
	}
	switch {
	case s.request.leaves == stopUpload && s.seen.answered && s.seen.status == http.StatusGatewayTimeout:
		return left, nil // with an answer: the body did not arrive before the response timeout
	case s.request.leaves != staying && s.request.leaves != stopUpload:
		return left, nil
	case !s.seen.answered:
		return "", fmt.Errorf("the client got no answer: %w", s.seen.err)
	case s.seen.member == "":
		return s.judgeOurs(f)
	}
	return s.judgeTheirs(f)
}

// checkRequest: what reached a member is what the client has sent, and the member was one of the pool's.
func (s *story) checkRequest(f facts) error {
	for _, r := range s.receipts {
		if r.wrong != "" {
			return fmt.Errorf("wrong request at %s: %s", r.member.address, r.wrong)
		}
		if r.member.pool != s.request.pool {
			return fmt.Errorf("the request reached %s of pool %s", r.member.address, r.member.pool.name)
		}
	}
	if len(f.strangers) > 0 {
		return fmt.Errorf("the request reached %v, which the list did not have", f.strangers)
	}
	return nil
}

// checkAttempts: how often a request may reach members.
func (s *story) checkAttempts(facts) error {
	r, n := s.request, len(s.receipts)
	switch {
	case n > 1 && !r.idempotent():
		return fmt.Errorf("a %s was written %d times", r.method, n)
	case n > 1 && !r.replayable():
		return fmt.Errorf("a body that is not kept was sent %d times", n)
	}
	reached := make(map[*member]*receipt)
	for _, got := range s.receipts {
		before := reached[got.member]
		reached[got.member] = got
		switch {
		case before == nil:
		case !r.bodyless():
			return fmt.Errorf("a request with a body was sent to %s twice", got.member.address)
		case !before.closedSilently():
			return fmt.Errorf("%s got the request twice, and had not closed the connection on it", got.member.address)
		}
	}
	if len(reached) > 1+r.pool.retries {
		return fmt.Errorf("%d members were tried where %d retries are allowed", len(reached), r.pool.retries)
	}
	return nil
}

// checkOrder: nothing is sent again after a byte went to the client, or after a success; and a cookie is obeyed.
func (s *story) checkOrder(f facts) error {
	// A member that died may have read a request long after the daemon had to give it up.
	alive := slices.DeleteFunc(slices.Clone(s.receipts), func(r *receipt) bool { return r.died })
	for i, r := range alive {
		if i+1 == len(alive) {
			break
		}
		next := alive[i+1]
		if r.waited && slices.Contains(s.seen.interims, r.member.address) {
			return fmt.Errorf("%s was tried after the client had a 1xx from %s", next.member.address, r.member.address)
		}
		if !r.done.IsZero() && !r.act.harmful() && !f.stalled {
			return fmt.Errorf("%s was tried after %s had answered for good", next.member.address, r.member.address)
		}
	}
	obeyed := func(r *receipt) bool { return r.died && r.member.address == s.request.owner }
	if len(alive) > 0 && f.owned && alive[0].member.address != s.request.owner && !f.stalled && !slices.ContainsFunc(s.receipts, obeyed) {
		return fmt.Errorf("the cookie names %s, the request went to %s", s.request.owner, alive[0].member.address)
	}
	return nil
}

// checkLog: one line a request, and what it says agrees with what was seen.
func (s *story) checkLog(f facts) error {
	if len(s.lines) == 0 && s.request.leaves != staying {
		return nil // it may have left before it was read
	}
	if len(s.lines) != 1 {
		return fmt.Errorf("the access log has %d lines of the request", len(s.lines))
	}
	l, tried := s.lines[0], s.members()
	switch {
	case s.request.leaves == staying && s.seen.answered && l.Status != s.seen.status:
		return fmt.Errorf("the access log says %d, the client got %d", l.Status, s.seen.status)
	case l.Pool != s.request.pool.name:
		return fmt.Errorf("the access log says pool %s", l.Pool)
	case l.Attempts < tried, l.Attempts > 1+s.request.pool.retries:
		return fmt.Errorf("the access log says %d attempts, %d members were reached and %d retries are allowed", l.Attempts, tried, s.request.pool.retries)
	case l.Attempts > tried+f.blind && !f.stalled && s.request.leaves == staying:
		return fmt.Errorf("the access log says %d attempts: %d reached a member, and no more than %d can have failed unseen", l.Attempts, tried, f.blind)
	case s.seen.answered && s.seen.member != "" && s.request.leaves == staying && l.Member != s.seen.member:
		return fmt.Errorf("the access log says member %s, the answer is from %s", l.Member, s.seen.member)
	}
	return nil
}

// members that the request has reached.
func (s *story) members() int {
	reached := make(map[*member]bool)
	for _, r := range s.receipts {
		reached[r.member] = true
	}
	return len(reached)
}

// judgeOurs judges an answer that the daemon gave itself.
func (s *story) judgeOurs(f facts) (verdict, error) {
	if s.seen.err != nil {
		return "", fmt.Errorf("the daemon's own answer is not whole: %w", s.seen.err)
	}
	ours := fmt.Sprintf("%d %s of the daemon's own", s.seen.status, http.StatusText(s.seen.status))
	if f.stalled {
		return stoodStill, nil
	}
	switch s.seen.status {
	case http.StatusServiceUnavailable:
		if !f.emptied {
			return "", fmt.Errorf("%s, and the list was not empty", ours)
		}
		return noMembers, nil
	case http.StatusBadGateway:
		if f.blind == 0 && !slices.ContainsFunc(s.receipts, func(r *receipt) bool { return r.act.fault.silent() || r.died }) {
			return "", fmt.Errorf("%s, and no member failed", ours)
		}
	case http.StatusGatewayTimeout:
		hung := slices.ContainsFunc(s.receipts, func(r *receipt) bool { return r.act.fault == hangSilent })
		if f.blind == 0 && !hung {
			return "", fmt.Errorf("%s, and no member hung", ours)
		}
		if took := s.seen.to.Sub(s.seen.from); took < connectTimeout-10*time.Millisecond {
			return "", fmt.Errorf("%s after %v, sooner than any timeout", ours, took)
		}
	default:
		return "", errors.New(ours)
	}
	return s.mayFail(f)
}

// judgeTheirs judges an answer that a member gave.
func (s *story) judgeTheirs(f facts) (verdict, error) {
	r := s.answerer()
	if r == nil {
		return "", fmt.Errorf("the answer is from %s, which did not have the request", s.seen.member)
	}
	switch saw := s.seen; {
	case saw.id != s.request.id:
		return "", fmt.Errorf("the answer is that of request %s", saw.id)
	case saw.status != r.act.status:
		return "", fmt.Errorf("the status is %d, the member sent %d", saw.status, r.act.status)
	case saw.checksum != s.request.sum && !(r.act.early && saw.checksum == unread):
		return "", fmt.Errorf("the member got checksum %s, the client sent %s", saw.checksum, s.request.sum)
	case saw.wrong >= 0:
		return "", fmt.Errorf("byte %d of the answer is wrong", saw.wrong)
	case saw.err == nil && saw.got != saw.expected:
		return "", fmt.Errorf("the answer ended as if whole after %d of %d bytes", saw.got, saw.expected)
	case saw.err == nil && saw.trailer != saw.wanted:
		return "", fmt.Errorf("the answer's trailer is %q, the member sent %q", saw.trailer, saw.wanted)
	case saw.err != nil && (r.act.fault.broken() || r.died):
		return brokenByIt, nil
	case saw.err != nil && f.stalled:
		return stoodStill, nil
	case saw.err != nil:
		return "", fmt.Errorf("the answer is not whole, and the member did not break it: %w", saw.err)
	case saw.status >= 502 && saw.status <= 504:
		return s.mayFail(f)
	case s.lines[0].Attempts > 1 || len(s.receipts) > 1:
		return rescued, nil
	}
	return served1st, nil
}

// closedSilently: the member closed without a byte of an answer, so that the daemon may have taken its connection for
// a stale one.
func (r *receipt) closedSilently() bool {
	switch r.act.fault {
	case closeUnread, resetUnread, closeSilent, resetSilent, breakHead:
		return true
	}
	return r.died
}

// answerer is the receipt that the answer came from: the last of its member.
func (s *story) answerer() *receipt {
	for _, r := range slices.Backward(s.receipts) {
		if r.member.address == s.seen.member {
			return r
		}
	}
	return nil
}

// mayFail judges a request that ended with the failure of its last attempt: whether there should have been
// another one.
func (s *story) mayFail(f facts) (verdict, error) {
	r, l := s.request, s.lines[0]
	written := len(s.receipts) > 0 || f.cut
	switch {
	case !r.replayable(), !r.idempotent() && written:
		return once, nil
	case len(s.seen.interims) > 0:
		return afterFirst, nil
	case l.Attempts > r.pool.retries:
		return usedUp, nil
	case f.rebuilt:
		return newPool, nil
	case len(f.spare) == 0:
		return nobody, nil
	case f.stalled:
		return stoodStill, nil
	}
	return "", fmt.Errorf("given up with %d after %d of %d attempts: the request could be sent again, no byte had gone to the client, and %v had to be tried",
		s.seen.status, l.Attempts, 1+r.pool.retries, f.spare)
}
