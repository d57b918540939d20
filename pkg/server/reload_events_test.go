package server_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
)

// A reload is in the sequence of events, with what it did to pools and to their lists; so is what happened in a
// pool before it was rebuilt.
func TestReloadEvents(t *testing.T) {
	m := named(t, "a", "b")
	pools := func(text string) servertest.Setup { return servertest.Setup{Rest: "upstreams:\n" + text} }
	list := func(members ...*servertest.Member) string {
		text := ""
		for _, x := range members {
			text += fmt.Sprintf("{address: %q}, ", x.Address())
		}
		return "members: [" + text + "]"
	}
	d := servertest.Start(t, pools("  gone: {"+list(m[0])+"}\n  kept: {"+list(m[0])+"}\n  other: {"+list(m[0])+"}\n"))
	d.Change(pools("  fresh: {" + list(m[0]) + "}\n  kept: {" + list(m...) + "}\n  other: {retries: 0, " + list(m[0]) + "}\n"))
	d.Change(pools("  fresh: {" + list(m[0]) + "}\n  kept: {keepalive: 0, " + list(m...) + "}\n  other: {retries: 0, " + list(m[0]) + "}\n"))
	events, err := d.Admin.Events(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, e := range events.Events {
		got = append(got, fmt.Sprint(e.Kind, " ", e.Pool, " ", e.Member))
		if e.Seq != uint64(i+1) || e.Actor == "" || e.Time == nil {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	want := []string{"reload  ", "pool_added fresh ", "pool_removed gone ", "pool_rebuilt other ", "member_added kept " + m[1].Address(),
		"reload  ", "pool_rebuilt kept "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
