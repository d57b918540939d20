package chaos

import (
	"fmt"
	"math/rand/v2"
)

// Fields by which the two ends know each other through the daemon.
const (
	fieldID      = "X-Request-Id" // the daemon keeps it and logs it
	fieldSum     = "X-Soak-Sum"   // of the body that was sent; in an answer, of the one that was received
	fieldLine    = "X-Soak-Line"  // method and target as the client wrote them
	fieldKey     = "X-Soak-Key"   // what the header pool hashes
	fieldMember  = "X-Soak-Member"
	fieldSize    = "X-Soak-Size" // of the answer's body
	fieldWant    = "X-Soak-Want-Trailer"
	fieldTrailer = "X-Soak-Trailer"
	cookieName   = "SOAK_NODE"
	// unread instead of a checksum: the member answered before it had the body.
	unread = "unread"
)

// replayMost is the largest body with a length that is kept for a retry (docs/load-balancing.md#retries).
const replayMost = 64 << 10

// framing is how a body is sent.
type framing string

const (
	noBody     framing = "no body"
	length     framing = "with its length"
	chunked    framing = "chunked"
	untilClose framing = "until the end of the connection"
)

// abort is how a client leaves before it has the answer.
type abort string

const (
	staying     abort = ""
	resetUpload abort = "reset in the upload"
	endUpload   abort = "end of the stream in the upload"
	leaveAnswer abort = "reset in the answer"
	// stopUpload: the client sends no more of its body, and waits for what the daemon says to that.
	stopUpload abort = "silence in the upload"
)

// uploads: it happens in the middle of the body.
func (a abort) uploads() bool { return a == resetUpload || a == endUpload || a == stopUpload }

// request is one request as it is meant: what will be sent, and how.
type request struct {
	id      string
	pool    *pool
	method  string
	target  string
	framing framing
	size    int64
	sum     string
	trailer bool
	expect  bool
	slowly  bool // the body comes in pieces
	last    bool // on its connection
	leaves  abort
	leaveAt int64 // bytes of the body after which the client leaves

	key    string // what a header pool hashes
	cookie string // what a cookie pool has set before
	owner  string // the member that the cookie is for
}

// idempotent as the users' guide counts it.
func (r *request) idempotent() bool { return r.method != "POST" && r.method != "PATCH" }

// bodyless: a length of 0 is no body either.
func (r *request) bodyless() bool { return r.framing == noBody || r.framing == length && r.size == 0 }

// replayable: the daemon can keep the body and send it again.
func (r *request) replayable() bool {
	return r.framing == noBody || r.framing == length && r.size <= replayMost
}

func (r *request) String() string {
	s := fmt.Sprintf("%s %s, pool %s, %s", r.method, r.target, r.pool.name, r.framing)
	if r.framing != noBody {
		s += fmt.Sprintf(", %d bytes, checksum %s", r.size, r.sum)
	}
	for what, is := range map[string]bool{"trailer": r.trailer, "Expect: 100-continue": r.expect, "in slow pieces": r.slowly, "Connection: close": r.last} {
		if is {
			s += ", " + what
		}
	}
	if r.leaves != staying {
		s += fmt.Sprintf(", leaves by %s after %d bytes", r.leaves, r.leaveAt)
	}
	if r.cookie != "" {
		s += ", cookie for " + r.owner
	}
	return s
}

var methods = []string{"GET", "GET", "GET", "HEAD", "OPTIONS", "PUT", "PUT", "DELETE", "POST", "POST", "PATCH"}

// sizes have both sides of what is kept for a retry, and of the daemon's buffers.
var sizes = []int64{0, 1, 17, 1000, 4096, 16384, 30_000, 65_535, 65_536, 65_537, 200_000, 1 << 20}

// draw makes up a request.
func draw(random *rand.Rand, id string, p *pool, over protocol) *request {
	r := &request{id: id, pool: p, method: pick(random, methods), framing: noBody}
	r.target = fmt.Sprintf("/%s?from=%d&empty=&q=%%2F", id, random.IntN(10))
	if carries := r.method == "PUT" || r.method == "POST" || r.method == "PATCH"; carries || chance(random, 0.05) {
		r.framing, r.size = length, pick(random, sizes)
		switch {
		case chance(random, 0.25):
			r.framing, r.trailer = chunked, chance(random, 0.5)
		case chance(random, 0.4):
			r.size = random.Int64N(2000)
		case chance(random, 0.02):
			r.size = 4 << 20
		}
		if over.streams() && r.framing == length && r.size == 0 {
			r.framing = noBody // there is no telling them apart
		}
		r.expect = r.size > 0 && chance(random, 0.08)
		r.slowly = r.size < 100_000 && chance(random, 0.1)
		r.sum = sumOf(question(id), r.size)
	} else {
		r.sum = sumOf(question(id), 0)
	}
	r.last = !over.streams() && chance(random, 0.1)
	if chance(random, 0.03) {
		r.leaves = leaveAnswer
		if r.size > 0 {
			r.leaves = pick(random, []abort{resetUpload, endUpload, stopUpload, leaveAnswer})
			r.leaveAt = random.Int64N(r.size)
		}
	}
	r.key = fmt.Sprint(random.IntN(200))
	return r
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

func chance(random *rand.Rand, of float64) bool { return random.Float64() < of }
