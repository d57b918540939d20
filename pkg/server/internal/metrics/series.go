package metrics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// series is one value at a scrape. Unlike the constant metrics of client_golang it can share its labels
// with others: 10,000 members have 60,000 series, made of 10,000 addresses and five classes.
type series struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value float64
	// labels are sorted by name, as [prometheus.Metric] asks.
	labels []*dto.LabelPair
}

// Desc implements [prometheus.Metric].
func (s *series) Desc() *prometheus.Desc { return s.desc }

// Write implements [prometheus.Metric].
func (s *series) Write(m *dto.Metric) error {
	m.Label = s.labels
	if s.kind == prometheus.CounterValue {
		m.Counter = &dto.Counter{Value: &s.value}
	} else {
		m.Gauge = &dto.Gauge{Value: &s.value}
	}
	return nil
}

func label(name, value string) *dto.LabelPair { return &dto.LabelPair{Name: &name, Value: &value} }

// sink is where a scrape's series go. The labels that its methods take are sorted by name.
type sink chan<- prometheus.Metric

func (out sink) counter(d *prometheus.Desc, n uint64, labels ...*dto.LabelPair) {
	out <- &series{d, prometheus.CounterValue, float64(n), labels}
}

func (out sink) gauge(d *prometheus.Desc, value float64, labels ...*dto.LabelPair) {
	out <- &series{d, prometheus.GaugeValue, value, labels}
}

// member is a member with the labels that name it: its address and its pool.
type member struct {
	*Member
	pool   string
	labels [2]*dto.LabelPair
}

// sortedMembers are those of all pools in the order of an exposition, which is that of the label values
// by label name. The registry sorts again, which for 10,000 members in another order takes most of a scrape.
func sortedMembers(pools []Pool) []*member {
	var all []*member
	for _, p := range pools {
		pool := label("pool", p.Name)
		for i := range p.Members {
			m := &p.Members[i]
			all = append(all, &member{m, p.Name, [2]*dto.LabelPair{label("member", m.Address), pool}})
		}
	}
	slices.SortFunc(all, func(a, b *member) int {
		return cmp.Or(strings.Compare(a.Address, b.Address), strings.Compare(a.pool, b.pool))
	})
	return all
}
