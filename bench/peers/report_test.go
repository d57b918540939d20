package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMedian(t *testing.T) {
	values := []float64{9, 1, 5}
	if got := median(values); got != 5 {
		t.Errorf("odd: %v", got)
	}
	if got := median([]float64{4, 1, 2, 9}); got != 3 {
		t.Errorf("even: %v", got)
	}
	if diff := cmp.Diff([]float64{9, 1, 5}, values); diff != "" {
		t.Errorf("the order by round is lost: %s", diff)
	}
}

// TestTable: the ratios compare runs of the same round, so a round in which the machine was slow for
// everybody does not move them.
func TestTable(t *testing.T) {
	runs := func(name string, factor int64, slow ...int64) (list []sample) {
		for i, s := range slow {
			list = append(list, sample{
				Proxy: name, Round: i + 1, Requests: 1000, Took: time.Second * time.Duration(s), Peak: 10 << 20 * factor,
				Processor: time.Duration(factor*s) * 10 * time.Millisecond,
				P50:       time.Duration(s) * time.Millisecond, P99: time.Duration(factor*s) * 2 * time.Millisecond,
			})
		}
		return list
	}
	o := outcome{Title: "load", Runs: append(runs("nginx", 1, 1, 3, 1), runs("scalws", 2, 1, 3, 2)...)}
	want := strings.TrimPrefix(`
| load   |         us/request | / nginx |        requests/s | / nginx |             p50 ms |              p99 ms | / nginx |           peak MiB | / nginx |
|--------|-------------------:|--------:|------------------:|--------:|-------------------:|--------------------:|--------:|-------------------:|--------:|
| scalws | 40.0 (20.0 - 60.0) |    2.00 |  500 (333 - 1000) |    1.00 | 2.00 (1.00 - 3.00) | 8.00 (4.00 - 12.00) |    2.00 | 20.0 (20.0 - 20.0) |    2.00 |
| nginx  | 10.0 (10.0 - 30.0) |    1.00 | 1000 (333 - 1000) |    1.00 | 1.00 (1.00 - 3.00) |  2.00 (2.00 - 6.00) |    1.00 | 10.0 (10.0 - 10.0) |    1.00 |
`, "\n")
	if diff := cmp.Diff(want, o.table()); diff != "" {
		t.Error(diff)
	}
}
