package lb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEvents(t *testing.T) {
	seq := new(Sequence)
	seq.Next() // another pool's
	p := newPool(t, "a b", func(o *Options) { o.Seq = seq; o.Settings.Health.Failures = 2 })
	a := func(now time.Time) *Lease {
		for {
			if l := pick(t, p, now, Key{}, nil); l.Address() == "a:80" {
				return l
			}
		}
	}
	a(epoch).Done(epoch, FailureDetail(ConnectRefused, "dial: refused"))
	a(after(time.Second)).Done(after(time.Second), Failure(Status503))
	back := after(20 * time.Second)
	a(back).Done(back, Failure(Reset))
	again := after(40 * time.Second)
	a(again).Done(again, Success())
	p.Replace(again, members("b:3 c"), "admin")

	ejected := func(seq uint64, at time.Duration, e ...Evidence) Event {
		return Event{Seq: seq, Time: after(at), Pool: "test", Kind: EventEjected, Member: "a:80", Until: after(at + DefaultCooldown), Actor: "health", Evidence: e}
	}
	want := []Event{
		ejected(2, time.Second, Evidence{epoch, ConnectRefused, "dial: refused"}, Evidence{after(time.Second), Status503, ""}),
		{Seq: 3, Time: after(11 * time.Second), Pool: "test", Kind: EventProbation, Member: "a:80", Actor: "health"},
		ejected(4, 20*time.Second, Evidence{back, Reset, ""}),
		{Seq: 5, Time: after(30 * time.Second), Pool: "test", Kind: EventProbation, Member: "a:80", Actor: "health"},
		{Seq: 6, Time: again, Pool: "test", Kind: EventRecovered, Member: "a:80", Actor: "health"},
		{Seq: 7, Time: again, Pool: "test", Kind: EventRemoved, Member: "a:80", Actor: "admin"},
		{Seq: 8, Time: again, Pool: "test", Kind: EventAdded, Member: "c:80", Actor: "admin"},
		{Seq: 9, Time: again, Pool: "test", Kind: EventReweighted, Member: "b:80", Actor: "admin", From: 1, To: 3},
	}
	if diff := cmp.Diff(want, p.Events(0)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[6:], p.Events(7)); diff != "" {
		t.Errorf("events after 7 (-want +got):\n%s", diff)
	}
	if got := p.Events(9); len(got) != 0 || seq.Last() != 9 {
		t.Errorf("after the last, which is %d: %v", seq.Last(), got)
	}
}

func TestEventsWithAGap(t *testing.T) {
	p := newPool(t, "a", func(o *Options) { o.Events = 3 })
	for n := range 5 {
		p.Replace(after(time.Duration(n)*time.Second), members(fmt.Sprintf("a:%d", n+2)), "test")
	}
	tests := []struct {
		since uint64
		want  string
	}{
		{0, "gap2 member_reweighted3 member_reweighted4 member_reweighted5"},
		{1, "gap2 member_reweighted3 member_reweighted4 member_reweighted5"},
		{2, "member_reweighted3 member_reweighted4 member_reweighted5"},
		{4, "member_reweighted5"},
		{5, ""},
		{6, ""},
	}
	for _, test := range tests {
		var got []string
		for _, e := range p.Events(test.since) {
			got = append(got, fmt.Sprint(e.Kind, e.Seq))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("since %d: %v, want %s", test.since, got, test.want)
		}
	}
	want := Event{Seq: 2, Time: after(time.Second), Pool: "test", Kind: EventGap}
	if diff := cmp.Diff(want, p.Events(0)[0]); diff != "" {
		t.Errorf("gap (-want +got):\n%s", diff)
	}
}

func TestEvidenceIsBounded(t *testing.T) {
	p := newPool(t, "a", with(func(s *Settings) { s.Health.Failures = 20 }))
	for n := range 20 {
		now := after(time.Duration(n) * time.Second)
		pick(t, p, now, Key{}, nil).Done(now, FailureDetail(Reset, strings.Repeat("é", 150)))
	}
	e := p.Events(0)[0].Evidence
	if len(e) != 8 || !e[0].Time.Equal(after(12*time.Second)) || !e[7].Time.Equal(after(19*time.Second)) {
		t.Errorf("%d pieces from %v", len(e), e[0].Time)
	}
	if e[0].Detail != strings.Repeat("é", 100) {
		t.Errorf("detail of %d bytes", len(e[0].Detail))
	}
	odd := FailureDetail(Reset, "x"+strings.Repeat("é", 150))
	if len(odd.detail) != 199 || FailureDetail(Reset, strings.Repeat("x", 200)).detail != strings.Repeat("x", 200) {
		t.Errorf("detail of %d bytes", len(odd.detail))
	}
}

// TestEvidenceIsThatOfTheEjection: a success clears what was before it.
func TestEvidenceIsThatOfTheEjection(t *testing.T) {
	p := newPool(t, "a", with(func(s *Settings) { s.Health.Failures = 2 }))
	for _, o := range []Outcome{Failure(Status502), Success(), Failure(Status503), Failure(Status504)} {
		pick(t, p, epoch, Key{}, nil).Done(epoch, o)
	}
	want := []Evidence{{epoch, Status503, ""}, {epoch, Status504, ""}}
	if diff := cmp.Diff(want, p.Events(0)[0].Evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
}
