package config

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// TestValid loads every file of testdata/valid without a problem and compares the whole Config. Lines
// that end with CRLF, and a byte-order mark, change nothing.
func TestValid(t *testing.T) {
	files, err := filepath.Glob("testdata/valid/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			goldenFile, err := filepath.Abs(strings.TrimSuffix(file, ".yaml") + ".golden")
			if err != nil {
				t.Fatal(err)
			}
			besideNamedFiles(t)
			cfg := accept(t, text)
			shown, err := json.MarshalIndent(cfg, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, goldenFile, string(shown)+"\n")

			withoutDigest := cmpopts.IgnoreFields(Config{}, "Digest")
			crlf := bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
			for _, other := range [][]byte{crlf, append([]byte("\xef\xbb\xbf"), text...), append([]byte("\xef\xbb\xbf"), crlf...)} {
				if diff := cmp.Diff(cfg, accept(t, other), withoutDigest, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
					t.Errorf("with other line ends (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestDefaults holds that the smallest configuration has the defaults of the manual.
func TestDefaults(t *testing.T) {
	cfg := accept(t, []byte(`
server: {listeners: [{name: http, address: "0.0.0.0:80"}]}
upstreams:
  api: {members: [{address: "192.0.2.1:80"}]}
tenants:
  - name: acme
    applications:
      - {name: www, domains: [example.com], runtime: {type: proxy, upstream: {pool: api}}}
`))
	client := Client{ConnectTimeout: 5 * time.Second, ResponseTimeout: time.Minute, BodyTimeout: 5 * time.Minute, IdleTimeout: time.Minute}
	want := &Config{
		Server: Server{
			Listeners: []Listener{{Name: "http", Address: "0.0.0.0:80"}},
			Forwarded: ForwardedX,
			MaxBody:   16 << 20, MaxHeader: 32 << 10, MaxHeaders: 128, MaxURI: 8 << 10,
			HeaderTimeout: 10 * time.Second, BodyReadTimeout: 30 * time.Second,
			IdleTimeout: 75 * time.Second, ShutdownTimeout: 30 * time.Second,
			UpstreamClient: client,
		},
		Upstreams: []Upstream{{
			Name:      "api",
			Members:   []lb.Member{{Address: "192.0.2.1:80", Weight: 1}},
			Settings:  lb.DefaultSettings(),
			Keepalive: 32,
		}},
		Tenants: []Tenant{{Name: "acme", Applications: []Application{{
			Name: "www", Domains: []string{"example.com"},
			Runtime: &Runtime{Type: RuntimeProxy, Pool: "api", PreserveHost: true, WebSocket: true, Client: client,
				ConnectTimeout: client.ConnectTimeout, ResponseTimeout: client.ResponseTimeout},
		}}}},
		Admin: Admin{
			Socket:   AdminSocket{Mode: 0o660},
			AuditLog: "stderr", RuntimeMembers: true, StateMaxAge: defaultStateAge,
		},
		Metrics:   Metrics{PerMember: true},
		AccessLog: AccessLog{Output: "stdout", Format: "json"},
	}
	if diff := cmp.Diff(want, cfg, cmpopts.IgnoreFields(Config{}, "Digest")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestWarningsDoNotFail holds that a Config comes with warnings, and that ignored settings are reset.
func TestWarningsDoNotFail(t *testing.T) {
	cfg, problems := Load("testdata/broken/ignored_key.hash_by.yaml")
	if cfg == nil || len(problems) == 0 || problems.Failed() {
		t.Fatalf("Config %v, problems %v", cfg, problems)
	}
	want := lb.HashSettings{By: lb.ByClientIP}
	if diff := cmp.Diff(want, cfg.Upstreams[0].Settings.Hash); diff != "" || cfg.Upstreams[0].HashKeyFile != "" {
		t.Errorf("hash settings (-want +got):\n%s, key file %q", diff, cfg.Upstreams[0].HashKeyFile)
	}
}

// TestEveryKey holds the list of keys against a file that has them all, read without the decoder.
func TestEveryKey(t *testing.T) {
	text, err := os.ReadFile("testdata/valid/every_key.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	used := make(map[string]bool)
	collectPaths(used, "", doc.Content[0])
	var want, got []string
	for _, k := range Keys() {
		// Both places of a runtime, and of policies, have the same keys (TestKeysAreTheSame): one of them is enough.
		want = append(want, onePlace(k.Path))
	}
	for path := range used {
		got = append(got, onePlace(path))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), slices.Compact(got)); diff != "" {
		t.Errorf("keys (-Keys +every_key.yaml):\n%s", diff)
	}
}

// TestKeysAreTheSame holds that a route's runtime and an application's take the same keys, and their policies too.
func TestKeysAreTheSame(t *testing.T) {
	inside := func(prefix string, holds func(path string) bool) (keys []strict.Key) {
		for _, k := range Keys() {
			if rest, ok := strings.CutPrefix(k.Path, prefix); ok && holds(rest) {
				k.Path = rest
				keys = append(keys, k)
			}
		}
		return keys
	}
	isRuntime := func(path string) bool { return strings.HasPrefix(path, "runtime.") }
	for name, holds := range map[string]func(string) bool{"runtime": isRuntime, "policy": isPolicy} {
		app, route := inside("tenants[].applications[].", holds), inside("tenants[].applications[].routes[].", holds)
		if diff := cmp.Diff(app, route); diff != "" || len(app) == 0 {
			t.Errorf("%s: %d keys (-application +route):\n%s", name, len(app), diff)
		}
	}
}

// isPolicy is true for the key of a policy in its application or route.
func isPolicy(path string) bool {
	first, _, _ := strings.Cut(path, ".")
	return slices.ContainsFunc(policyFields(&Policies{}), func(f strict.Field) bool { return f.Name == first })
}

func onePlace(path string) string {
	const route = "tenants[].applications[].routes[]."
	if rest, ok := strings.CutPrefix(path, route); ok && (strings.HasPrefix(rest, "runtime.") || isPolicy(rest)) {
		return "tenants[].applications[]." + rest
	}
	return path
}

func collectPaths(used map[string]bool, path string, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			inner := n.Content[i].Value
			if path == "upstreams" {
				inner = "<name>"
			}
			inner = strings.TrimPrefix(path+"."+inner, ".")
			if path != "upstreams" {
				used[inner] = true
			}
			collectPaths(used, inner, n.Content[i+1])
		}
	case yaml.SequenceNode:
		for _, entry := range n.Content {
			collectPaths(used, path+"[]", entry)
		}
	}
}

// TestKeysAreDescribed holds that every key has a type and a meaning, and every number and duration a
// bound.
func TestKeysAreDescribed(t *testing.T) {
	bounded := regexp.MustCompile(`duration|number|size|list`)
	for _, k := range Keys() {
		if k.Type == "" || !strings.HasSuffix(k.Meaning, ".") {
			t.Errorf("%+v: type or meaning is missing", k)
		}
		if k.Bound == "" && bounded.MatchString(k.Type) {
			t.Errorf("%s: %s without a bound", k.Path, k.Type)
		}
		if k.Default == "" && k.Type != "a section" {
			t.Errorf("%s: nothing says what happens without it", k.Path)
		}
	}
}

// accept parses a text that has no problem.
func accept(t *testing.T, text []byte) *Config {
	t.Helper()
	cfg, problems := Parse("scalws.yaml", text)
	if len(problems) > 0 {
		t.Fatalf("problems:\n%s", report(problems))
	}
	return cfg
}

// besideNamedFiles changes to a folder that has the files that the valid configurations and the manual name.
func besideNamedFiles(t *testing.T) {
	t.Helper()
	read := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join("testdata/broken/files", name))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	cert, key, users := read("site.pem"), read("site.key"), read("htpasswd")
	crl := read("good.crl")
	t.Chdir(t.TempDir())
	for name, content := range map[string][]byte{
		"files/ca.crl":       crl,
		"files/ca.pem":       slices.Concat([]byte("# two of them\n"), cert, cert),
		"files/client.pem":   cert,
		"files/client.key":   key,
		"files/affinity.key": bytes.Repeat([]byte{7}, 32),
		"files/htpasswd":     users,
		"tls/site.pem":       cert,
		"tls/site.key":       key,
		"tls/clients.pem":    cert,
		"www/index.html":     []byte("home"),
		"files/sites/shop.yaml": []byte(`{domains: [shop.example], max_body: 1KiB, proxy: {upstream: {pool: web}, websocket: false},
			routes: [{path: /api, runtime: {type: proxy, backends: [{pool: web}, {status: 503, weight: 0}]}}]}`),
		"tls/revoked.pem": crl,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, name, content)
	}
}
