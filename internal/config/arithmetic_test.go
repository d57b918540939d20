package config

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNumbersAtTheirBounds goes through numbers that just fit and that just do not; broken/ has the rest.
func TestNumbersAtTheirBounds(t *testing.T) {
	const many = `[{address: "a:1"}, {address: "b:1"}, {address: "c:1"}]`
	pool := func(settings string) string { return "upstreams: {p: {members: " + many + ", " + settings + "}}\n" }
	client := func(settings string) string {
		return "server:\n  listeners: [{name: http, address: \"127.0.0.1:80\"}]\n  upstream_client: {" + settings + "}\n"
	}
	members := func(list string) string { return smallest + "upstreams: {p: {members: [" + list + "]}}" }
	crowd := make([]string, 300)
	for i := range crowd {
		crowd[i] = fmt.Sprintf(`{address: "host-%d:1"}`, i)
	}
	for name, tc := range map[string]struct{ text, want string }{
		"a minute for all attempts":         {client("connect_timeout: 0, response_timeout: 20s") + pool("retries: 2"), ""},
		"a millisecond more":                {client("connect_timeout: 1ms, response_timeout: 20s") + pool("retries: 2"), "long_wait"},
		"a long single attempt":             {client("response_timeout: 10m") + pool("retries: 0"), ""},
		"default retries":                   {client("response_timeout: 10m") + pool("retries: 1"), ""},
		"default timeout":                   {client("response_timeout: 60s") + pool("retries: 5"), ""},
		"cooldown as long as the timeout":   {client("response_timeout: 5s") + pool("passive_health: {cooldown: 5s}"), ""},
		"cooldown a millisecond shorter":    {client("response_timeout: 5001ms") + pool("passive_health: {cooldown: 5s}"), "short_cooldown"},
		"one in two hundred":                {members(`{address: "a:1", weight: 398}, {address: "b:1", weight: 2}`), ""},
		"less than one in two hundred":      {members(`{address: "a:1", weight: 399}, {address: "b:1", weight: 2}`), "tiny_share"},
		"little because there are many":     {members(strings.Join(crowd, ", ")), ""},
		"keepalive 1 with https":            {smallest + pool("scheme: https, keepalive: 1"), ""},
		"shutdown as long as the timeout":   {strings.Replace(client("response_timeout: 20s"), "  upstream_client", "  shutdown_timeout: 20s\n  upstream_client", 1), ""},
		"shutdown shorter than the timeout": {strings.Replace(client("response_timeout: 20s"), "  upstream_client", "  shutdown_timeout: 19s\n  upstream_client", 1), "short_shutdown"},
		"shutdown that waits for nothing":   {strings.Replace(client("response_timeout: 20s"), "  upstream_client", "  shutdown_timeout: 0\n  upstream_client", 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := Parse("scalws.yaml", []byte(tc.text))
			var codes []string
			for _, p := range problems {
				codes = append(codes, p.Code)
			}
			if diff := cmp.Diff(tc.want, strings.Join(codes, " ")); diff != "" {
				t.Errorf("codes (-want +got):\n%s\n%s", diff, report(problems))
			}
		})
	}
}

// TestExamplesGiveNoWarning: what people begin with does not come with findings.
func TestExamplesGiveNoWarning(t *testing.T) {
	text, err := os.ReadFile("../../examples/complete.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const www = "tenants: [{name: acme, applications: [{name: www, domains: [example.com], runtime: {type: proxy, "
	for name, text := range map[string]string{
		"complete": string(text),
		"every setting of a pool": smallest + `upstreams:
  api:
    members:
      - { address: "192.0.2.5:8080", weight: 1 }
      - { address: "192.0.2.6:8080" }
    members_from: file
    balance: round_robin
    passive_health:
      failures: 3
      cooldown: 10s
    retries: 1
    keepalive: 32
    scheme: http
` + www + "upstream: {pool: api}}}]}]",
		"affinity": smallest + `upstreams:
  shop:
    members: [{address: "198.51.100.10:8080"}, {address: "198.51.100.11:8080"}]
    balance: hash
    hash: {by: cookie, name: SHOP_NODE, cookie_max_age: 1d}
`,
		"split": smallest + `upstreams:
  api-v1:
    members: [{address: "192.0.2.5:8080"}, {address: "192.0.2.6:8080"}]
  api-v2:
    members: [{address: "192.0.2.7:8080"}]
` + www + "backends: [{pool: api-v1, weight: 90}, {pool: api-v2, weight: 10}]}}]}]",
		"members at run time": smallest + "upstreams: {api: {members_from: api, balance: least_conn}}",
	} {
		t.Run(name, func(t *testing.T) { accept(t, []byte(text)) })
	}
}
