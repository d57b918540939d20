package ctl_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scalws/scalws/internal/ctl"
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
// canary (the same, and empty) and web (with members_from: file); those of testdata/fake need the states
// and faults that only the fake daemon has.
func TestScripts(t *testing.T) {
	for _, folder := range []string{"script", "fake"} {
		t.Run(folder, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir:   filepath.Join("testdata", folder),
				Setup: func(env *testscript.Env) error { return startFake(t, env) },
			})
		})
	}
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
