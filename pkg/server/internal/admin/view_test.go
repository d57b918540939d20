package admin

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/lb"
)

func TestUpstreamView(t *testing.T) {
	settings := func(change func(*lb.Settings)) lb.Settings {
		s := lb.DefaultSettings()
		change(&s)
		return s
	}
	tests := []struct {
		name string
		view PoolView
		want string
	}{
		{
			"plain", PoolView{
				Status:  lb.Status{Name: "api", Settings: lb.DefaultSettings(), Revision: 7},
				FromAPI: true, CAFile: "ignored without https", Keepalive: 32, Incarnation: "3f9a1c",
			},
			`{"name": "api", "members_from": "api", "balance": "round_robin", "scheme": "http", "retries": 1, "keepalive": 32,
			  "passive_health": {"failures": 3, "cooldown": "10s", "probation_requests": 1},
			  "revision": 7, "etag": "\"3f9a1c.7\"", "members": []}`,
		},
		{
			"members", PoolView{Status: lb.Status{Name: "m", Settings: lb.DefaultSettings(), Members: []lb.MemberStatus{
				{Address: "192.0.2.5:8080", Weight: 2, State: lb.Ejected, ConsecutiveFailures: 3, LastFailure: lb.ConnectRefused,
					EjectedUntil: time.Date(2026, 11, 29, 11, 0, 10, 500_400_000, time.FixedZone("CET", 3600))},
				{Address: "192.0.2.6:8080", Weight: 1, State: lb.Probation, InFlight: 4, EjectedUntil: time.Unix(1, 0), LastFailure: lb.Status503},
				{Address: "192.0.2.7:8080", Weight: 1, State: lb.Up},
			}}},
			`{"name": "m", "members_from": "file", "balance": "round_robin", "scheme": "http", "retries": 1, "keepalive": 0,
			  "passive_health": {"failures": 3, "cooldown": "10s", "probation_requests": 1}, "revision": 0, "etag": "\".0\"",
			  "members": [
			   {"address": "192.0.2.5:8080", "weight": 2, "state": "ejected", "in_flight": 0, "consecutive_failures": 3,
			    "ejected_until": "2026-11-29T10:00:10.5Z", "last_failure": "connect_refused"},
			   {"address": "192.0.2.6:8080", "weight": 1, "state": "probation", "in_flight": 4, "consecutive_failures": 0, "last_failure": "status_503"},
			   {"address": "192.0.2.7:8080", "weight": 1, "state": "up", "in_flight": 0, "consecutive_failures": 0}]}`,
		},
		{
			"cookie, tls, budget", PoolView{
				Status: lb.Status{Name: "s", Fingerprint: "9f2c61d0a4b7e385", Settings: settings(func(s *lb.Settings) {
					s.Balance = lb.Hash
					s.Hash = lb.HashSettings{By: lb.ByCookie, Name: "SHOP_NODE", CookieMaxAge: 24 * time.Hour}
					s.Budget = &lb.RetryBudget{Ratio: 0.2, MinPerSecond: 3}
					s.CountTunnels = true
				})},
				HTTPS: true, CAFile: "/etc/ca.pem", ServerName: "api.internal",
			},
			`{"name": "s", "members_from": "file", "balance": "hash", "hash": {"by": "cookie", "name": "SHOP_NODE", "cookie_max_age": "1d"},
			  "scheme": "https", "tls": {"ca_file": "/etc/ca.pem", "server_name": "api.internal"}, "retries": 1,
			  "retry_budget": {"ratio": 0.2, "min_per_second": 3}, "keepalive": 0,
			  "passive_health": {"failures": 3, "cooldown": "10s", "probation_requests": 1}, "count_tunnels": true,
			  "revision": 0, "etag": "\".0\"", "fingerprint": "9f2c61d0a4b7e385", "members": []}`,
		},
		{
			"client_ip over https", PoolView{HTTPS: true, Status: lb.Status{Name: "c", Settings: settings(func(s *lb.Settings) {
				s.Balance = lb.Hash
				s.Hash = lb.HashSettings{By: lb.ByClientIP, Name: "unused"}
			})}},
			`{"name": "c", "members_from": "file", "balance": "hash", "hash": {"by": "client_ip"}, "scheme": "https", "retries": 1, "keepalive": 0,
			  "passive_health": {"failures": 3, "cooldown": "10s", "probation_requests": 1}, "revision": 0, "etag": "\".0\"", "members": []}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(upstream(tt.view))
			if err != nil {
				t.Fatal(err)
			}
			var want bytes.Buffer
			if err := json.Compact(&want, []byte(tt.want)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.String(), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDurationText(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "1ms": time.Millisecond, "10s": 10 * time.Second, "1s500ms": 1500 * time.Millisecond,
		"1m30s": 90 * time.Second, "1h": time.Hour, "1d": 24 * time.Hour, "1d12h": 36 * time.Hour, "400d": 9600 * time.Hour,
	} {
		if got := durationText(d); got != want {
			t.Errorf("durationText(%v) = %s, want %s", d, got, want)
		}
	}
}

// What people read and paste is not escaped for HTML.
func TestAnswerIsNotHTMLEscaped(t *testing.T) {
	f := newFixture(t)
	var b bytes.Buffer
	if _, err := b.ReadFrom(f.do("GET", "/v1/upstreams/%3Ca&b%3E", "").Body); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `no pool \"<a&b>\"`) {
		t.Error(b.String())
	}
}
