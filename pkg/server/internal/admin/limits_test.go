package admin

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// The API repeats bounds of the engine, because it stands on nothing else.
func TestLimitsAreTheEngines(t *testing.T) {
	type limits struct{ members, lightest, heaviest int }
	want := limits{lb.MaxMembers, lb.MinWeight, lb.MaxWeight}
	got := limits{api.MaxMembers, api.MinWeight, api.MaxWeight}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(limits{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
