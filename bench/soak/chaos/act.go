package chaos

import (
	"fmt"
	"math/rand/v2"
)

// fault is what a member does wrong with a request.
type fault string

const (
	noFault       fault = ""
	closeUnread   fault = "closes before it has read the body"
	resetUnread   fault = "resets before it has read the body"
	closeSilent   fault = "closes before the head"
	resetSilent   fault = "resets before the head"
	breakHead     fault = "breaks its head"
	speakNonsense fault = "answers something that is not HTTP"
	hangSilent    fault = "hangs before the head"
	breakBody     fault = "breaks its body"
	resetBody     fault = "resets in its body"
	hangBody      fault = "hangs in its body"
	sayMore       fault = "says more than its answer"
	halfClose     fault = "closes its direction after the answer"
)

// silent: there is no head.
func (f fault) silent() bool {
	switch f {
	case closeUnread, resetUnread, closeSilent, resetSilent, breakHead, speakNonsense, hangSilent:
		return true
	}
	return false
}

// broken: the answer has a head but not all of its body.
func (f fault) broken() bool { return f == breakBody || f == resetBody || f == hangBody }

// act is what a member does with one request.
type act struct {
	fault   fault
	early   bool // answers before it has read the body
	status  int
	framing framing
	size    int64
	trailer bool
	interim int // of its status
	drip    bool
	leave   bool // says Connection: close
	silent  bool // sends no 100, so that the daemon has to
	breakAt int64
}

// harmful: the daemon may take it for a failure of the member.
func (a *act) harmful() bool {
	return a.fault != noFault || a.status == 502 || a.status == 503 || a.status == 504
}

func (a *act) String() string {
	if a.fault.silent() {
		return string(a.fault)
	}
	s := fmt.Sprintf("answers %d, %d bytes %s", a.status, a.size, a.framing)
	if a.early {
		s += ", early"
	}
	if a.interim != 0 {
		s += fmt.Sprintf(", after %d", a.interim)
	}
	if a.leave {
		s += ", Connection: close"
	}
	if a.drip {
		s += ", in drops"
	}
	switch {
	case a.fault.broken():
		s += fmt.Sprintf("; %s after %d bytes", a.fault, a.breakAt)
	case a.fault != noFault:
		s += "; " + string(a.fault)
	}
	return s
}

var (
	silences = []fault{closeUnread, resetUnread, closeSilent, resetSilent, breakHead, speakNonsense}
	breaks   = []fault{breakBody, resetBody, breakBody, resetBody, hangBody}
	statuses = []int{200, 200, 200, 200, 200, 200, 201, 204, 304, 404, 500}
)

// choose makes up an act for a request.
func choose(random *rand.Rand, as mood, method string) *act {
	a := &act{status: pick(random, statuses), size: pick(random, sizes), framing: pick(random, []framing{length, length, length, chunked, chunked, untilClose})}
	if chance(random, 0.6) {
		a.size = random.Int64N(3000)
	}
	if a.status == 304 && method != "GET" && method != "HEAD" {
		a.status = 200
	}
	bodyless := method == "HEAD" || a.status == 204 || a.status == 304
	if bodyless {
		a.size = 0
		if a.framing == untilClose {
			a.framing = length
		}
	}
	a.trailer = a.framing == chunked && !bodyless && chance(random, 0.4)
	a.drip = chance(random, 0.05)
	a.leave = chance(random, 0.05) || a.framing == untilClose
	a.silent = chance(random, 0.3)
	if chance(random, 0.05) {
		a.interim = pick(random, []int{103, 102})
	}
	if chance(random, 0.05) {
		a.early, a.status, a.leave = true, pick(random, []int{200, 401, 413}), true
		if a.framing == untilClose {
			a.framing = length // the member waits for the daemon to close
		}
	}
	switch {
	case as == hung:
		a.fault = hangSilent
	case as == shaky && chance(random, 0.55):
		a.fail(random)
	}
	return a
}

// fail makes a failure of an act.
func (a *act) fail(random *rand.Rand) {
	switch n := random.IntN(10); {
	case n < 4:
		a.fault, a.early = pick(random, silences), false
	case n < 7:
		a.status = pick(random, []int{502, 503, 504})
	case n < 9 && a.size > 0:
		a.fault, a.breakAt = pick(random, breaks), random.Int64N(a.size)
		if a.framing == untilClose && a.fault == breakBody {
			a.fault = resetBody // an orderly end would be the end of the answer
		}
	case a.framing != untilClose && !a.leave && !a.early:
		a.fault = pick(random, []fault{sayMore, halfClose})
	default:
		a.fault, a.early = hangSilent, false
	}
}
