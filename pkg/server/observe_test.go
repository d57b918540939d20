package server_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/server/internal/metrics"
	"github.com/scalws/scalws/pkg/server/internal/proxy"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// The data plane counts and the collector shows; neither knows the other. Each bound belongs to its bucket,
// and what is above it to the next.
func TestBucketsOfDurations(t *testing.T) {
	var d proxy.Durations
	bounds := metrics.Buckets()
	want := make([]uint64, len(bounds)+1)
	for i, seconds := range bounds {
		bound := time.Duration(seconds*1e6) * time.Microsecond
		d.Observe(bound)
		d.Observe(bound + 1)
		want[i]++
		want[i+1]++
	}
	got, _ := d.Snapshot()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestClassesOfAttempts(t *testing.T) {
	want := []int{metrics.Class2xx, metrics.Class3xx, metrics.Class4xx, metrics.Class5xx, metrics.ClassError, metrics.Classes}
	got := []int{
		int(upstream.ClassOf(204)), int(upstream.ClassOf(304)), int(upstream.ClassOf(404)), int(upstream.ClassOf(503)),
		int(upstream.ClassError), upstream.Classes,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
