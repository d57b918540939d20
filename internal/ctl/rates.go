package ctl

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// attemptsMetric counts the attempts of a member, a class of answers each.
const attemptsMetric = "scalws_upstream_requests_total"

// trendLength is how many rates of a member are kept, one a look.
const trendLength = 12

// memberKey names a member over all pools.
type memberKey struct{ pool, member string }

// attempts are what the members were sent so far.
type attempts map[memberKey]float64

// readAttempts reads the attempts from the daemon's metrics. Without metrics of single members there are none.
func readAttempts(text []byte) (attempts, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading the metrics: %w", err)
	}
	all := attempts{}
	for _, m := range families[attemptsMetric].GetMetric() {
		var key memberKey
		for _, label := range m.GetLabel() {
			switch label.GetName() {
			case "pool":
				key.pool = label.GetValue()
			case "member":
				key.member = label.GetValue()
			}
		}
		all[key] += m.GetCounter().GetValue()
	}
	return all, nil
}

// rates are the latest requests a second of the members, the oldest first, at most trendLength of each.
type rates map[memberKey][]float64

// next are the rates one look later. A member that is new, or whose count began anew, has sent what it has counted.
func (r rates) next(before, now attempts, passed time.Duration) rates {
	later := make(rates, len(now))
	if passed <= 0 {
		return maps.Clone(r)
	}
	for key, n := range now {
		sent := n - before[key]
		if sent < 0 {
			sent = n
		}
		row := append([]float64(nil), r[key]...)
		row = append(row, sent/passed.Seconds())
		later[key] = row[max(0, len(row)-trendLength):]
	}
	return later
}

// latest is the present rate of a member, if it is known.
func (r rates) latest(key memberKey) (float64, bool) {
	row := r[key]
	if len(row) == 0 {
		return 0, false
	}
	return row[len(row)-1], true
}

// highest is the highest rate of all: what a full column stands for.
func (r rates) highest() float64 {
	highest := 0.0
	for _, row := range r {
		for _, rate := range row {
			highest = max(highest, rate)
		}
	}
	return highest
}

// trend draws the rates of a member in as many columns as are kept, the latest at the right. No traffic is a low
// line, no knowledge a space.
func (r rates) trend(key memberKey, full float64) string {
	steps := []rune("▁▂▃▄▅▆▇█")
	row := r[key]
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", trendLength-len(row)))
	for _, rate := range row {
		step := 0
		if rate > 0 && full > 0 {
			step = max(1, int(math.Round(rate/full*float64(len(steps)-1))))
		}
		b.WriteRune(steps[min(step, len(steps)-1)])
	}
	return b.String()
}

// perSecond is a rate for people.
func perSecond(rate float64, known bool) string {
	switch {
	case !known:
		return nothing
	case rate > 0 && rate < 10:
		return fmt.Sprintf("%.1f", rate)
	}
	return fmt.Sprintf("%.0f", rate)
}
