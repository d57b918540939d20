package lb

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestExplain(t *testing.T) {
	fails := func(p *Pool, n int) {
		for range n {
			l, _ := p.Pick(epoch, Key{}, nil)
			l.Done(epoch, Failure(Reset))
		}
	}
	tests := []struct {
		name    string
		list    string
		edit    func(*Settings)
		prepare func(*Pool)
		at      time.Duration
		key     func(*Pool) Key
		want    Explanation
	}{
		{
			name: "round robin", list: "a:5 b c",
			prepare: func(p *Pool) { l, _ := p.Pick(epoch, Key{}, nil); l.Done(epoch, Success()) },
			want: Explanation{
				Member: "a:80", Reason: "round_robin", Retries: []string{"b:80", "c:80"},
				Others: []PassedOver{{"b:80", "its turn comes later"}, {"c:80", "its turn comes later"}},
			},
		},
		{
			name: "ejected", list: "a b c", prepare: func(p *Pool) { fails(p, 1) }, at: time.Second,
			want: Explanation{
				Member: "b:80", Reason: "round_robin", Retries: []string{"c:80"},
				Others: []PassedOver{{"a:80", "ejected until 2026-11-29T10:00:10Z"}, {"c:80", "its turn comes later"}},
			},
		},
		{
			name: "probation", list: "a b", prepare: func(p *Pool) { fails(p, 1) }, at: 10 * time.Second,
			want: Explanation{
				Member: "b:80", Reason: "round_robin", Retries: []string{"a:80"},
				Others: []PassedOver{{"a:80", "its turn comes later"}},
			},
		},
		{
			name: "places taken", list: "a b", at: 10 * time.Second,
			prepare: func(p *Pool) {
				fails(p, 1)
				now := after(10 * time.Second)
				for {
					if l, _ := p.Pick(now, Key{}, nil); l.Address() == "a:80" {
						return
					}
				}
			},
			want: Explanation{
				Member: "b:80", Reason: "round_robin", Retries: []string{"a:80"},
				Others: []PassedOver{{"a:80", "on probation, and its places are taken: 1 in flight"}},
			},
		},
		{
			name: "last resort", list: "a b c", prepare: func(p *Pool) { fails(p, 3) }, at: time.Second,
			want: Explanation{
				Member: "a:80", Reason: "last_resort", Retries: []string{"b:80", "c:80"},
				Others: []PassedOver{{"b:80", "ejected until 2026-11-29T10:00:10Z"}, {"c:80", "ejected until 2026-11-29T10:00:10Z"}},
			},
		},
		{
			name: "least_conn", list: "a b:2", edit: func(s *Settings) { s.Balance = LeastConn },
			prepare: func(p *Pool) {
				for range 3 {
					p.Pick(epoch, Key{}, nil)
				}
			},
			want: Explanation{
				Member: "a:80", Reason: "least_conn", Retries: []string{"b:80"},
				Others: []PassedOver{{"b:80", "has 2 in flight at weight 2, and was not picked longer ago"}},
			},
		},
		{
			name: "cookie", list: "a b", edit: func(s *Settings) { s.Balance, s.Hash.By = Hash, ByCookie },
			key: func(p *Pool) Key {
				k, _ := p.TokenKey(epoch, []byte(p.roster.Load().members[1].token))
				return k
			},
			want: Explanation{
				Member: "b:80", Reason: "affinity", Retries: []string{"a:80"},
				Others: []PassedOver{{"a:80", "the cookie names another member"}},
			},
		},
		{
			name: "rendezvous", list: "a b:1000", edit: func(s *Settings) { s.Balance, s.Hash.By = Hash, ByHeader },
			key: func(*Pool) Key { return TextKey([]byte("k")) },
			want: Explanation{
				Member: "b:80", Reason: "rendezvous", Retries: []string{"a:80"},
				Others: []PassedOver{{"a:80", "the key belongs to another member"}},
			},
		},
		{name: "nobody", list: "", want: Explanation{}},
		{
			name: "no retries", list: "a b", edit: func(s *Settings) { s.Retries = 0 },
			want: Explanation{Member: "a:80", Reason: "round_robin", Others: []PassedOver{{"b:80", "its turn comes later"}}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPool(t, test.list, with(func(s *Settings) {
				s.Retries, s.Health.Failures = 3, 1
				if test.edit != nil {
					test.edit(s)
				}
			}))
			if test.prepare != nil {
				test.prepare(p)
			}
			var key Key
			if test.key != nil {
				key = test.key(p)
			}
			now := after(test.at)
			test.want.Pool, test.want.Revision = "test", 1
			if diff := cmp.Diff(test.want, p.Explain(now, key)); diff != "" {
				t.Errorf("explanation (-want +got):\n%s", diff)
			}
			if l, _ := p.Pick(now, key, nil); l.Address() != test.want.Member {
				t.Errorf("the next pick is %s", l.Address())
			}
		})
	}
}

func TestPreview(t *testing.T) {
	p := newPool(t, "a b c", balance(Hash, ByHeader))
	v := p.Preview(epoch, members("a b d"), nil, nil)
	if v.Keys != 65536 || v.Source != "probe" || v.From["c:80"] < 20_000 || v.To["d:80"] < 20_000 {
		t.Errorf("%+v", v)
	}
	if sum := v.To["a:80"] + v.To["b:80"] + v.To["d:80"]; sum != v.Moved || len(v.To) > 3 {
		t.Errorf("moved %d, to %v", v.Moved, v.To)
	}

	keys := []string{"one", "two", "", "three", "four", "five"}
	want := Preview{Keys: 5, Source: "given", From: map[string]int{}, To: map[string]int{}}
	before := map[string]string{}
	for _, k := range keys {
		if k != "" {
			before[k] = mapped(p, TextKey([]byte(k)))
		}
	}
	got := p.Preview(epoch, members("c"), keys, nil)
	p.Replace(epoch, members("c"), "test")
	for k, from := range before {
		if to := mapped(p, TextKey([]byte(k))); to != from {
			want.Moved++
			want.From[from]++
			want.To[to]++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("preview and what came of it (-want +got):\n%s", diff)
	}
}

func TestPreviewOfNobody(t *testing.T) {
	p := newPool(t, "a", balance(Hash, ByClientIP))
	got := p.Preview(epoch, nil, []string{"192.0.2.1", "::ffff:192.0.2.1", "nonsense"}, nil)
	want := Preview{Keys: 2, Source: "given", Moved: 2, From: map[string]int{"a:80": 2}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("to an empty list (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Preview{}, newPool(t, "a", nil).Preview(epoch, nil, nil, nil)); diff != "" {
		t.Errorf("of a pool without mapping (-want +got):\n%s", diff)
	}
}

func TestPreviewKnowsEjections(t *testing.T) {
	p := newPool(t, "a b", with(func(s *Settings) { s.Balance, s.Hash.By, s.Health.Failures = Hash, ByHeader, 1 }))
	pick(t, p, epoch, Key{}, nil).Done(epoch, Failure(Reset)) // a
	if v := p.Preview(epoch, members("b"), nil, nil); v.Moved != 0 {
		t.Errorf("a has no keys, but %d would move", v.Moved)
	}
	pick(t, p, epoch, Key{}, nil).Done(epoch, Failure(Reset)) // b
	if v := p.Preview(epoch, members("b"), nil, nil); v.Moved < 30_000 {
		t.Errorf("all are ejected and the mapping counts, but only %d would move", v.Moved)
	}
}

func TestPreviewStops(t *testing.T) {
	p := newPool(t, "a b", balance(Hash, ByHeader))
	for name, keys := range map[string][]string{"probes": nil, "given keys": {"one", "two", "three", "four"}} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			v := p.Preview(epoch, members("a"), keys, func() bool { asked++; return asked > 3 })
			if v.Keys != 3 || asked != 4 {
				t.Errorf("%d keys after %d questions", v.Keys, asked)
			}
		})
	}
}
