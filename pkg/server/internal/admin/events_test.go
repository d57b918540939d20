package admin

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

func TestEvents(t *testing.T) {
	f := newFixture(t)
	at := time.Date(2026, 11, 29, 11, 0, 0, 500_400_000, time.FixedZone("CET", 3600))
	f.journal.add(
		lb.Event{Seq: 3, Kind: lb.EventGap, Time: at, Pool: "file"},
		lb.Event{Seq: 4, Kind: lb.EventReweighted, Time: at, Pool: "api", Member: "a:1", From: 1, To: 3, Actor: "uid=0"},
		lb.Event{Seq: 5, Kind: lb.EventEjected, Time: at, Pool: "gone", Member: "b:1", Until: at.Add(time.Second), Actor: "health",
			Evidence: []lb.Evidence{{Time: at, Cause: lb.ConnectRefused}}},
		lb.Event{Seq: 6, Kind: lb.EventGap},
	)
	utc := time.Date(2026, 11, 29, 10, 0, 0, 500_000_000, time.UTC)
	until := utc.Add(time.Second)
	gap := api.Event{Seq: 3, Kind: "gap", Time: &utc, Pool: "file"}
	weight := api.Event{Seq: 4, Kind: "member_reweighted", Time: &utc, Pool: "api", Member: "a:1", From: 1, To: 3, Actor: "uid=0"}
	ejected := api.Event{Seq: 5, Kind: "ejected", Time: &utc, Pool: "gone", Member: "b:1", Until: &until, Actor: "health",
		Evidence: []api.Evidence{{Time: utc, Cause: "connect_refused"}}}
	process := api.Event{Seq: 6, Kind: "gap"}
	for query, want := range map[string][]api.Event{
		"":                  {gap, weight, ejected, process},
		"?since=0":          {gap, weight, ejected, process},
		"?since=4":          {ejected, process},
		"?since=6":          {},
		"?pool=api":         {weight, process},
		"?pool=gone":        {ejected, process},
		"?pool=ip":          {process},
		"?pool=api&since=5": {process},
	} {
		got := decode[api.Events](t, f.do("GET", "/v1/events"+query, ""))
		if diff := cmp.Diff(api.Events{Boot: "b7", Events: want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

func TestEventsRefused(t *testing.T) {
	tests := []struct {
		query  string
		status int
		code   string
		detail string
	}{
		{"pool=none", 404, api.CodePoolNotFound, `there is no pool "none"`},
		{"pool=none&since=x", 404, api.CodePoolNotFound, `there is no pool "none"`},
		{"since=x", 400, api.CodeInvalidQuery, "query: since must be the number of an event, 0 for all"},
		{"since=", 400, api.CodeInvalidQuery, "query: since must be the number of an event, 0 for all"},
		{"since=-1", 400, api.CodeInvalidQuery, "query: since must be the number of an event, 0 for all"},
		{"since=99999999999999999999", 400, api.CodeInvalidQuery, "query: since must be the number of an event, 0 for all"},
		{"since=1&since=2", 400, api.CodeInvalidQuery, "query: since is given twice"},
		{"after=1", 400, api.CodeInvalidQuery, "query: unknown parameter after: this call takes pool, since"},
		{"%zz", 400, api.CodeInvalidQuery, `query: not readable: invalid URL escape "%zz"`},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			f := newFixture(t)
			f.expectProblem(t, f.do("GET", "/v1/events?"+tt.query, ""), tt.status, tt.code, tt.detail)
		})
	}
}

// The kinds that the engine has are those of the API.
func TestKindsAreTheEngines(t *testing.T) {
	want := []lb.EventKind{lb.EventEjected, lb.EventProbation, lb.EventRecovered, lb.EventAdded, lb.EventRemoved, lb.EventReweighted,
		lb.EventReload, lb.EventPoolAdded, lb.EventPoolRebuilt, lb.EventPoolRemoved, lb.EventGap}
	got := []lb.EventKind{api.EventEjected, api.EventProbation, api.EventRecovered, api.EventAdded, api.EventRemoved, api.EventReweighted,
		api.EventReload, api.EventPoolAdded, api.EventPoolRebuilt, api.EventPoolRemoved, api.EventGap}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
