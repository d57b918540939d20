package chaos

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// story is everything that is known of one request.
type story struct {
	request *request
	seen    *seen // nil until the client is done

	mu       sync.Mutex
	receipts []*receipt
	journal  journal
	lines    []line // of the access log
}

// seen is what the client saw.
type seen struct {
	span
	interims []string // members of the 1xx answers; empty: ours
	answered bool     // a whole final head came
	status   int
	id       string
	member   string // empty: the answer is the daemon's own
	checksum string // of the request's body, as the member got it
	said     string // the beginning of an answer of the daemon's own
	got      int64
	wrong    int64 // the first wrong byte of the body; negative: none
	expected int64 // bytes, as far as the member has said
	wanted   string
	trailer  string
	err      error // why the answer is not whole
	cookie   string
}

// receipt is a request that reached a member.
type receipt struct {
	story   *story // nil: nobody has sent it
	member  *member
	act     *act
	at      time.Time
	gotBody bool
	done    time.Time // the whole answer was written then
	waited  bool      // a 1xx was sent
	died    bool      // the member reset its connections before the daemon was sure to have the answer
	wrong   string    // what was wrong with it
}

// stories are the requests of a run that are not judged yet.
type stories struct {
	mu     sync.Mutex
	open   map[string]*story
	ended  []*story
	begun  int    // how many ids were given out
	strays string // a request at a member that no client has sent; empty: none
}

func newStories() *stories { return &stories{open: make(map[string]*story)} }

func (all *stories) begin(r *request) *story {
	s := &story{request: r}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.open[r.id] = s
	return s
}

// number is that of the next request.
func (all *stories) number() int {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.begun++
	return all.begun
}

// end is the client's last word.
func (all *stories) end(s *story, saw *seen) {
	all.mu.Lock()
	defer all.mu.Unlock()
	s.seen = saw
	all.ended = append(all.ended, s)
}

func (all *stories) find(id string) *story {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.open[id]
}

// receive notes that a request has reached a member.
func (all *stories) receive(req *http.Request, m *member, a *act) *receipt {
	id := req.Header.Get(fieldID)
	s := all.find(id)
	if s == nil {
		s = &story{} // judged already, because its client has left; or nobody's
		all.stray(id, m)
	}
	r := &receipt{story: s, member: m, act: a, at: time.Now()}
	s.mu.Lock()
	s.receipts = append(s.receipts, r)
	s.mu.Unlock()
	r.note("receives %s %s; %s", req.Method, req.RequestURI, a)
	return r
}

// stray keeps the first request that no client can have sent: there is no such id.
func (all *stories) stray(id string, m *member) {
	all.mu.Lock()
	defer all.mu.Unlock()
	n := 0
	if _, err := fmt.Sscanf(id, idForm, &n); (err != nil || n < 1 || n > all.begun) && all.strays == "" {
		all.strays = fmt.Sprintf("member %s received a request with the id %q, which no client has sent", m.address, id)
	}
}

// firstStray is empty where every request came from a client.
func (all *stories) firstStray() string {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.strays
}

// idForm numbers the requests from 1.
const idForm = "soak-%d"

// next takes the stories that can be judged: the client is done, and the access log has its line, or does not get it
// any more. Nil: none yet.
func (all *stories) next(now time.Time, final bool) *story {
	all.mu.Lock()
	defer all.mu.Unlock()
	for i, s := range all.ended {
		age := now.Sub(s.seen.to)
		if age < settle && !final {
			return nil // the others are younger
		}
		if s.logged() || age > patience || final {
			all.ended = slices.Delete(all.ended, i, i+1)
			delete(all.open, s.request.id)
			return s
		}
	}
	return nil
}

const (
	// settle is how long after the client's end members may still write into its story.
	settle = 1500 * time.Millisecond
	// patience is how long the line in the access log may take.
	patience = 8 * time.Second
)

func (s *story) logged() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lines) > 0
}

func (r *receipt) note(format string, args ...any) {
	r.story.journal.add(r.member.address, format, args...)
}

// accuse says that what arrived is not what was sent. The first word counts.
func (r *receipt) accuse(format string, args ...any) {
	r.note(format, args...)
	r.story.mu.Lock()
	defer r.story.mu.Unlock()
	if r.wrong == "" {
		r.wrong = fmt.Sprintf(format, args...)
	}
}

func (r *receipt) whole() {
	r.note("has the whole request")
	r.story.mu.Lock()
	defer r.story.mu.Unlock()
	r.gotBody = true
}

func (r *receipt) interim() {
	r.note("sends %d", r.act.interim)
	r.story.mu.Lock()
	defer r.story.mu.Unlock()
	r.waited = true
}

func (r *receipt) answered() {
	r.note("has written its whole answer")
	r.story.mu.Lock()
	defer r.story.mu.Unlock()
	r.done = time.Now()
}

// cut says that the member has just reset the connection, which also takes away what is still on its way.
func (r *receipt) cut() {
	r.story.mu.Lock()
	defer r.story.mu.Unlock()
	r.died = r.died || r.done.IsZero() || time.Since(r.done) < closing
}

func (r *receipt) end() { r.note("is done with it") }

// tell is the story as a text, with what happened around it.
func (s *story) tell(around []note) string {
	var b strings.Builder
	fmt.Fprintf(&b, "request %s\n", s.request)
	notes := slices.Concat(s.journal.within(span{time.Time{}, forever}), around)
	for _, l := range s.lines {
		notes = append(notes, note{l.read, "access log", l.text})
	}
	slices.SortStableFunc(notes, func(a, b note) int { return a.at.Compare(b.at) })
	began := time.Now()
	if s.seen != nil {
		began = s.seen.from
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "%+10.1f ms  %-22s %s\n", float64(n.at.Sub(began).Microseconds())/1000, n.who, n.what)
	}
	return b.String()
}
