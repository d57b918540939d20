package admin

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// previewPatience is how long a preview waits for the one before it.
const previewPatience = 10 * time.Second

// preview answers POST /v1/upstreams/{name}/preview.
func (h *handler) preview(w http.ResponseWriter, r *http.Request) error {
	p, ok := h.Runtime.Pool(r.PathValue("name"))
	if !ok {
		return noPool(r)
	}
	s := p.Status.Settings
	if s.Balance != lb.Hash || s.Hash.By == lb.ByCookie {
		return refuse(api.CodeNoKeys,
			"pool %s hashes no key: a preview is for balance: hash by header or client_ip", p.Status.Name)
	}
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	if _, err := query(r); err != nil {
		return err
	}
	members, keys, err := decodePreview(body, p.HTTPS)
	if err != nil {
		return err
	}
	if s.Hash.By == lb.ByClientIP {
		for i, key := range keys {
			if _, err := netip.ParseAddr(key); err != nil {
				return invalidKey(i, "not an IP address: "+escaped(key))
			}
		}
	}
	v, err := h.compare(r, p.Engine, members, keys)
	if err != nil {
		return err
	}
	return respond(w, api.Preview(v))
}

// compare has the engine count. That takes a processor for seconds where members or keys are many, so it is
// done for one caller at a time, and no longer than that one waits for it.
func (h *handler) compare(r *http.Request, engine Engine, members []lb.Member, keys []string) (lb.Preview, error) {
	ctx := r.Context()
	patience := time.NewTimer(previewPatience)
	defer patience.Stop()
	select {
	case h.previews <- struct{}{}:
		defer func() { <-h.previews }()
	case <-ctx.Done():
		return lb.Preview{}, ctx.Err()
	case <-patience.C:
		return lb.Preview{}, refuse(api.CodeBusy,
			"another preview is being computed: try again later")
	}
	v := engine.Preview(time.Now(), members, keys, func() bool { return ctx.Err() != nil })
	return v, ctx.Err()
}
