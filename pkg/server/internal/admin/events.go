package admin

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// events answers GET /v1/events, with a list or with a stream.
func (h *handler) events(w http.ResponseWriter, r *http.Request) error {
	pool, since, err := h.wanted(r)
	if err != nil {
		return err
	}
	w.Header().Set("Vary", "Accept")
	if wantsStream(r) {
		return h.stream(w, r, pool, since)
	}
	events, _ := h.Journal.Since(since)
	list := api.Events{Boot: h.Runtime.Status().Boot, Events: []api.Event{}}
	for _, e := range events {
		if concerns(e, pool) {
			list.Events = append(list.Events, event(e))
		}
	}
	return respond(w, list)
}

// wanted reads which events a request asks for: those of a pool, or of all where it is empty, after a number.
func (h *handler) wanted(r *http.Request) (pool string, since uint64, err error) {
	values, err := query(r, api.ParamPool, api.ParamSince)
	if err != nil {
		return "", 0, err
	}
	if pool = values[api.ParamPool]; pool != "" && !h.known(pool) {
		return "", 0, refuse(api.CodePoolNotFound, "there is no pool %q", cut(pool))
	}
	if text, given := values[api.ParamSince]; given {
		if since, err = strconv.ParseUint(text, 10, 64); err != nil {
			return "", 0, invalidQuery("since must be the number of an event, 0 for all")
		}
	}
	return pool, since, nil
}

// known tells whether there is a pool, or events of one that is gone.
func (h *handler) known(pool string) bool {
	if _, ok := h.Runtime.Pool(pool); ok {
		return true
	}
	events, _ := h.Journal.Since(0)
	for _, e := range events {
		if e.Pool == pool {
			return true
		}
	}
	return false
}

// concerns tells whether an event is about a pool; "" is any. What is about no pool in particular, such as
// events of all pools that are gone, may concern every one.
func concerns(e lb.Event, pool string) bool { return pool == "" || e.Pool == "" || e.Pool == pool }

// wantsStream tells whether a stream is among what the request accepts (RFC 9110 section 12.5.1).
func wantsStream(r *http.Request) bool {
	for accepted := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		media, parameters, err := mime.ParseMediaType(accepted)
		q := parameters["q"]
		refused := q != "" && strings.Trim(q, "0.") == ""
		if err == nil && media == api.StreamType && !refused {
			return true
		}
	}
	return false
}

// event is an event in the API's words.
func event(e lb.Event) api.Event {
	out := api.Event{
		Seq: e.Seq, Time: moment(e.Time), Pool: e.Pool, Kind: string(e.Kind), Member: e.Member,
		Until: moment(e.Until), Actor: e.Actor, From: e.From, To: e.To,
	}
	for _, failure := range e.Evidence {
		out.Evidence = append(out.Evidence, api.Evidence{
			Time: *moment(failure.Time), Cause: failure.Cause.String(), Detail: failure.Detail,
		})
	}
	return out
}
