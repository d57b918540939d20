package proxy

import (
	"bytes"
	"errors"
	"net/netip"
	"time"

	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/http1"
	"github.com/scalws/scalws/pkg/server/internal/route"
)

// exchange is one request and its answer. It is reset and used again for the connection's next request.
type exchange struct {
	c      *conn
	config *Config
	req    http1.Request
	resp   http1.Response
	chunks http1.Chunked // of the answer
	up     upload
	wire   wire

	started time.Time
	// now is the last look at the clock, renewed after every wait.
	now     time.Time
	client  netip.Addr
	secure  bool // the client speaks HTTPS, to us or to a trusted proxy
	trusted bool
	said    said
	id      [32]byte
	idField []byte // the request id as it is passed on and logged

	asked   route.Request // what the runtime is found by
	target  []byte        // space for a target that is made
	login   []byte        // space for a user and a password
	runtime *Runtime
	pool    *Pool
	member  string
	tries   int
	further int64         // how much further an OPTIONS may get; 0: it does not say
	headAt  time.Duration // from started to the member's response head; negative: none

	status int
	out    int64 // body bytes sent to the client
	began  bool  // something went to the client: no retry from here on
	keep   bool  // the client's connection can carry another request
	unread bool  // a part of the request was not read: close gently
	cutOff bool  // the answer ended in the middle
}

// run serves one request whose first bytes are in the connection's window. It is true if the connection
// can carry another one.
func (x *exchange) run() bool {
	x.reset()
	stats := &x.c.listener.stats
	if x.c.stream == nil {
		stats.http1.Add(1)
	} else {
		stats.http2.Add(1)
	}
	stats.inFlight.Add(1)
	if x.readHead() {
		x.serve()
	}
	x.finish()
	stats.inFlight.Add(-1)
	return x.keep
}

func (x *exchange) reset() {
	c, cfg := x.c, x.c.srv.config.Load()
	x.config = cfg
	x.started = c.clock()
	x.now = x.started
	x.client, x.secure, x.trusted = c.peer, c.secure, false
	x.idField = nil
	x.runtime, x.pool, x.member, x.tries, x.headAt, x.further = nil, nil, "", 0, -1, 0
	x.status, x.out, x.began, x.keep, x.unread, x.cutOff = 0, 0, false, false, false, false
	x.up.reset()
}

// readHead parses the head, reading more as needed. When it is false the answer has been sent, or there is
// nobody to answer.
func (x *exchange) readHead() bool {
	c := x.c
	var deadline time.Time
	for {
		n, err := x.req.Parse(c.in.bytes(), x.config.Limits)
		if n > 0 && c.stream != nil && !c.stream.hasPath() {
			err = errNoPath
		}
		if err != nil {
			x.refuse(err)
			return false
		}
		if n > 0 {
			c.in.use(n)
			return true
		}
		if deadline.IsZero() {
			deadline = after(x.started, x.config.HeaderTimeout)
			c.readBy = time.Time{}
			c.nc.SetReadDeadline(deadline)
		}
		err = c.in.fill(c.nc, x.config.Limits.Head+bufferSize)
		x.now = time.Now()
		if err != nil {
			x.headless(err)
			return false
		}
	}
}

var errNoPath = errors.New("reading a head: :path is no path")

// headless ends a request whose head did not come. Empty lines are no request yet (RFC 9112 section 2.2).
func (x *exchange) headless(err error) {
	x.req.Reset() // its slices may be of bytes that have moved
	switch {
	case len(bytes.Trim(x.c.in.bytes(), "\r\n")) == 0:
	case timedOut(err):
		x.unread = true
		x.answer(408, "the request head did not arrive in time")
	default:
		x.status = 499 // nobody to answer
	}
}

// refuse answers a head that the codec does not accept. What follows in the stream cannot be trusted, so
// the connection ends (RFC 9112 section 2.2).
func (x *exchange) refuse(err error) {
	status, reason := 400, "malformed request"
	var e *http1.Error
	if errors.As(err, &e) {
		status, reason = e.Status, e.Reason
	}
	x.req.Reset()
	x.unread = true
	x.answer(status, reason)
}

// serve answers a request whose head is read.
func (x *exchange) serve() {
	x.identify()
	x.up.open() // before any refusal: it must know what of the request is still to come
	if x.req.Method == http1.CONNECT {
		x.req.KeepAlive = false // what follows may be meant for the tunnel
	}
	if x.req.Method == http1.CONNECT || x.req.Method == http1.TRACE {
		x.reject(405, "this method is not forwarded", "Allow", methods)
		return
	}
	x.asked.Host, x.asked.Path, x.asked.Method = x.req.Host, x.req.Path, x.req.MethodText
	rt, ok := x.config.Routes.Lookup(&x.asked)
	if !ok {
		x.reject(404, "nothing is configured for this host and path")
		return
	}
	x.runtime = rt
	switch p := rt.Policy; {
	case p != nil && x.turnsAway(p), x.limited(rt.Limits), p != nil && x.govern(p), x.answeredHere(rt):
		return
	case len(rt.Backends) == 0:
		x.reject(404, "nothing is configured for this host and path")
		return
	}
	if len(x.req.Upgrade) > 0 {
		switch {
		case !http1.EqualFold(x.req.Upgrade, "websocket"), x.req.Method != http1.GET, x.req.Body != http1.NoBody:
			x.req.Upgrade = nil // ignored, as RFC 9110 section 7.8 allows
		case !rt.WebSocket:
			x.reject(403, "websocket is turned off here")
			return
		}
	}
	if x.lastHop() {
		return
	}
	if !x.up.within(rt.MaxBody) {
		x.reject(413, "the request body is larger than allowed")
		return
	}
	b := rt.backend()
	if b.Pool == nil {
		x.reject(b.Status, "this share of the requests is answered with an error by configuration")
		return
	}
	x.pool = b.Pool
	if !x.up.whole.Load() || len(x.req.Upgrade) > 0 {
		x.c.aside(x.balance)
		return
	}
	x.balance()
}

// balance sends the request to members until one answers for good.
func (x *exchange) balance() {
	engine := x.pool.Engine
	var tried lb.Tried
	key := x.key()
	lease, ok := engine.Pick(x.now, key, &tried)
	if !ok {
		x.reject(503, "no member is available", "Retry-After", "1")
		return
	}
	for {
		x.tries++
		r := x.attempt(&lease)
		if r.done {
			return
		}
		x.now = time.Now()
		lease.Answered(x.now, r.outcome)
		next, ok := x.next(key, &tried, r)
		if !ok {
			x.last(&lease, r)
			return
		}
		x.wire.drop(x)
		lease.Done(x.now, r.outcome)
		x.pool.Retries.Add(1)
		lease = next
	}
}

// next picks another member where the failed attempt may be tried again.
func (x *exchange) next(key lb.Key, tried *lb.Tried, r result) (lb.Lease, bool) {
	if x.pool.retired.Load() {
		return lb.Lease{}, false
	}
	may := x.pool.Engine.MayRetry(lb.Attempt{
		Idempotent:    x.req.Method.Idempotent(),
		Replayable:    x.up.replayable,
		ClientStarted: x.began,
		Upgrade:       len(x.req.Upgrade) > 0,
		Progress:      r.progress,
		Outcome:       r.outcome,
	}, tried)
	if !may || x.c.gone() { // nobody waits for another attempt
		return lb.Lease{}, false
	}
	return x.pool.Engine.Retry(x.now, key, tried)
}

// last gives the client what the last attempt came to: the member's own answer, or ours.
func (x *exchange) last(lease *lb.Lease, r result) {
	if r.progress == lb.HeadReceived {
		x.pass(lease, r.outcome)
		return
	}
	x.wire.drop(x)
	lease.Done(x.now, r.outcome)
	if r.status == 499 {
		x.status = 499
		return
	}
	x.reject(r.status, r.reason)
}

// leave lets go of what the request was served by, and of what it said: a connection that waits must not keep an old
// configuration and its pools from being collected, nor buffers that it has given back.
func (x *exchange) leave() {
	x.config, x.runtime, x.pool, x.wire.member = nil, nil, nil, nil
	x.asked.Reset()
	x.req.Reset()
	x.resp.Reset()
	if len(x.chunks.Trailers) > 0 || len(x.up.chunks.Trailers) > 0 {
		x.chunks.Reset()
		x.up.chunks.Reset()
	}
	x.said, x.idField, x.c.rec = said{}, nil, Record{}
	x.target, x.login = small(x.target), small(x.login)
}

// finish writes the log line and leaves the connection ready for the next request.
func (x *exchange) finish() {
	if log := x.c.srv.hooks.Log; log != nil && x.status != 0 {
		x.c.out = log(x.record(), x.c.out) // what it held is sent
	}
	x.up.close() // last: it may write over the head that the log line is made of
}

// key is what the pool hashes of this request; the zero key where it hashes nothing, or there is nothing.
func (x *exchange) key() lb.Key {
	if x.pool.settings.Balance != lb.Hash {
		return lb.Key{}
	}
	switch x.pool.settings.Hash.By {
	case lb.ByClientIP:
		return lb.AddrKey(x.client)
	case lb.ByHeader:
		return lb.TextKey(x.header(x.pool.hashName))
	default:
		return x.cookieKey()
	}
}

// header is the value of a request field, named in lower case, also of one that ends here.
func (x *exchange) header(name string) []byte {
	value, _ := x.joined(name, true)
	return value
}

// joined is the value of a request field, named in lower case; a repeated one is joined (RFC 9110 section 5.3).
// Without hops, those that end here do not count.
func (x *exchange) joined(name string, hops bool) (value []byte, found bool) {
	for i := range x.req.Fields {
		f := &x.req.Fields[i]
		if !http1.EqualFold(f.Name, name) || f.Hop && !hops {
			continue
		}
		if found {
			value = append(append(bytes.Clone(value), ", "...), f.Value...)
			continue
		}
		value, found = f.Value, true
	}
	return value, found
}

// protocol is the client's, as an index of Resends.
func (x *exchange) protocol() int {
	if x.c.stream != nil {
		return HTTP2
	}
	return HTTP1
}

func (x *exchange) record() *Record {
	r := &x.c.rec
	r.Time, r.Duration = x.started, x.now.Sub(x.started)
	r.Listener, r.ClientIP = x.c.terms.Name, x.client
	r.Method, r.Host, r.Path, r.Protocol = x.req.MethodText, x.req.Host, x.req.Target, "HTTP/1.1"
	r.Status, r.BytesIn, r.BytesOut = x.status, x.up.received, x.out
	r.Tenant, r.Application, r.Pool = "", "", ""
	r.Member, r.Attempts, r.Upstream = x.member, x.tries, x.headAt
	r.RequestID, r.UserAgent = x.idField, nil
	switch {
	case x.c.stream != nil:
		r.Protocol = "HTTP/2.0"
	case len(x.req.MethodText) > 0 && x.req.Minor == 0:
		r.Protocol = "HTTP/1.0"
	}
	if x.runtime != nil {
		r.Tenant, r.Application = x.runtime.Tenant, x.runtime.Application
	}
	if x.pool != nil {
		r.Pool = x.pool.Name
		if r.Pool == "" {
			r.Member, r.Attempts = "", 0
		}
	}
	for i := range x.req.Fields {
		if f := &x.req.Fields[i]; f.Known == http1.FieldUserAgent {
			r.UserAgent = f.Value
			break
		}
	}
	return r
}
