package admin

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/scalws/scalws/pkg/api"
)

// changeMembers is what the audit log calls a PUT of a member list.
const changeMembers = "set_members"

// change is one change, asked for or done.
type change struct {
	what, pool string
	// before and after are revisions of the pool; 0 where there is no such pool.
	before, after uint64
	// members is the length of the new list.
	members int
}

// detail is what there is to say of a change that was done.
func (c change) detail() string {
	if c.what == changeMembers {
		return fmt.Sprintf("%d members", c.members)
	}
	return "-"
}

// audit writes the one line of a change; err is why it was not done.
func (h *handler) audit(r *http.Request, c change, err error) {
	level, result, detail := slog.LevelInfo, "done", c.detail()
	var problem *api.Problem
	switch {
	case errors.As(err, &problem):
		level, result, detail = slog.LevelWarn, "refused", problem.Error()
	case err != nil:
		level, result, detail = slog.LevelError, "failed", err.Error()
	case c.pool != "" && c.before == c.after:
		result = "unchanged"
	}
	h.Log.LogAttrs(r.Context(), level, "admin change",
		slog.String("what", c.what),
		slog.String("pool", cut(c.pool)),
		slog.String("who", who(r)),
		slog.String("from", from(r)),
		slog.Uint64("revision_before", c.before),
		slog.Uint64("revision_after", c.after),
		slog.String("result", result),
		slog.String("detail", cut(detail)),
	)
}

// cut shortens a text that a client chose the length of.
func cut(s string) string {
	const limit = 300
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
