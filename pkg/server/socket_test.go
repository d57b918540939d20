package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server"
)

// Of daemons that start at the same instant on one socket, one gets it and the others say so, whether the
// place is empty or holds a stale file.
func TestAdminSocketHasOneOwner(t *testing.T) {
	const text = "server: {listeners: [{name: http, address: \"127.0.0.1:0\"}]}\naccess_log: {output: off}\n"
	for range 50 {
		path := socketPath(t)
		stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		stale.SetUnlinkOnClose(false)
		stale.Close()
		owners, begin := make(chan *server.Server, 4), make(chan struct{})
		var group sync.WaitGroup
		for range cap(owners) {
			group.Go(func() {
				<-begin
				s, err := server.New(server.Options{File: "x.yaml", Text: []byte(text), AdminSocket: path})
				switch {
				case err == nil:
					owners <- s
				case !strings.Contains(err.Error(), "socket in use by process "):
					t.Errorf("another error: %v", err)
				}
			})
		}
		close(begin)
		group.Wait()
		close(owners)
		if n := len(owners); n != 1 {
			t.Errorf("the socket has %d owners", n)
		}
		for s := range owners {
			s.Close()
		}
	}
}

// socketPath is a place for a socket: the folder of a test may have too long a name.
func socketPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(servertest.SocketDir(t), "admin.sock")
}

// A change that is under way when the daemon stops is made and answered.
func TestDrainAnswersAdminCalls(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{})
	c, err := net.Dial("unix", d.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const body = `{"members": []}`
	fmt.Fprintf(c, "PUT /v1/upstreams/p HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
	answers := bufio.NewReader(c)
	if line, err := answers.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("got %q, %v", line, err) // the daemon waits for the body now
	}
	if _, err := answers.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	d.Drain()
	d.Until("the socket is closed", func() bool {
		_, err := os.Lstat(d.Socket)
		return errors.Is(err, os.ErrNotExist)
	})
	io.WriteString(c, body)
	r, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, err := io.ReadAll(r.Body); r.StatusCode != 200 || err != nil {
		t.Errorf("got %s, %s, %v", r.Status, text, err)
	}
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
}

// What net/http would answer by itself is answered as a problem too.
func TestAdminOptionsOfTheServer(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{})
	c, err := net.Dial("unix", d.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if got := r.Header.Get("Content-Type"); r.StatusCode != 404 || got != "application/problem+json" {
		t.Errorf("%s with Content-Type %q", r.Status, got)
	}
}

// Starting and stopping leaves no goroutine (the package's TestMain looks), no descriptor and no file.
func TestStartStopLeavesNothing(t *testing.T) {
	m := named(t, "a")
	descriptors := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	var before int
	var last *servertest.Daemon
	for i := range 50 {
		d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
		if got := d.Get("/"); got.Status != 200 {
			t.Fatalf("got %s", got.Head)
		}
		d.MetricsText()
		if _, err := d.Admin.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
		http.DefaultClient.CloseIdleConnections()
		if err := d.Stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(d.Socket); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("the socket is left behind: %v", err)
		}
		if last = d; i == 0 {
			before = descriptors()
		}
	}
	// What others close, they may close a little later than we: members and the client's transport.
	last.Until("the descriptors are back", func() bool { return descriptors() <= before })
}
