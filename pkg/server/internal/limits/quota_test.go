package limits

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestQuota(t *testing.T) {
	type step struct {
		Now, Wait, Reset string
		Used             int64
	}
	steps := []step{
		{"2026-11-29T23:59:58.5Z", "0s", "2026-11-30T00:00:00Z", 1},
		{"2026-11-29T23:59:59Z", "0s", "2026-11-30T00:00:00Z", 2},
		{"2026-11-29T23:59:59.25Z", "750ms", "2026-11-30T00:00:00Z", 2},
		{"2026-11-30T00:00:00Z", "0s", "2026-12-01T00:00:00Z", 1},
		// One that looked at the clock before midnight and comes later.
		{"2026-11-29T23:59:59.999Z", "0s", "2026-12-01T00:00:00Z", 2},
		{"2026-11-30T01:00:00+01:00", "24h0m0s", "2026-12-01T00:00:00Z", 2},
		// The clock was a month ahead.
		{"2026-12-30T00:00:00Z", "0s", "2026-12-31T00:00:00Z", 1},
		{"2026-11-30T12:00:00Z", "0s", "2026-12-01T00:00:00Z", 1},
	}
	q := NewQuota(QuotaSettings{Requests: 2, Per: 24 * time.Hour})
	for _, want := range steps {
		v := q.Take(at(want.Now))
		s := q.State(at(want.Now))
		got := step{want.Now, v.Wait.String(), s.Reset.Format(time.RFC3339Nano), s.Used}
		if diff := cmp.Diff(want, got); diff != "" || v.OK != (v.Wait == 0) {
			t.Errorf("%+v (-want +got):\n%s", v, diff)
		}
	}
	want := QuotaState{Limit: 2, Reset: at("2026-12-02T00:00:00Z"), Refused: 2}
	if diff := cmp.Diff(want, q.State(at("2026-12-01T10:00:00Z"))); diff != "" {
		t.Errorf("the day after (-want +got):\n%s", diff)
	}
}

// A window of seven days begins on Thursdays, as 1970 did.
func TestQuotaOfAWeek(t *testing.T) {
	q := NewQuota(QuotaSettings{Requests: 1, Per: 7 * 24 * time.Hour})
	if got := q.State(at("2026-11-29T10:00:00Z")).Reset; got.Weekday() != time.Thursday || !got.Equal(at("2026-12-03T00:00:00Z")) {
		t.Errorf("ends %v, %v", got.Weekday(), got)
	}
}

func TestQuotaAllocatesNothing(t *testing.T) {
	q, now := NewQuota(QuotaSettings{Requests: 10, Per: time.Second}), at("2026-11-29T10:00:00Z")
	if n := testing.AllocsPerRun(1000, func() { q.Take(now) }); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}
