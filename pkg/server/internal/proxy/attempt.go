package proxy

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/http1"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

const (
	// memberHead bounds the head of a member's answer.
	memberHead = 64 << 10
	// mostInterim bounds the 1xx answers before the final one.
	mostInterim = 100
	// continueWait is how long a member may be silent before we send 100 Continue for it.
	continueWait = time.Second
	// staleIdle is how long a connection must have been idle for a request that was written to it and not
	// answered to be sent once more.
	staleIdle = time.Second
	// clientCheck is how often we look whether a waiting client is still there.
	clientCheck = 500 * time.Millisecond
	// sureWrite is what always fits into the send buffer of a connection that has nothing under way, so that
	// writing it needs no deadline.
	sureWrite = 4 << 10
)

var memberLimits = http1.Limits{Head: memberHead}

// result is what an attempt came to: whose fault it was (outcome), how far it got (progress), and what the
// client gets if there is no other attempt.
type result struct {
	outcome  lb.Outcome
	progress lb.Progress
	status   int
	reason   string
	done     bool // the answer was passed on, or there is nobody left to answer
}

// wire is an attempt's connection to a member and what was read from it.
type wire struct {
	conn   *upstream.Conn
	member *upstream.Member
	in     window
}

func (w *wire) open(x *exchange, c *upstream.Conn, m *upstream.Member) {
	w.release(x)
	w.conn, w.member = c, m
	x.c.holds(c)
}

// await waits for the first bytes of the answer. Meanwhile the exchange holds no buffers but that of the request: those
// that it takes afterwards have just been used by others, and are still in the processor's cache.
func (w *wire) await(x *exchange) error {
	x.c.giveBack(x.c.out)
	err := w.conn.Wait()
	x.c.out = x.c.borrow()[:0]
	if err == nil {
		w.in.buf = x.c.borrow()
	}
	return err
}

// drop closes the connection and ends the upload over it.
func (w *wire) drop(x *exchange) {
	if w.conn != nil {
		w.conn.Cut()
		x.up.halt(w.conn)
		w.conn = nil
		x.c.letsGo()
	}
	w.release(x)
}

// keep gives the connection back to its member.
func (w *wire) keep(x *exchange) {
	w.conn.Loaded = x.up.carried
	if x.c.letsGo() {
		w.member.Put(w.conn, x.now)
	}
	w.conn = nil
	w.release(x)
}

func (w *wire) release(x *exchange) {
	if w.in.buf != nil {
		x.c.giveBack(w.in.buf)
	}
	w.in = window{}
}

// attempt sends the request to one member. Where a kept-alive connection turns out to have been closed by
// the member, the request is sent once more to the same member on a fresh one: that is no failure of the
// member and no retry (docs/load-balancing.md#stale-connections).
func (x *exchange) attempt(lease *lb.Lease) result {
	m := lease.Attachment().(*upstream.Member)
	x.member, x.headAt = lease.Address(), -1
	r, stale := x.try(m, lease, true)
	if stale {
		x.runtime.Resends[x.protocol()].Add(1)
		r, _ = x.try(m, lease, false)
	}
	if r.outcome.Failed() && r.progress != lb.HeadReceived {
		m.Attempts[upstream.ClassError].Add(1)
	}
	return r
}

// try sends the request over one connection. It is stale if the connection was a kept-alive one that the
// member had closed already.
func (x *exchange) try(m *upstream.Member, lease *lb.Lease, reuse bool) (r result, stale bool) {
	rt := x.runtime
	var conn *upstream.Conn
	if reuse {
		conn = m.Get(x.now, x.c.task)
	}
	if conn == nil {
		var err error
		if conn, err = x.dial(m); err != nil {
			return unreachable(err), false
		}
		x.now = time.Now()
	}
	x.wire.open(x, conn, m)

	out := x.appendRequestHead(x.c.out[:0], lease.Address())
	body := x.up.ready()
	sent := len(body)
	together := len(out)+sent <= bufferSize
	if together {
		out = append(out, body...)
	}
	x.c.out = out
	limit := after(x.now, rt.ResponseTimeout)
	bounded := conn.Loaded || len(out)+sent > sureWrite
	if bounded {
		conn.SetWriteDeadline(limit)
	}
	n, err := conn.Write(out)
	if err == nil && !together {
		_, err = conn.Write(body)
	}
	if bounded {
		conn.SetWriteDeadline(time.Time{})
	}
	switch {
	case err != nil && x.c.stream != nil && x.c.gone():
		return x.clientGone(), false
	case timedOut(err):
		x.now = time.Now()
		return x.slow(), false
	case err != nil && n == 0:
		x.wire.drop(x)
		return failure(lb.FailureDetail(lb.Reset, err.Error()), lb.NothingSent), conn.Reused
	}
	if err == nil {
		x.up.start(conn, sent)
	} // else the member may have answered before it closed: what it said counts
	return x.await(lease, limit)
}

// dial makes a new connection, for whoever serves the exchange.
func (x *exchange) dial(m *upstream.Member) (conn *upstream.Conn, err error) {
	c := x.c
	on := c.srv.loops.Any()
	if c.task != nil {
		on = c.task.Loop()
	}
	c.aside(func() { conn, err = m.Dial(c.srv.stop, on, x.runtime.ConnectTimeout) })
	if err == nil {
		conn.Bind(c.task)
	}
	return conn, err
}

// await reads the answer up to its final head and passes it on, unless it is a failure that another member
// may make good.
func (x *exchange) await(lease *lb.Lease, limit time.Time) (r result, stale bool) {
	w := &x.wire
	interim, expecting := 0, x.req.Expect100
	patience := x.now.Add(continueWait)
	x.resp.Reset()
	for {
		n, err := x.resp.Parse(w.in.bytes(), memberLimits, x.req.Method == http1.HEAD)
		if err != nil || n > 0 && x.resp.Status == 101 && !(x.upgraded() && bytes.EqualFold(x.resp.Upgrade, x.req.Upgrade)) {
			return x.failed(lb.FailureDetail(lb.MalformedResponse, detail(err, "101 to a protocol that the request did not ask for"))), false
		}
		if n > 0 {
			w.in.use(n)
			if x.resp.Status >= 200 || x.resp.Status == 101 {
				return x.answered(lease), false
			}
			if interim++; interim > mostInterim {
				return x.failed(lb.FailureDetail(lb.MalformedResponse, "too many interim answers")), false
			}
			read := x.now
			if err := x.passInterim(&expecting); err != nil {
				return x.clientGone(), false
			}
			if !limit.IsZero() {
				limit = limit.Add(x.now.Sub(read)) // the time that the client took is not the member's
			}
			x.resp.Reset()
			continue
		}

		until := limit
		if expecting && (limit.IsZero() || patience.Before(limit)) {
			until = patience
		}
		err = x.fill(until, memberHead)
		switch {
		case err == nil:
		case errors.Is(err, errSlow) && expecting && until.Equal(patience):
			expecting = false
			if err := x.passContinue(); err != nil {
				return x.clientGone(), false
			}
		case x.isStale(err, interim):
			x.wire.drop(x)
			return result{}, true
		default:
			return x.broken(err), false
		}
	}
}

// fill reads more of the answer. It ends with errSlow at the limit (zero: none) and with errClient when the
// client is gone meanwhile.
func (x *exchange) fill(limit time.Time, most int) error {
	w := &x.wire
	for {
		look := x.now.Add(clientCheck)
		if !limit.IsZero() && limit.Before(look) {
			look = limit
		}
		if due(w.conn.ReadBy, look, clientCheck/2) {
			w.conn.ReadBy = look
			w.conn.SetReadDeadline(look)
		}
		var err error
		if w.in.buf == nil {
			err = w.await(x)
		}
		if err == nil {
			err = w.in.fill(w.conn, most)
		}
		x.now = x.c.clock()
		if err != nil && x.c.stream != nil && x.c.gone() {
			return errClient // whose end has cut the member's work off
		}
		if err == nil || !timedOut(err) {
			return err
		}
		w.conn.ReadBy = time.Time{}
		switch {
		case !limit.IsZero() && !x.now.Before(limit):
			return errSlow
		case x.c.gone():
			return errClient
		}
	}
}

var (
	errSlow   = errors.New("the member did not answer in time")
	errClient = errors.New("the client is gone")
)

// isStale holds the guide's rule for a request that was written: only a bodyless idempotent one, on a
// connection that was idle for a second or more and closed without a word.
func (x *exchange) isStale(err error, interim int) bool {
	w := &x.wire
	return w.conn.Reused && w.conn.IdleFor >= staleIdle && interim == 0 && len(w.in.bytes()) == 0 &&
		x.req.Body == http1.NoBody && x.req.Method.Idempotent() && len(x.req.Upgrade) == 0 && closedByPeer(err)
}

func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// answered takes the final head: the health verdict is known here. A failure is left to the caller, who
// may have another member.
func (x *exchange) answered(lease *lb.Lease) result {
	x.headAt = x.now.Sub(x.started)
	if x.up.carrying {
		x.up.answered.Store(true)
	}
	x.wire.member.Attempts[upstream.ClassOf(x.resp.Status)].Add(1)
	r := result{outcome: lb.Success(), progress: lb.HeadReceived}
	switch x.resp.Status {
	case 502:
		r.outcome = lb.Failure(lb.Status502)
	case 503:
		r.outcome = lb.Failure(lb.Status503)
	case 504:
		r.outcome = lb.Failure(lb.Status504)
	default:
		lease.Answered(x.now, r.outcome)
		x.pass(lease, r.outcome)
		r.done = true
	}
	return r
}

// broken says whose fault it was that no head came.
func (x *exchange) broken(err error) result {
	w := &x.wire
	switch {
	case errors.Is(err, errClient):
		return x.clientGone()
	case x.up.failed():
		status, reason := fault(x.up.fault.Load()).answer()
		return x.neutral(status, reason)
	case errors.Is(err, errSlow) && x.up.awaited(x.now.Add(-x.runtime.ResponseTimeout/2)):
		return x.neutral(504, "the request body did not arrive before the response timeout")
	case errors.Is(err, errSlow):
		return x.slow()
	case errors.Is(err, io.ErrShortBuffer):
		return x.failed(lb.FailureDetail(lb.MalformedResponse, "the head is larger than 64 KiB"))
	case closedByPeer(err) && len(w.in.bytes()) == 0:
		return x.failed(lb.FailureDetail(lb.Reset, "closed before an answer"))
	default:
		return x.failed(lb.FailureDetail(lb.Reset, err.Error()))
	}
}

// failed is the member's failure after the request was written.
func (x *exchange) failed(o lb.Outcome) result {
	x.wire.drop(x)
	return failure(o, lb.Sent)
}

// slow is a member that took longer than response_timeout.
func (x *exchange) slow() result {
	r := x.failed(lb.Failure(lb.ResponseTimeout))
	r.status, r.reason = 504, "the member did not answer in time"
	return r
}

// neutral is the client's fault.
func (x *exchange) neutral(status int, reason string) result {
	x.wire.drop(x)
	return result{outcome: lb.Neutral(), progress: lb.Sent, status: status, reason: reason}
}

func (x *exchange) clientGone() result { return x.neutral(499, "") }

func failure(o lb.Outcome, p lb.Progress) result {
	return result{outcome: o, progress: p, status: 502, reason: "the member did not give a valid answer"}
}

// unreachable is the failure of a connection that was not made.
func unreachable(err error) result {
	cause := lb.ConnectFailed
	r := failure(lb.Neutral(), lb.NothingSent)
	r.reason = "no connection to the member"
	var e *upstream.DialError
	if errors.As(err, &e) {
		switch e.Stage {
		case upstream.Refused:
			cause = lb.ConnectRefused
		case upstream.Timeout:
			cause = lb.ConnectTimeout
		case upstream.TLSFailed:
			cause = lb.TLSFailed
		case upstream.Exhausted:
			return r
		}
	}
	r.outcome = lb.FailureDetail(cause, err.Error())
	if cause == lb.ConnectTimeout {
		r.status = 504
	}
	return r
}

func detail(err error, otherwise string) string {
	if err != nil {
		return err.Error()
	}
	return otherwise
}
