package ctl_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scalws/scalws/internal/ctl"
	"github.com/scalws/scalws/internal/servertest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"scalwsctl": func() {
			ctx, stop := ctl.Signals(context.Background())
			defer stop()
			os.Exit(ctl.Main(ctx, os.Args[1:], ctl.Process()))
		},
	})
}

// The scripts of testdata/script hold for every daemon that has the pools api (with members_from: api),
// canary (the same, and empty) and web (with members_from: file), the real one first of all; those of
// testdata/fake need the states and faults that only the fake daemon has, those of testdata/daemon what only a
// real one does.
func TestScripts(t *testing.T) {
	for _, c := range []struct {
		name, folder string
		setup        func(*testing.T, *testscript.Env) error
	}{
		{"script", "script", startFake},
		{"fake", "fake", startFake},
		{"daemon", "script", startReal},
		{"trouble", "daemon", startTrouble},
	} {
		t.Run(c.name, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir:   filepath.Join("testdata", c.folder),
				Setup: func(env *testscript.Env) error { return c.setup(t, env) },
			})
		})
	}
}

// realPools are the pools of fakePools as a configuration.
const realPools = `upstreams:
  api:
    members_from: api
    balance: least_conn
    members:
      - {address: "192.0.2.5:8080", weight: 2}
      - {address: "192.0.2.6:8080"}
      - {address: "[2001:db8::7]:8080"}
  canary: {members_from: api}
  web:
    balance: hash
    hash: {by: cookie, name: SHOP_NODE, cookie_max_age: 1d}
    scheme: https
    tls: {server_name: web.internal}
    retries: 2
    retry_budget: {ratio: 0.2, min_per_second: 10}
    keepalive: 0
    passive_health: {failures: 0}
    members:
      - {address: "198.51.100.10:8443"}
      - {address: "198.51.100.11:8443", weight: 1000}
`

// startReal gives each script a real daemon.
func startReal(t *testing.T, env *testscript.Env) error {
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	env.Setenv("SCALWSCTL_SOCKET", servertest.Start(t, servertest.Setup{Rest: realPools}).Socket)
	return nil
}

// startTrouble gives each script a real daemon of which a member has been ejected, for an hour. GOOD and BAD are
// the addresses of the two members of api, CONFIG is the daemon's configuration file.
func startTrouble(t *testing.T, env *testscript.Env) error {
	good, bad := servertest.NewMember(t), servertest.NewMember(t)
	bad.Down()
	daemon := servertest.Start(t, servertest.Setup{Rest: fmt.Sprintf(`upstreams:
  api:
    members_from: api
    members: [{address: %q, weight: 3}, {address: %q}]
    passive_health: {failures: 2, cooldown: 1h}
  canary: {members_from: api}
  shop:
    members_from: api
    balance: hash
    hash: {by: header, name: X-User}
    members: [{address: "192.0.2.1:80"}, {address: "192.0.2.2:80"}]
  web:
    members: [{address: "192.0.2.9:80"}]
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, upstream: {pool: api}}}]}]
`, good.Address(), bad.Address())})
	for range 16 {
		if r := daemon.Get("/"); r.Status != 200 {
			return fmt.Errorf("GET / is answered %d", r.Status)
		}
	}
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	env.Setenv("SCALWSCTL_SOCKET", daemon.Socket)
	env.Setenv("GOOD", good.Address())
	env.Setenv("BAD", bad.Address())
	env.Setenv("CONFIG", daemon.File)
	return nil
}

// startFake gives each script a daemon of its own and tells scalwsctl where it is.
func startFake(t *testing.T, env *testscript.Env) error {
	dir, err := os.MkdirTemp("", "ctl") // a socket's path must be short
	if err != nil {
		return err
	}
	env.Defer(func() { os.RemoveAll(dir) })
	ctl.StartFakeDaemons(t, dir)
	env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector would make each command sleep
	env.Setenv("SCALWSCTL_SOCKET", filepath.Join(dir, "admin.sock"))
	env.Setenv("FROZEN", filepath.Join(dir, "frozen.sock"))
	env.Setenv("OTHER", filepath.Join(dir, "other.sock"))
	env.Setenv("SILENT", filepath.Join(dir, "silent.sock"))
	env.Setenv("BIG", filepath.Join(dir, "big.sock"))
	return nil
}
