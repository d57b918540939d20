package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/lb"
)

const planned = `server:
  listeners: [{name: http, address: "127.0.0.1:80"}]
upstreams:
  a: {members: [{address: "192.0.2.1:80"}, {address: "192.0.2.2:80"}]}
  b: {members_from: api, balance: hash, hash: {by: cookie}}
  c: {scheme: https, members: [{address: "192.0.2.3:443"}]}
tenants:
  - name: t
    applications:
      - {name: x, domains: [x.example], runtime: {type: proxy, upstream: {pool: a}}}
      - {name: y, domains: [y.example], runtime: {type: proxy, upstream: {pool: b}}}
`

// shownPlan is what is not kept, a line each: action, name, what for; then the change of the list.
func shownPlan(p *Plan) string {
	var b strings.Builder
	for _, x := range p.Pools {
		if x.Action == Kept {
			continue
		}
		fmt.Fprintf(&b, "%s %s %s", x.Action, x.Name, strings.Join(x.Because, ","))
		if !x.Change.Empty() || x.Action == MembersChanged {
			fmt.Fprintf(&b, " +%d -%d ~%d =%d", len(x.Change.Added), len(x.Change.Removed), len(x.Change.Reweighted), x.Change.Unchanged)
		}
		if x.Affinity {
			b.WriteString(" affinity")
		}
		b.WriteString("\n")
	}
	for _, x := range p.Listeners {
		if x.Action != Kept {
			fmt.Fprintf(&b, "listener %s %s %s %s\n", x.Action, x.Name, x.Address, strings.Join(x.Because, ","))
		}
	}
	for _, x := range p.Applications {
		if x.Action != Unchanged {
			fmt.Fprintf(&b, "application %s %s/%s %s\n", x.Action, x.Tenant, x.Name, strings.Join(x.Because, ","))
		}
	}
	if len(p.Settings) > 0 {
		fmt.Fprintf(&b, "settings %s\n", strings.Join(p.Settings, ","))
	}
	return b.String()
}

func TestCompare(t *testing.T) {
	besideNamedFiles(t)
	const key = "cert_file: files/client.pem, key_file: files/client.key"
	live := map[string][]lb.Member{"b": {{Address: "192.0.2.9:80", Weight: 2}}}
	for name, tc := range map[string]struct{ old, new, want string }{
		"nothing": {"192.0.2.1:80", "192.0.2.1:80", ""},
		"a comment and a default that is written out": {"a: {members", "# a\n  a: {retries: 1, members", ""},
		"members of a file pool":                      {`, {address: "192.0.2.2:80"}`, `, {address: "192.0.2.4:80"}`, "members_changed a  +1 -1 ~0 =1\n"},
		"a weight":                                    {`{address: "192.0.2.2:80"}`, `{address: "192.0.2.2:80", weight: 5}`, "members_changed a  +0 -0 ~1 =1\n"},
		"the order alone":                             {`[{address: "192.0.2.1:80"}, {address: "192.0.2.2:80"}]`, `[{address: "192.0.2.2:80"}, {address: "192.0.2.1:80"}]`, "members_changed a  +0 -0 ~0 =2\n"},
		"members of an api pool":                      {"b: {members_from: api,", `b: {members: [{address: "192.0.2.7:80"}], members_from: api,`, ""},
		"a setting":                                   {"a: {members", "a: {retries: 2, keepalive: 1, passive_health: {cooldown: 1s}, members", "rebuilt a passive_health.cooldown,retries,keepalive\n"},
		"a setting and the list":                      {`a: {members: [{address: "192.0.2.1:80"}, `, `a: {balance: least_conn, members: [`, "rebuilt a balance +0 -1 ~0 =1\n"},
		"a setting of an api pool":                    {"hash: {by: cookie}", "hash: {by: cookie, cookie_max_age: 1d}", "rebuilt b hash.cookie_max_age\n"},
		"another cookie":                              {"hash: {by: cookie}", "hash: {by: cookie, name: X}", "rebuilt b hash.name affinity\n"},
		"no hash any more":                            {"balance: hash, hash: {by: cookie}", "balance: round_robin", "rebuilt b balance,hash affinity\n"},
		"file to api":                                 {"a: {members", "a: {members_from: api, members", "rebuilt a members_from\n"},
		"api to file":                                 {"b: {members_from: api,", `b: {members: [{address: "192.0.2.7:80"}, {address: "192.0.2.8:80"}],`, "rebuilt b members_from +2 -1 ~0 =0\n"},
		"TLS":                                         {"c: {scheme: https", "c: {scheme: https, tls: {server_name: c.example}", "rebuilt c tls\n"},
		"the client certificate":                      {"server:\n", "server:\n  upstream_client: {" + key + "}\n", "rebuilt c upstream_client.cert_file,upstream_client.key_file\nsettings server.upstream_client.cert_file,server.upstream_client.key_file\n"},
		"timeouts of members":                         {"server:\n", "server:\n  upstream_client: {connect_timeout: 1s, idle_timeout: 1s}\n", "application changed t/x runtime.connect_timeout\napplication changed t/y runtime.connect_timeout\nsettings server.upstream_client.connect_timeout,server.upstream_client.idle_timeout\n"},
		"a pool more":                                 {"upstreams:\n", "upstreams:\n  d: {members_from: api}\n", "added d \n"},
		"a pool and its application":                  {"  b: {members_from: api, balance: hash, hash: {by: cookie}}\n", "", "removed b  +0 -1 ~0 =0 affinity\napplication removed t/y \n"},
		"a listener more":                             {`"127.0.0.1:80"}`, `"127.0.0.1:80"}, {name: two, address: "127.0.0.1:81"}`, "listener added two 127.0.0.1:81 \n"},
		"a new name":                                  {"{name: http,", "{name: web,", "listener changed web 127.0.0.1:80 name\n"},
		"another address":                             {"127.0.0.1:80", "127.0.0.1:81", "listener added http 127.0.0.1:81 \nlistener removed http 127.0.0.1:80 \n"},
		"names that change places": {`[{name: http, address: "127.0.0.1:80"}]`, `[{name: b, address: "127.0.0.1:80"}, {name: http, address: "127.0.0.1:0"}]`,
			"listener changed b 127.0.0.1:80 name\nlistener added http 127.0.0.1:0 \n"},
		"h2c":             {"{name: http,", "{name: http, h2c: true,", "listener changed http 127.0.0.1:80 h2c\n"},
		"routes":          {"domains: [x.example],", "domains: [x.example, z.example], routes: [{path: /a, runtime: {type: proxy, upstream: {pool: a}}}],", "application changed t/x domains,routes\n"},
		"another target":  {"upstream: {pool: a}}", "backends: [{pool: a}, {pool: b}]}", "application changed t/x runtime.upstream,runtime.backends\n"},
		"all the rest":    {"server:\n", "access_log: {output: off}\nmetrics: {address: \"127.0.0.1:9\"}\nadmin: {socket: {mode: \"0600\"}}\nserver:\n  max_body: 1\n", "settings server.max_body,admin.socket.mode,metrics.address,access_log.output\n"},
		"a bound of body": {"{name: x, domains", "{name: x, max_body: 1, domains", "application changed t/x max_body\n"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(planned, tc.old, tc.new, 1)
			if strings.Contains(tc.want, "application removed t/y") {
				changed = strings.Replace(changed, "      - {name: y, domains: [y.example], runtime: {type: proxy, upstream: {pool: b}}}\n", "", 1)
			}
			p, err := Compare(accept(t, []byte(planned)), accept(t, []byte(changed)), live)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, shownPlan(p)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if p.Empty() != (tc.want == "") {
				t.Errorf("Empty is %v", p.Empty())
			}
		})
	}
}

// TestCompareMembers holds which list a pool has afterwards.
func TestCompareMembers(t *testing.T) {
	file := func(address string) string { return `members: [{address: "` + address + `"}]` }
	for name, tc := range map[string]struct{ old, new, want string }{
		"file":                       {file("a:1"), file("b:1"), "b:1"},
		"api keeps what it has":      {"members_from: api, " + file("a:1"), "members_from: api, " + file("b:1"), "live:1"},
		"api, settings changed":      {"members_from: api", "members_from: api, retries: 3, " + file("b:1"), "live:1"},
		"file to api keeps its list": {file("a:1"), "members_from: api, " + file("b:1"), "live:1"},
		"api to file":                {"members_from: api", file("b:1"), "b:1"},
	} {
		t.Run(name, func(t *testing.T) {
			text := func(pool string) []byte {
				return []byte("server: {listeners: [{name: http, address: \"127.0.0.1:80\"}]}\nupstreams: {p: {" + pool + "}}\n")
			}
			for _, live := range []bool{true, false} {
				lists, want := map[string][]lb.Member{"p": {{Address: "live:1", Weight: 1}}}, tc.want
				if !live { // offline: what the old file says
					lists = nil
					if want == "live:1" {
						want = ""
						if strings.Contains(tc.old, "a:1") {
							want = "a:1"
						}
					}
				}
				p, err := Compare(accept(t, text(tc.old)), accept(t, text(tc.new)), lists)
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				for _, m := range p.Pool("p").Upstream.Members {
					got += m.Address
				}
				if got != want {
					t.Errorf("live %v: the list is %q, want %q", live, got, want)
				}
			}
		})
	}
}

// TestCompareRefusesMembers holds that a list which was set at run time must fit the new settings.
func TestCompareRefusesMembers(t *testing.T) {
	text := func(pool string) []byte {
		return []byte("server: {listeners: [{name: http, address: \"127.0.0.1:80\"}]}\nupstreams: {p: {" + pool + "}}\n")
	}
	live := map[string][]lb.Member{"p": {{Address: "unix:/run/x.sock", Weight: 1}}}
	_, err := Compare(accept(t, text("members_from: api")), accept(t, text("members_from: api, scheme: https")), live)
	var got *MemberError
	if !errors.As(err, &got) {
		t.Fatalf("got %v", err)
	}
	want := &MemberError{Pool: "p", Member: "unix:/run/x.sock", Message: "is a unix socket: that needs a pool with scheme: http"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := "upstreams.p: unix:/run/x.sock, a member since it was set at run time, is a unix socket: that needs a pool with scheme: http"; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}
