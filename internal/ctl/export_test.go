package ctl

import (
	"io"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/scalws/scalws/pkg/api"
)

// StartFakeDaemons serves below a folder: admin.sock, a daemon with the usual pools; big.sock, one with
// the largest possible pool; frozen.sock, the usual pools with members that cannot be set; other.sock, something that is no daemon;
// silent.sock, a daemon that never answers.
func StartFakeDaemons(t testing.TB, dir string) {
	now := time.Now()
	(&fakeDaemon{pools: fakePools(now)}).start(t, filepath.Join(dir, "admin.sock"))
	(&fakeDaemon{pools: []api.Upstream{bigPool()}}).start(t, filepath.Join(dir, "big.sock"))
	(&fakeDaemon{pools: fakePools(now), frozen: true}).start(t, filepath.Join(dir, "frozen.sock"))
	serveUnix(t, filepath.Join(dir, "other.sock"), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "a teapot\x1b[2J")
	}))
	serveUnix(t, filepath.Join(dir, "silent.sock"), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
}
