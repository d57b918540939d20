package server_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

const onlyListener = `listeners: [{name: http, address: "127.0.0.1:0"}]`

// listen is a configuration with other listeners.
func listen(d *servertest.Daemon, s servertest.Setup, listeners string) string {
	return strings.Replace(d.Text(s), onlyListener, "listeners: ["+listeners+"]", 1)
}

// Listeners that stay are not closed, new ones open, removed ones drain; a new name leaves the socket.
func TestReloadListeners(t *testing.T) {
	m := named(t, "a")
	setup := servertest.Setup{Members: addresses(m)}
	d := servertest.Start(t, setup)
	kept := connect(t, d.Address)
	kept.ask(t)
	own := `{name: http, address: "127.0.0.1:0"}`

	d.Write(listen(d, setup, own+`, {name: more, address: "127.0.0.1:0"}`))
	plan := d.Reload()
	want := []api.ListenerPlan{{Name: "http", Address: "127.0.0.1:0", Action: "kept"}, {Name: "more", Address: "127.0.0.1:0", Action: "added"}}
	if diff := cmp.Diff(want, plan.Listeners); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	more := d.Addr("more")
	idle, busy := connect(t, more), connect(t, more)
	if got := idle.ask(t); got != "a" || kept.ask(t) != "a" {
		t.Errorf("through the new listener: %q", got)
	}
	busy.ask(t)
	m[0].Script(servertest.Hold(servertest.Answer{Body: "held"}))
	asked := len(m[0].Requests())
	busy.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(asked + 1)

	d.Write(listen(d, setup, own))
	plan = d.Reload()
	want = []api.ListenerPlan{{Name: "http", Address: "127.0.0.1:0", Action: "kept"}, {Name: "more", Address: "127.0.0.1:0", Action: "removed"}}
	if diff := cmp.Diff(want, plan.Listeners); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if _, err := net.Dial("tcp", more); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the removed listener still takes connections: %v", err)
	}
	if text, err := idle.Rest(); text != "" || err != nil {
		t.Errorf("the idle connection got %q, %v", text, err)
	}
	m[0].Release()
	if r := busy.Final("GET"); r.Body != "held" || !closes(r) {
		t.Errorf("the request in flight got %s%s", r.Head, r.Body)
	}
	if got := kept.ask(t); got != "a" {
		t.Errorf("the listener that stays: %q", got)
	}

	d.Write(listen(d, setup, `{name: web, address: "127.0.0.1:0"}`))
	plan = d.Reload()
	want = []api.ListenerPlan{{Name: "web", Address: "127.0.0.1:0", Action: "changed", Because: []string{"name"}}}
	if diff := cmp.Diff(want, plan.Listeners); diff != "" || d.Addr("web") != d.Address || d.Addr("http") != "" {
		t.Errorf("%s and %s; renamed (-want +got):\n%s", d.Addr("web"), d.Addr("http"), diff)
	}
	connect(t, d.Address).ask(t)
	d.Until("a new connection is logged for web", func() bool {
		return slices.ContainsFunc(d.Lines(1), func(l map[string]any) bool { return l["listener"] == "web" })
	})
}

// The same address comes back at once, as reloads follow each other.
func TestReloadTakesAnAddressBack(t *testing.T) {
	setup := servertest.Setup{Members: addresses(named(t, "a"))}
	d := servertest.Start(t, setup)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	own := `{name: http, address: "127.0.0.1:0"}`
	socket := "unix:" + filepath.Join(filepath.Dir(d.File), "http.sock")
	for range 5 {
		d.Write(listen(d, setup, fmt.Sprintf("%s, {name: more, address: %q}, {name: unix, address: %q}", own, address, socket)))
		d.Reload()
		if got := connect(t, address).ask(t); got != "a" {
			t.Fatalf("got %q", got)
		}
		d.Write(listen(d, setup, own))
		d.Reload()
		if _, err := os.Lstat(strings.TrimPrefix(socket, "unix:")); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("the unix socket is left behind: %v", err)
		}
	}
}

// A listener that gets TLS keeps its socket, and the connections that are there go on without. A certificate
// that was renewed is served after a reload, and one that changed its file too.
func TestReloadChangesTLS(t *testing.T) {
	setup := servertest.Setup{Members: addresses(named(t, "a"))}
	d := servertest.Start(t, setup)
	plain := connect(t, d.Address)
	plain.ask(t)
	authority, dir := servertest.NewAuthority(t), t.TempDir()
	cert, key := servertest.WriteCertificate(t, dir, "one", authority.Issue("one.example"))
	setup.Listener = fmt.Sprintf("tls: {cert_file: %q, key_file: %q}", cert, key)
	plan := d.Change(setup)
	want := []api.ListenerPlan{{Name: "http", Address: "127.0.0.1:0", Action: "changed", Because: []string{"tls", "http2"}}}
	if diff := cmp.Diff(want, plan.Listeners); diff != "" || d.Addr("http") != d.Address {
		t.Errorf("(-want +got):\n%s", diff)
	}
	serves := func() string {
		c, err := tls.Dial("tcp", d.Address, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].DNSNames[0]
	}
	if got := serves(); got != "one.example" {
		t.Errorf("got %s", got)
	}
	if got := plain.ask(t); got != "a" {
		t.Errorf("the connection from before got %q", got)
	}
	servertest.WriteCertificate(t, dir, "one", authority.Issue("two.example"))
	if plan := d.Reload(); plan.Listeners[0].Action != "kept" {
		t.Errorf("got %+v", plan.Listeners)
	}
	if got := serves(); got != "two.example" {
		t.Errorf("after the file was renewed: %s", got)
	}
	cert, key = servertest.WriteCertificate(t, dir, "three", authority.Issue("three.example"))
	setup.Listener = fmt.Sprintf("tls: {cert_file: %q, key_file: %q}", cert, key)
	d.Change(setup)
	if got := serves(); got != "three.example" {
		t.Errorf("with another file: %s", got)
	}
}

// The metrics listener and the admin socket move; the call that ordered it is answered.
func TestReloadMovesEndpoints(t *testing.T) {
	setup := servertest.Setup{Members: addresses(named(t, "a"))}
	d := servertest.Start(t, setup)
	text := d.Text(setup)
	d.Write(strings.Replace(text, "metrics:\n  address: \"127.0.0.1:0\"\n", "", 1) + "admin: {socket: {mode: \"0600\"}}\n")
	plan := d.Reload()
	if diff := cmp.Diff([]string{"admin.socket.mode", "metrics.address"}, plan.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	d.Until("the metrics listener is closed", func() bool {
		r, err := http.Get("http://" + d.Metrics + "/metrics")
		if err == nil {
			r.Body.Close()
		}
		return err != nil
	})
	if info, err := os.Stat(d.Socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	d.Write(text)
	d.Reload() // over the new socket, at the old place
	if info, err := os.Stat(d.Socket); err != nil {
		t.Fatal(err)
	} else if info.Mode().Perm() != 0o660 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	if err := d.Stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
	if _, err := os.Lstat(d.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

// The path of the admin socket moves where the command line does not say it.
func TestReloadMovesTheAdminSocket(t *testing.T) {
	dir := servertest.SocketDir(t)
	one, two := filepath.Join(dir, "one.sock"), filepath.Join(dir, "two.sock")
	d := servertest.Start(t, servertest.Setup{Rest: fmt.Sprintf("admin: {socket: {path: %q}}\n", one), OwnSocket: true})
	if d.Socket != one {
		t.Fatalf("listens on %s", d.Socket)
	}
	d.Change(servertest.Setup{Rest: fmt.Sprintf("admin: {socket: {path: %q}}\n", two), OwnSocket: true})
	moved := &client.Client{Socket: two}
	if _, err := moved.Status(t.Context()); err != nil {
		t.Errorf("on the new socket: %v", err)
	}
	d.Until("the old socket is gone", func() bool {
		_, err := os.Lstat(one)
		return errors.Is(err, os.ErrNotExist)
	})
}

// The access log moves and changes its format; no line is lost, and each is where it belongs.
func TestReloadMovesTheAccessLog(t *testing.T) {
	setup := servertest.Setup{Members: addresses(named(t, "a"))}
	d := servertest.Start(t, setup)
	first := filepath.Join(filepath.Dir(d.File), "access.log")
	second := filepath.Join(t.TempDir(), "second.log")
	// get waits for the line, which is written behind the answer.
	get := func(path, log string) {
		d.Get(path)
		d.Until("the line of "+path, func() bool {
			content, err := os.ReadFile(log)
			return err == nil && bytes.Contains(content, []byte(path))
		})
	}
	get("/one", first)
	text := d.Text(setup)
	d.Write(strings.Replace(text, first, second, 1))
	d.Reload()
	get("/two", second)
	d.Write(strings.Replace(text, fmt.Sprintf("output: %q", first), fmt.Sprintf("output: %q, format: text", second), 1))
	d.Reload()
	get("/three", second)
	d.Write(text)
	d.Reload()
	d.Get("/four")
	if err := d.Stop(); err != nil {
		t.Fatal(err)
	}
	paths := func(file string) string {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
			for _, word := range []string{"/one", "/two", "/three", "/four"} {
				if strings.Contains(line, word) {
					found = append(found, fmt.Sprintf("%s:%v", word, strings.HasPrefix(line, "{")))
				}
			}
		}
		return strings.Join(found, " ")
	}
	if got, want := paths(first), "/one:true /four:true"; got != want {
		t.Errorf("the first log has %q, want %q", got, want)
	}
	if got, want := paths(second), "/two:true /three:false"; got != want {
		t.Errorf("the second log has %q, want %q", got, want)
	}
}

// W07 and K03: tunnels and answers that stream outlive reloads, also one that removes their pool and their
// listener.
func TestReloadLeavesStreamsAlone(t *testing.T) {
	m := named(t, "a", "b")
	m[0].Default(servertest.Upgrade())
	chunks := make([]string, 12)
	for i := range chunks {
		chunks[i] = fmt.Sprintf("data: %d\n\n", i)
	}
	m[1].Default(servertest.HoldBody(5, servertest.Answer{Chunks: chunks}))
	setup := servertest.Setup{Rest: fmt.Sprintf(`upstreams:
  ws: {members: [{address: %q}]}
  sse: {members: [{address: %q}]}
tenants: [{name: t, applications: [
  {name: ws, domains: [ws], runtime: {type: proxy, upstream: {pool: ws}}},
  {name: sse, domains: [sse], runtime: {type: proxy, upstream: {pool: sse}}}]}]
`, m[0].Address(), m[1].Address())}
	d := servertest.Start(t, setup)
	d.Write(listen(d, setup, `{name: http, address: "127.0.0.1:0"}, {name: more, address: "127.0.0.1:0"}`))
	d.Reload()
	more := d.Addr("more")
	tunnel, stream := servertest.Dial(t, more), servertest.Dial(t, more)
	tunnel.Send("GET / HTTP/1.1\r\nHost: ws\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if r := tunnel.Response("GET"); r.Status != 101 {
		t.Fatalf("got %s", r.Head)
	}
	stream.Send("GET / HTTP/1.1\r\nHost: sse\r\n\r\n")
	m[1].WaitRequests(1)

	d.Change(setup)                                                                                    // the listener goes
	d.Change(servertest.Setup{Rest: "upstreams: {}\n"})                                                // the pools go
	d.Change(servertest.Setup{Rest: strings.Replace(setup.Rest, "members", "retries: 0, members", 1)}) // others come
	tunnel.Send("echo")
	if got := tunnel.Read(4); got != "echo" {
		t.Errorf("the tunnel gave %q", got)
	}
	m[1].Release()
	if r := stream.Final("GET"); r.Body != strings.Join(chunks, "") {
		t.Errorf("the stream gave %s%q", r.Head, r.Body)
	}
	tunnel.Send("more")
	tunnel.CloseWrite()
	if rest, err := tunnel.Rest(); rest != "more" || err != nil {
		t.Errorf("the tunnel ended with %q, %v", rest, err)
	}
}

// No reload begins once a drain has.
func TestReloadWhileDraining(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Hold(servertest.Answer{}))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	c := servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitRequests(1)
	d.Drain()
	waitListenerClosed(d)
	if p := d.Refused(); p.Status != 409 || !strings.Contains(p.Detail, "about to stop") {
		t.Errorf("got %d %s", p.Status, p.Detail)
	}
	m[0].Release()
	c.Final("GET")
}

// A reload and a PUT at once: each sees the other done or not begun.
func TestReloadsAndChangesAtOnce(t *testing.T) {
	m := named(t, "a", "b")
	setup := servertest.Setup{}
	d := servertest.Start(t, setup)
	deadline := time.Now().Add(2 * time.Second)
	done := make(chan error, 2)
	for i := range 2 {
		go func() {
			for n := 0; time.Now().Before(deadline) && n < 200; n++ {
				if _, err := d.Admin.SetMembers(t.Context(), "p", []api.SetMember{{Address: m[i].Address()}}); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	last := show(t, d)
	for n := 0; len(done) < 2; n++ {
		setup.Pool = []string{fmt.Sprintf("retries: %d", n%6)}
		d.Change(setup)
		now := show(t, d)
		if now.Retries != n%6 || now.Revision <= last.Revision {
			t.Fatalf("after %+v came %+v", last, now)
		}
		last = now
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if u := show(t, d); len(u.Members) != 1 {
		t.Errorf("the members are %+v", u.Members)
	}
}
