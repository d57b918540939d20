package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/scalws/scalws/pkg/api"
)

// changeMembers is what the audit log calls a PUT of a member list.
const changeMembers = "set_members"

// change is one change, asked for or done. Calls that have one fill it in as they learn more.
type change struct {
	what, pool string
	// before and after are revisions of the pool; 0 where there is no such pool.
	before, after uint64
	// members is the length of the new list.
	members int
	// recorded is set once the audit log has it.
	recorded bool
}

// detail is what there is to say of a change that was done.
func (c *change) detail() string {
	if c.what == changeMembers {
		return fmt.Sprintf("%d members", c.members)
	}
	return "-"
}

type changeKey struct{}

// withChange notes the change that a request asks for.
func withChange(r *http.Request, c *change) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), changeKey{}, c))
}

// changeOf is the change that a request asks for. A rehearsal has one that no log gets.
func changeOf(r *http.Request) *change {
	if c, ok := r.Context().Value(changeKey{}).(*change); ok {
		return c
	}
	return &change{pool: r.PathValue("name")}
}

// audited is the answer to a call that changes something. The line in the audit log is written in front of its
// head, so that whoever has the answer can rely on the line.
type audited struct {
	http.ResponseWriter
	line func()
}

func (a *audited) WriteHeader(status int) {
	a.line()
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets [http.ResponseController] through.
func (a *audited) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// record writes the one line of a change; err is why it was not done.
func (h *handler) record(r *http.Request, c *change, err error) {
	if c.recorded {
		return
	}
	c.recorded = true
	e := Entry{
		What: c.what, Pool: cut(c.pool), Who: who(r), From: from(r),
		Before: c.before, After: c.after, Detail: c.detail(),
	}
	e.end(err)
	if err == nil && c.what == changeMembers && c.before == c.after {
		e.Result = ResultUnchanged
	}
	h.Audit.Record(e)
}

// end says what came of a change.
func (e *Entry) end(err error) {
	var problem *api.Problem
	switch {
	case errors.As(err, &problem):
		e.Result, e.Detail = ResultRefused, cut(problem.Error())
	case err != nil:
		e.Result, e.Detail = ResultFailed, cut(err.Error())
	default:
		e.Result = ResultDone
	}
}

// RecordReload writes the line of a reload that a signal has asked for. err is an [api.Problem] where it was
// refused.
func (l *AuditLog) RecordReload(signal string, err error) {
	e := Entry{What: changeReload, Who: Signal{signal}, From: "-", Detail: "-"}
	e.end(err)
	l.Record(e)
}

// cut shortens a text that a client chose the length of.
func cut(s string) string {
	const limit = 300
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
