package proxy

import (
	"strconv"

	"github.com/scalws/scalws/pkg/server/internal/http1"
	"github.com/scalws/scalws/pkg/server/internal/route"
)

// reject gives our own answer to a request whose head is whole. The connection goes on only if nothing of
// the request is left unread. Extra are field names and values in turn.
func (x *exchange) reject(status int, reason string, extra ...string) {
	x.settle()
	x.answer(status, reason, extra...)
}

// sendTo leads the client to another place. What the policy changes of answers it changes here too: a redirect is what is
// configured, and no refusal.
func (x *exchange) sendTo(status int, place, reason string) {
	x.settle()
	_, edits, _ := x.edits()
	x.answerEdited(edits, status, reason, "Location", place)
}

// answer writes an answer of our own: text/plain, one line.
func (x *exchange) answer(status int, reason string, extra ...string) {
	x.answerEdited(nil, status, reason, extra...)
}

func (x *exchange) answerEdited(edits *route.Edits, status int, reason string, extra ...string) {
	x.status = status
	out := http1.AppendStatusLine(x.c.out[:0], status, nil)
	if !edits.Drops([]byte("Content-Type")) {
		out = http1.AppendFieldString(out, "Content-Type", "text/plain; charset=utf-8")
	}
	out = append(out, "Content-Length: "...)
	title := http1.StatusText(status)
	if title == "" {
		title = "Error" // a configured status without a name of its own
	}
	body := len(title) + len(reason) + len("000 : \n")
	out = strconv.AppendInt(out, int64(body), 10)
	out = append(out, "\r\n"...)
	out = http1.AppendField(out, []byte("Date"), x.c.srv.date.at(x.now))
	for i := 0; i+1 < len(extra); i += 2 {
		if !edits.Drops([]byte(extra[i])) {
			out = http1.AppendFieldString(out, extra[i], extra[i+1])
		}
	}
	out = x.appendShared(edits.Append(out))
	out = x.appendConnection(out)
	out = append(out, "\r\n"...)
	if x.req.Method != http1.HEAD {
		head := len(out)
		out = strconv.AppendInt(out, int64(status), 10)
		out = append(out, ' ')
		out = append(out, title...)
		out = append(out, ": "...)
		out = append(out, reason...)
		out = append(out, '\n')
		x.out = int64(len(out) - head)
	}
	x.deliver(out)
}

// deliver sends an answer of our own.
func (x *exchange) deliver(out []byte) {
	x.began = true
	x.c.out = out
	if err := x.c.write(out); err != nil {
		x.keep = false
		x.status = 499
	}
}

// mayKeep is true where the client wants the connection kept and the daemon does not drain.
func (x *exchange) mayKeep() bool { return x.req.KeepAlive && !x.c.draining() }

// appendConnection says what becomes of the connection, where it is not the version's default (RFC 9112
// section 9.3).
func (x *exchange) appendConnection(dst []byte) []byte {
	switch {
	case !x.keep:
		return append(dst, "Connection: close\r\n"...)
	case x.req.Minor == 0:
		return append(dst, "Connection: keep-alive\r\n"...)
	default:
		return dst
	}
}
