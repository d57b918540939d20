package admin

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// respondUpstream answers with one pool.
func respondUpstream(w http.ResponseWriter, p PoolView) error {
	u := upstream(p)
	w.Header().Set("ETag", u.ETag)
	return respond(w, u)
}

// etag names a state of a pool's list and settings. The incarnation keeps a revision of this pool from
// matching the same number of another one.
func etag(p PoolView) string {
	return `"` + p.Incarnation + "." + strconv.FormatUint(p.Status.Revision, 10) + `"`
}

// upstream is a pool in the API's words.
func upstream(p PoolView) api.Upstream {
	s := p.Status.Settings
	u := api.Upstream{
		Name:        p.Status.Name,
		MembersFrom: api.FromFile,
		Balance:     string(s.Balance),
		Scheme:      "http",
		Retries:     s.Retries,
		Keepalive:   p.Keepalive,
		PassiveHealth: api.PassiveHealth{
			Failures:          s.Health.Failures,
			Cooldown:          durationText(s.Health.Cooldown),
			ProbationRequests: s.Health.ProbationRequests,
		},
		CountTunnels: s.CountTunnels,
		Revision:     p.Status.Revision,
		ETag:         etag(p),
		Fingerprint:  p.Status.Fingerprint,
		Members:      make([]api.Member, 0, len(p.Status.Members)),
	}
	if p.FromAPI {
		u.MembersFrom = api.FromAPI
	}
	if s.Balance == lb.Hash {
		u.Hash = hash(s.Hash)
	}
	if p.HTTPS {
		u.Scheme = "https"
		if p.CAFile != "" || p.ServerName != "" {
			u.TLS = &api.TLS{CAFile: p.CAFile, ServerName: p.ServerName}
		}
	}
	if s.Budget != nil {
		u.RetryBudget = &api.RetryBudget{Ratio: s.Budget.Ratio, MinPerSecond: s.Budget.MinPerSecond}
	}
	if !p.RestoredFrom.IsZero() {
		from := p.RestoredFrom.UTC().Truncate(time.Millisecond)
		u.RestoredFrom = &from
	}
	for _, m := range p.Status.Members {
		u.Members = append(u.Members, member(m))
	}
	return u
}

func hash(s lb.HashSettings) *api.Hash {
	h := &api.Hash{By: string(s.By)}
	if s.By != lb.ByClientIP {
		h.Name = s.Name
	}
	if s.By == lb.ByCookie && s.CookieMaxAge > 0 {
		h.CookieMaxAge = durationText(s.CookieMaxAge)
	}
	return h
}

func member(m lb.MemberStatus) api.Member {
	out := api.Member{
		Address:             m.Address,
		Weight:              m.Weight,
		State:               m.State.String(),
		InFlight:            m.InFlight,
		ConsecutiveFailures: m.ConsecutiveFailures,
	}
	if m.State == lb.Ejected {
		out.EjectedUntil = moment(m.EjectedUntil)
	}
	if m.LastFailure != lb.NoCause {
		out.LastFailure = m.LastFailure.String()
	}
	return out
}

// moment is a time as the API writes it: in UTC, to the millisecond. The zero time is absent.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Millisecond)
	return &t
}

// durationText is the shortest text that the configuration file takes for d, for example "10s", "1m30s"
// or "1d".
func durationText(d time.Duration) string {
	var b strings.Builder
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}} {
		if n := d / unit.size; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, unit.name)
			d -= n * unit.size
		}
	}
	if b.Len() == 0 {
		return "0s"
	}
	return b.String()
}
