package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// collector turns a snapshot into series. Labels and meanings are those of docs/logging-metrics.md.
type collector struct {
	read func() Snapshot
	// bounds of the histogram.
	bounds []float64
	// classes and protocols are the values of these labels, by index in Member.Attempts and
	// Listener.Requests.
	classes   [Classes]*dto.LabelPair
	protocols [Protocols]*dto.LabelPair

	requests, duration, ejected, retries, members   *prometheus.Desc
	connections, accepted, inFlight, listenRequests *prometheus.Desc
	resends, limitRefused                           *prometheus.Desc
	logDropped, auditFailed, stateFailed            *prometheus.Desc
	buildInfo, reloadSuccess, reloadTime            *prometheus.Desc
	// build never changes.
	build prometheus.Metric
}

func newCollector(read func() Snapshot, version, goVersion string) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	c := &collector{
		read:   read,
		bounds: Buckets(),

		requests: desc("scalws_upstream_requests_total",
			"Attempts by member and status class.", "pool", "member", "class"),
		duration: desc("scalws_upstream_request_duration_seconds",
			"Time to the response head, retries included.", "pool"),
		ejected: desc("scalws_upstream_member_ejected",
			"1 while passive health keeps the member out.", "pool", "member"),
		retries: desc("scalws_upstream_pool_retries_total",
			"Requests sent to another member.", "pool"),
		members: desc("scalws_upstream_members",
			"Members of the pool.", "pool"),
		connections: desc("scalws_listener_connections",
			"Client connections that are open.", "listener"),
		accepted: desc("scalws_listener_connections_accepted_total",
			"Client connections that were accepted.", "listener"),
		inFlight: desc("scalws_listener_requests_in_flight",
			"Requests whose answer is not out yet.", "listener"),
		listenRequests: desc("scalws_listener_requests_total",
			"Requests that began.", "listener", "protocol"),
		resends: desc("scalws_upstream_retries_total",
			"Requests sent again to the same member because a kept-alive connection was stale.", "tenant", "application", "protocol"),
		limitRefused: desc("scalws_limit_refused_total",
			"Requests answered 429 because of a limit.", "tenant", "application", "kind"),
		logDropped: desc("scalws_access_log_dropped_total",
			"Access log lines lost because the output stood still or failed."),
		auditFailed: desc("scalws_audit_log_failed_total",
			"Changes whose line in the audit log could not be written."),
		stateFailed: desc("scalws_state_file_failed_total",
			"Writes of the state file that failed."),
		buildInfo: desc("scalws_build_info",
			"Always 1; the labels say what is running.", "version", "goversion"),
		reloadSuccess: desc("scalws_config_last_reload_success",
			"1 if the last configuration that was loaded is served, 0 if it was refused."),
		reloadTime: desc("scalws_config_last_reload_timestamp_seconds",
			"When a configuration was last loaded or refused, in seconds since 1970."),
	}
	for i, class := range [Classes]string{"2xx", "3xx", "4xx", "5xx", "error"} {
		c.classes[i] = label("class", class)
	}
	for i, protocol := range [Protocols]string{"h1", "h2"} {
		c.protocols[i] = label("protocol", protocol)
	}
	c.build = &series{
		desc: c.buildInfo, kind: prometheus.GaugeValue, value: 1,
		labels: []*dto.LabelPair{label("goversion", goVersion), label("version", version)},
	}
	return c
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		c.requests, c.duration, c.ejected, c.retries, c.members,
		c.connections, c.accepted, c.inFlight, c.listenRequests,
		c.resends, c.limitRefused, c.logDropped, c.auditFailed, c.stateFailed, c.buildInfo, c.reloadSuccess, c.reloadTime,
	} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector]. The registry refuses a value that Prometheus would refuse (a
// label that is not UTF-8) and leaves the others alone.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	s, out := c.read(), sink(ch)
	for i := range s.Listeners {
		c.listener(out, &s.Listeners[i])
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		pool := label("pool", p.Name)
		c.durations(out, p)
		out.counter(c.retries, p.Retries, pool)
		out.gauge(c.members, float64(p.Size), pool)
	}
	c.perMember(out, s.Pools)
	for _, r := range s.Resends {
		out.counter(c.resends, r.Count, label("application", r.Application), label("protocol", r.Protocol), label("tenant", r.Tenant))
	}
	for _, l := range s.Limits {
		out.counter(c.limitRefused, l.Refused, label("application", l.Application), label("kind", l.Kind), label("tenant", l.Tenant))
	}
	out.counter(c.logDropped, s.LogDropped)
	out.counter(c.auditFailed, s.AuditFailed)
	out.counter(c.stateFailed, s.StateFailed)
	if !s.Reload.At.IsZero() {
		out.gauge(c.reloadSuccess, number(s.Reload.Success))
		out.gauge(c.reloadTime, float64(s.Reload.At.UnixMilli())/1000)
	}
	ch <- c.build
}

func (c *collector) listener(out sink, l *Listener) {
	name := label("listener", l.Name)
	out.gauge(c.connections, float64(l.Connections), name)
	out.counter(c.accepted, l.Accepted, name)
	out.gauge(c.inFlight, float64(l.InFlight), name)
	for i, protocol := range c.protocols {
		out.counter(c.listenRequests, l.Requests[i], name, protocol)
	}
}

// perMember shows all classes of every member, so that rate() sees the first failure of one.
func (c *collector) perMember(out sink, pools []Pool) {
	all := sortedMembers(pools)
	for _, m := range all {
		out.gauge(c.ejected, number(m.Ejected), m.labels[:]...)
	}
	// One slice each for all of them: allocated one by one, these were most of a scrape.
	made := make([]series, len(all)*Classes)
	labels := make([]*dto.LabelPair, 0, len(made)*3)
	for i, class := range c.classes {
		for j, m := range all {
			from := len(labels)
			labels = append(labels, class, m.labels[0], m.labels[1])
			one := &made[i*len(all)+j]
			*one = series{c.requests, prometheus.CounterValue, float64(m.Attempts[i]), labels[from:len(labels):len(labels)]}
			out <- one
		}
	}
}

func (c *collector) durations(out sink, p *Pool) {
	cumulative := make(map[float64]uint64, len(c.bounds))
	var count uint64
	for i, n := range p.Duration.Counts {
		count += n
		if i < len(c.bounds) {
			cumulative[c.bounds[i]] = count
		}
	}
	for _, bound := range c.bounds[min(len(p.Duration.Counts), len(c.bounds)):] {
		cumulative[bound] = count
	}
	m, err := prometheus.NewConstHistogram(c.duration, count, p.Duration.Sum, cumulative, p.Name)
	if err != nil {
		m = prometheus.NewInvalidMetric(c.duration, err)
	}
	out <- m
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
