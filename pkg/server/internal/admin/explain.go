package admin

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// explain answers GET /v1/upstreams/{name}/explain.
func (h *handler) explain(w http.ResponseWriter, r *http.Request) error {
	p, ok := h.Runtime.Pool(r.PathValue("name"))
	if !ok {
		return noPool(r)
	}
	values, err := query(r, api.ParamClientIP, api.ParamHeader, api.ParamCookie)
	if err != nil {
		return err
	}
	now := time.Now()
	key, text, err := askedKey(p, values, now)
	if err != nil {
		return err
	}
	e := p.Engine.Explain(now, key)
	answer := api.Explanation{
		Pool: e.Pool, Revision: e.Revision, Key: text, Member: e.Member, Reason: e.Reason,
		Others:  make([]api.PassedOver, 0, len(e.Others)),
		Retries: append([]string{}, e.Retries...),
	}
	for _, o := range e.Others {
		answer.Others = append(answer.Others, api.PassedOver(o))
	}
	return respond(w, answer)
}

// askedKey is the key of the request that the parameters describe, and its text. What the pool does not hash is
// refused: the answer would not depend on it. Without its parameter, or with an empty one, the request has no
// key, like one without the header; a cookie that names nobody in rotation is as good as none.
func askedKey(p PoolView, values map[string]string, now time.Time) (lb.Key, string, error) {
	takes := ""
	if p.Status.Settings.Balance == lb.Hash {
		takes = hashParameter(p.Status.Settings.Hash.By)
	}
	for _, name := range []string{api.ParamClientIP, api.ParamHeader, api.ParamCookie} {
		if _, given := values[name]; !given || name == takes {
			continue
		}
		if takes == "" {
			return lb.Key{}, "", invalidQuery(name + ": pool " + p.Status.Name + " hashes nothing: its balance is " + string(p.Status.Settings.Balance))
		}
		return lb.Key{}, "", invalidQuery(name + ": pool " + p.Status.Name + " does not hash that: it takes " + takes)
	}
	text := strings.Trim(values[takes], " \t") // as around a field's value, RFC 9110 section 5.5
	if text == "" {
		return lb.Key{}, "", nil
	}
	switch takes {
	case api.ParamClientIP:
		address, err := netip.ParseAddr(text)
		if err != nil {
			return lb.Key{}, "", invalidQuery("client_ip: not an IP address: " + escaped(text))
		}
		address = address.Unmap().WithZone("")
		return lb.AddrKey(address), address.String(), nil
	case api.ParamHeader:
		return lb.TextKey([]byte(text)), text, nil
	}
	key, _ := p.Engine.TokenKey(now, []byte(text))
	return key, text, nil
}

// hashParameter is the parameter that brings what a pool hashes.
func hashParameter(by lb.HashBy) string {
	switch by {
	case lb.ByClientIP:
		return api.ParamClientIP
	case lb.ByHeader:
		return api.ParamHeader
	}
	return api.ParamCookie
}
