package metrics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// collector turns a snapshot into series. Labels and meanings are those of docs/logging-metrics.md.
type collector struct {
	read func() Snapshot
	// bounds of the histogram; classes are the values of the class label, by index in Member.Attempts.
	bounds  []float64
	classes [Classes]string

	requests, duration, ejected, retries, members *prometheus.Desc
	resends, logDropped                           *prometheus.Desc
	buildInfo, reloadSuccess, reloadTime          *prometheus.Desc
	// build never changes.
	build prometheus.Metric
}

func newCollector(read func() Snapshot, version, goVersion string) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	c := &collector{
		read:    read,
		bounds:  Buckets(),
		classes: [Classes]string{"2xx", "3xx", "4xx", "5xx", "error"},

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
		resends: desc("scalws_upstream_retries_total",
			"Requests sent again to the same member because a kept-alive connection was stale.", "tenant", "application", "protocol"),
		logDropped: desc("scalws_access_log_dropped_total",
			"Access log lines lost because the output stood still or failed."),
		buildInfo: desc("scalws_build_info",
			"Always 1; the labels say what is running.", "version", "goversion"),
		reloadSuccess: desc("scalws_config_last_reload_success",
			"1 if the last configuration that was loaded is served, 0 if it was refused."),
		reloadTime: desc("scalws_config_last_reload_timestamp_seconds",
			"When a configuration was last loaded or refused, in seconds since 1970."),
	}
	c.build = prometheus.MustNewConstMetric(c.buildInfo, prometheus.GaugeValue, 1, version, goVersion)
	return c
}

func (c *collector) descs() []*prometheus.Desc {
	return []*prometheus.Desc{
		c.requests, c.duration, c.ejected, c.retries, c.members,
		c.resends, c.logDropped, c.buildInfo, c.reloadSuccess, c.reloadTime,
	}
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs() {
		ch <- d
	}
}

// Collect implements [prometheus.Collector]. A value that Prometheus would refuse (a label that is not
// UTF-8) becomes an error of that series and leaves the others alone.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		m, err := prometheus.NewConstMetric(d, kind, value, labels...)
		if err != nil {
			m = prometheus.NewInvalidMetric(d, err)
		}
		ch <- m
	}
	counter := func(d *prometheus.Desc, n uint64, labels ...string) {
		send(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		send(d, prometheus.GaugeValue, value, labels...)
	}

	s := c.read()
	for _, p := range s.Pools {
		c.collectDuration(ch, p)
		counter(c.retries, p.Retries, p.Name)
		gauge(c.members, float64(len(p.Members)), p.Name)
	}
	all := sortedMembers(s.Pools)
	for _, m := range all {
		gauge(c.ejected, number(m.Ejected), m.pool, m.Address)
	}
	// All classes of every member, so that rate() sees the first failure of a member.
	for i, class := range c.classes {
		for _, m := range all {
			counter(c.requests, m.Attempts[i], m.pool, m.Address, class)
		}
	}
	for _, r := range s.Resends {
		counter(c.resends, r.Count, r.Tenant, r.Application, r.Protocol)
	}
	counter(c.logDropped, s.LogDropped)
	if !s.Reload.At.IsZero() {
		gauge(c.reloadSuccess, number(s.Reload.Success))
		gauge(c.reloadTime, float64(s.Reload.At.UnixMilli())/1000)
	}
	ch <- c.build
}

// member is a member and the pool that it belongs to.
type member struct {
	*Member
	pool string
}

// sortedMembers are those of all pools in the order of an exposition, which is that of the label values
// by label name. The registry sorts again, which for 10,000 members in another order takes most of a scrape.
func sortedMembers(pools []Pool) []member {
	var all []member
	for _, p := range pools {
		for i := range p.Members {
			all = append(all, member{&p.Members[i], p.Name})
		}
	}
	slices.SortFunc(all, func(a, b member) int {
		return cmp.Or(strings.Compare(a.Address, b.Address), strings.Compare(a.pool, b.pool))
	})
	return all
}

func (c *collector) collectDuration(ch chan<- prometheus.Metric, p Pool) {
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
	ch <- m
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
