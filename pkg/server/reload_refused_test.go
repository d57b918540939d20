package server_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// seen is all that can be told of a daemon from outside, as far as a refused reload must not touch it.
func seen(t *testing.T, d *servertest.Daemon) map[string]any {
	t.Helper()
	status, err := d.Admin.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	status.LastReload = nil
	pools, err := d.Admin.Upstreams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	effective, err := d.Admin.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(d.File), "*"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"status": status, "pools": pools, "config": string(effective), "files": files}
}

// A reload that is refused, early or late, says why and changes nothing. C01 is the duplicate key.
func TestReloadRefused(t *testing.T) {
	m := named(t, "a", "b")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	setup := servertest.Setup{Members: addresses(m)}
	d := servertest.Start(t, setup)
	d.Sequence(3)
	good := d.Text(setup)
	status, err := d.Admin.Status(t.Context())
	if err != nil || status.LastReload != nil {
		t.Fatalf("last reload %+v, %v", status.LastReload, err)
	}
	before := seen(t, d)
	text, _, _ := strings.Cut(good, "    members:")
	list := 1 + strings.Count(text, "\n") // the line of the members
	listener := `[{name: http, address: "127.0.0.1:0"}`
	for name, tc := range map[string]struct {
		text   string
		status int
		code   string
		want   []api.FieldError
		detail string
	}{
		"C01 duplicate key": {strings.Replace(good, "    members:", "    retries: 1\n    retries: 2\n    members:", 1), 400, api.CodeInvalidConfig,
			[]api.FieldError{{Path: "upstreams.p.retries", File: d.File, Line: list + 1, Column: 5, Code: "duplicate_key",
				Detail: fmt.Sprintf("the key was given before, on line %d (remove one of the two)", list)}}, fmt.Sprintf("scalws.yaml:%d:5: error: upstreams.p.retries: ", list+1)},
		"two problems": {strings.Replace(good, "    members:", "    retries: 9\n    keepalife: 2\n    members:", 1), 400, api.CodeInvalidConfig,
			[]api.FieldError{
				{Path: "upstreams.p.retries", File: d.File, Line: list, Column: 14, Code: "out_of_range", Detail: "must be between 0 and 5"},
				{Path: "upstreams.p.keepalife", File: d.File, Line: list + 1, Column: 5, Code: "unknown_key", Detail: "unknown key (did you mean keepalive?)"},
			}, "(and 1 more)"},
		"an address in use": {strings.Replace(good, listener, listener+`, {name: more, address: "127.0.0.1:0"}, {name: taken, address: "`+taken.Addr().String()+`"}`, 1), 409, api.CodeReloadRefused,
			nil, "listening on " + taken.Addr().String() + ": address already in use"},
		"the metrics address in use": {strings.Replace(good, "metrics:\n  address: \"127.0.0.1:0\"", "metrics:\n  address: \""+taken.Addr().String()+"\"", 1), 409, api.CodeReloadRefused,
			nil, "change metrics.address"},
		"no folder for the log": {strings.Replace(good, "access_log: {output: \"", "access_log: {output: \"/no/such/folder", 1), 409, api.CodeReloadRefused, nil, "opening access log"},
		"no such group":         {good + "admin: {socket: {group: there-is-none}}\n", 409, api.CodeReloadRefused, nil, "create that group"},
		"sharing a port that is bound": {strings.Replace(good, `"127.0.0.1:0"}`, `"127.0.0.1:0", reuse_port: true}`, 1), 409, api.CodeReloadRefused,
			nil, "reuse_port cannot change while the socket is open"},
	} {
		t.Run(name, func(t *testing.T) {
			d.Write(tc.text)
			p := d.Refused()
			if p.Status != tc.status || p.Code != tc.code || !strings.Contains(p.Detail, tc.detail) {
				t.Errorf("got %d %s %s", p.Status, p.Code, p.Detail)
			}
			if diff := cmp.Diff(tc.want, p.Errors); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, seen(t, d)); diff != "" {
				t.Errorf("something changed (-before +after):\n%s", diff)
			}
			status, err := d.Admin.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := &api.Reload{Error: p.Detail, Problems: tc.want}
			if diff := cmp.Diff(want, status.LastReload, cmpopts.IgnoreFields(api.Reload{}, "Time")); diff != "" || status.LastReload.Time.IsZero() {
				t.Errorf("last reload (-want +got):\n%s", diff)
			}
			if got := d.Metric("scalws_config_last_reload_success"); got != "0" {
				t.Errorf("success is %s", got)
			}
			for _, e := range tc.want {
				if !strings.Contains(d.LogText(), e.Path+": "+e.Detail[:20]) {
					t.Errorf("%s is not in the log", e.Path)
				}
			}
		})
	}
	d.Write(good)
	d.Reload()
	status, err = d.Admin.Status(t.Context())
	if err != nil || !status.LastReload.Success || status.LastReload.Error != "" {
		t.Errorf("last reload %+v, %v", status.LastReload, err)
	}
	if got := d.Metric("scalws_config_last_reload_success"); got != "1" {
		t.Errorf("success is %s", got)
	}
}

// Members that were set at run time and that the new settings would not allow keep the reload from being done.
func TestReloadRefusedForItsMembers(t *testing.T) {
	m := servertest.NewUnixMember(t)
	setup := servertest.Setup{}
	d := servertest.Start(t, setup)
	if _, err := d.Admin.SetMembers(t.Context(), "p", []api.SetMember{{Address: m.Address()}}); err != nil {
		t.Fatal(err)
	}
	before := seen(t, d)
	setup.Pool = []string{"scheme: https"}
	d.Configure(setup)
	p := d.Refused()
	want := []api.FieldError{{Path: "upstreams.p", Detail: m.Address() + " is a unix socket: that needs a pool with scheme: http"}}
	if diff := cmp.Diff(want, p.Errors); diff != "" || p.Status != 409 || p.Code != api.CodeReloadRefused {
		t.Errorf("%d %s %s (-want +got):\n%s", p.Status, p.Code, p.Detail, diff)
	}
	if diff := cmp.Diff(before, seen(t, d)); diff != "" {
		t.Errorf("something changed (-before +after):\n%s", diff)
	}
	text, err := os.ReadFile(d.File)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Admin.Plan(t.Context(), text); err == nil || !strings.Contains(err.Error(), m.Address()) {
		t.Errorf("the plan does not say so: %v", err)
	}
}

// A plan says what a reload of the same text then does, and changes nothing.
func TestPlanIsWhatReloadDoes(t *testing.T) {
	m := named(t, "a", "b")
	setup := servertest.Setup{Members: addresses(m[:1])}
	d := servertest.Start(t, setup)
	d.Sequence(1)
	m[0].WaitOpen(1)
	before := seen(t, d)
	setup.Pool, setup.Members = []string{"keepalive: 1"}, addresses(m)
	setup.Server = []string{"trusted_proxies: [127.0.0.1]"}
	text := d.Text(setup) + "sites: none/*.yaml\n"
	planned, err := d.Admin.Plan(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, seen(t, d)); diff != "" {
		t.Errorf("the plan changed something (-before +after):\n%s", diff)
	}
	d.Write(text)
	done := d.Reload()
	if planned.Result != api.PlanValid || done.Result != api.PlanDone {
		t.Errorf("results %s and %s", planned.Result, done.Result)
	}
	if diff := cmp.Diff(planned, done, cmpopts.IgnoreFields(api.Plan{}, "Result")); diff != "" {
		t.Errorf("(-planned +done):\n%s", diff)
	}
	if len(planned.Warnings) != 1 || planned.Warnings[0].Code != "no_sites" {
		t.Errorf("warnings %+v", planned.Warnings)
	}
	if _, err := d.Admin.Plan(t.Context(), []byte("server: {}\n")); err == nil || !strings.Contains(err.Error(), "server.listeners: this key is required") {
		t.Errorf("a broken text: %v", err)
	}
}

// The effective configuration, as a file, changes nothing.
func TestEffectiveConfigIsTheSame(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	text, err := d.Admin.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var shown struct {
		Server struct {
			IdleTimeout string `json:"idle_timeout"`
		} `json:"server"`
		Admin struct{ Socket struct{ Path string } }
	}
	if err := json.Unmarshal(text, &shown); err != nil || shown.Server.IdleTimeout != "1m15s" || shown.Admin.Socket.Path != d.Socket {
		t.Errorf("%v in %s", err, text)
	}
	plan, err := d.Admin.Plan(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	// The path was the command line's before.
	if diff := cmp.Diff([]string{"admin.socket.path"}, plan.Settings); diff != "" || planOf(t, plan).Action != "kept" ||
		plan.Listeners[0].Action != "kept" || plan.Applications[0].Action != "unchanged" {
		t.Errorf("the plan is %+v", plan)
	}
}
