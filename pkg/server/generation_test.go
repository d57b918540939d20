package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"weak"
)

// A generation that is served no more is garbage, also while clients that it served keep their connections.
func TestOldGenerationsAreGarbage(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "scalws.yaml")
	configure := func(n int) {
		text := fmt.Sprintf("server: {listeners: [{name: http, address: \"127.0.0.1:0\"}], max_body: %d}\naccess_log: {output: off}\n"+
			"upstreams: {p: {members_from: api, retries: %d}}\n"+
			"tenants: [{name: t, applications: [{name: a, domains: [\"*\"], runtime: {type: proxy, upstream: {pool: p}}}]}]\n", 1000+n, n%6)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure(0)
	s, err := New(Options{File: file, AdminSocket: filepath.Join(dir, "a.sock")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("stopping: %v", err)
		}
	}()
	c, err := net.Dial("tcp", s.Addr("http").String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answer := make([]byte, 4096)
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(answer); err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 503 ") {
		t.Fatalf("got %q, %v", answer[:n], err)
	}

	var old []weak.Pointer[generation]
	var data []weak.Pointer[pool]
	for n := range 200 {
		served := s.current.Load()
		old, data = append(old, weak.Make(served)), append(data, weak.Make(served.pools.byName["p"]))
		configure(n + 1)
		if _, err := s.Reload("test"); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (generations, pools int) {
		for i := range old {
			if old[i].Value() != nil {
				generations++
			}
			if data[i].Value() != nil {
				pools++
			}
		}
		return generations, pools
	}
	generations, pools := left()
	for range 20 {
		if generations+pools == 0 {
			break
		}
		goruntime.GC()
		generations, pools = left()
	}
	if generations+pools != 0 {
		t.Errorf("of 200 generations and pools %d and %d are still there", generations, pools)
	}
}
