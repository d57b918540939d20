package server

import "github.com/scalws/scalws/pkg/server/internal/proxy"

// resends count requests sent again on a fresh connection, by tenant and application. The set is made for one
// configuration, so that an application that is gone has no series.
type resends map[resendKey]*proxy.Resends

type resendKey struct{ tenant, application string }

// of are the counters of an application, those of the set before where it has them.
func (r resends) of(tenant, application string, before resends) *proxy.Resends {
	k := resendKey{tenant, application}
	if r[k] == nil {
		if r[k] = before[k]; r[k] == nil {
			r[k] = new(proxy.Resends)
		}
	}
	return r[k]
}
