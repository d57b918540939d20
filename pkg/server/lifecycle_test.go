package server_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server"
)

// K01: a drain lets requests in flight finish, and every client sees whole answers or a clean close.
func TestK01Drain(t *testing.T) {
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	idle := servertest.Dial(t, d.Address)
	idle.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	idle.Final("GET")
	m[0].Script(servertest.Hold(servertest.Answer{Body: "slow"}))
	busy := servertest.Dial(t, d.Address)
	busy.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitBodies(2)

	d.Drain()
	if text, err := idle.Rest(); text != "" || err != nil {
		t.Errorf("the idle connection got %q, %v", text, err)
	}
	d.Until("readiness fails", func() bool {
		r, err := http.Get("http://" + d.Metrics + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		return r.StatusCode == 503
	})
	d.Until("the listener is closed", func() bool {
		c, err := net.Dial("tcp", d.Address)
		if err == nil {
			c.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	m[0].Release()
	if r := busy.Final("GET"); r.Status != 200 || r.Body != "slow" || !closes(r) {
		t.Errorf("the request in flight got %s%s", r.Head, r.Body)
	}
	if err := d.Stop(); err != nil {
		t.Errorf("drain: %v", err)
	}
	if _, err := os.Lstat(d.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the admin socket is left behind: %v", err)
	}
}

func TestDrainUnderLoad(t *testing.T) {
	m := named(t, "a", "b")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	done := make(chan string, 20)
	started := make(chan struct{}, 20)
	for range 20 {
		go func() {
			c, err := net.Dial("tcp", d.Address)
			if err != nil {
				done <- err.Error()
				return
			}
			defer c.Close()
			conn := servertest.NewConn(t, c)
			for n := 0; ; n++ {
				if n == 5 {
					started <- struct{}{}
				}
				if conn.TrySend("GET / HTTP/1.1\r\nHost: x\r\n\r\n") != nil {
					done <- ""
					return
				}
				text := make([]byte, 4096)
				got, err := c.Read(text)
				switch {
				case got == 0 && err != nil:
					done <- "" // closed between two requests
					return
				case !strings.HasPrefix(string(text[:got]), "HTTP/1.1 200 ") || !strings.HasSuffix(string(text[:got]), "\r\n\r\n"+string(text[got-1])):
					done <- string(text[:got])
					return
				case strings.Contains(string(text[:got]), "Connection: close"):
					done <- ""
					return
				}
			}
		}()
	}
	for range 20 {
		<-started
	}
	if err := d.Stop(); err != nil {
		t.Errorf("drain: %v", err)
	}
	for range 20 {
		if bad := <-done; bad != "" {
			t.Errorf("a client saw %q", bad)
		}
	}
}

func TestDrainRunsIntoItsTimeout(t *testing.T) {
	m := named(t, "a")
	m[0].Default(servertest.Hold(servertest.Answer{}))
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Server: []string{"shutdown_timeout: 100ms"}})
	c := servertest.Dial(t, d.Address)
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	m[0].WaitRequests(1)
	if err := d.Stop(); !errors.Is(err, server.ErrDrainTimeout) {
		t.Errorf("got %v", err)
	}
}

func start(t *testing.T, text, socket string) error {
	t.Helper()
	s, err := server.New(server.Options{File: "x.yaml", Text: []byte(text), AdminSocket: socket})
	if err == nil {
		s.Close()
	}
	return err
}

// Each failure at start says what to do, and leaves nothing behind.
func TestStartErrors(t *testing.T) {
	dir := servertest.SocketDir(t)
	d := servertest.Start(t, servertest.Setup{})
	config := func(address string) string {
		return "server: {listeners: [{name: http, address: \"" + address + "\"}]}\naccess_log: {output: off}\n"
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	free := filepath.Join(dir, "free.sock")
	for name, c := range map[string]struct{ text, socket, want string }{
		"port in use":             {config(d.Address), free, "stop the program that listens there, or change server.listeners[0].address"},
		"address not ours":        {config("203.0.113.1:80"), free, "no interface of this machine has that address"},
		"admin socket in use":     {config("127.0.0.1:0"), d.Socket, "socket in use by process "},
		"admin socket is a file":  {config("127.0.0.1:0"), plain, "is not a socket"},
		"admin socket too long":   {config("127.0.0.1:0"), filepath.Join(dir, strings.Repeat("x", 108)), "the path is too long for a socket"},
		"no such group":           {config("127.0.0.1:0") + "admin: {socket: {group: there-is-none}}\n", free, "create that group, or name one that there is"},
		"no folder for the log":   {strings.Replace(config("127.0.0.1:0"), "output: off", "output: "+dir+"/no/log", 1), free, "opening access log: open " + dir},
		"folder of socket absent": {config("127.0.0.1:0"), filepath.Join(dir, "no", "a.sock"), "the folder must exist"},
		"invalid configuration":   {"server: {listeners: []}\n", free, "x.yaml:1:"},
	} {
		t.Run(name, func(t *testing.T) {
			err := start(t, c.text, c.socket)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) != 1 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// A socket file that nobody listens on is replaced; the new one has the configured rights from the start.
func TestU01AdminSocket(t *testing.T) {
	dir := servertest.SocketDir(t)
	path := filepath.Join(dir, "admin.sock")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	s, err := server.New(server.Options{
		File: "x.yaml", Text: []byte("server: {listeners: [{name: http, address: \"127.0.0.1:0\"}]}\naccess_log: {output: off}\n"), AdminSocket: path,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestWebSocket(t *testing.T) {
	m := named(t, "a", "b")
	for _, member := range m {
		member.Default(servertest.Upgrade())
	}
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Pool: []string{"balance: least_conn"}})
	t.Run("tunnels carry bytes and are not in flight", func(t *testing.T) {
		c := servertest.Dial(t, d.Address)
		c.Send("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "early")
		r := c.Response("GET")
		if r.Status != 101 || strings.Join(r.Fields("Upgrade"), "") != "websocket" {
			t.Fatalf("got %s", r.Head)
		}
		if got := c.Read(5); got != "early" {
			t.Errorf("early bytes: %q", got)
		}
		d.Until("the handshake is no longer in flight", func() bool {
			u := show(t, d)
			return u.Members[0].InFlight+u.Members[1].InFlight == 0
		})
		// W01: ending one direction leaves the other.
		big := strings.Repeat("x", 300<<10)
		c.Send(big)
		c.CloseWrite()
		if rest, err := c.Rest(); rest != big || err != nil {
			t.Errorf("%d bytes back, want %d; %v", len(rest), len(big), err)
		}
	})
	t.Run("W05: a refused upgrade is an ordinary answer", func(t *testing.T) {
		for _, member := range m {
			member.Script(servertest.Status(403))
		}
		c := servertest.Dial(t, d.Address)
		c.Send("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n")
		if r := c.Response("GET"); r.Status != 403 {
			t.Errorf("got %s", r.Head)
		}
		if r := c.Response("GET"); r.Status == 0 {
			t.Errorf("the request behind it was lost")
		}
	})
	t.Run("W09: a handshake is not retried", func(t *testing.T) {
		single := named(t, "c", "d")
		single[0].Down()
		d := servertest.Start(t, servertest.Setup{Members: addresses(single)})
		r := d.Get("/", "Connection: Upgrade", "Upgrade: websocket")
		if r.Status != 502 || len(single[1].Requests()) != 0 {
			t.Errorf("got %d, and the other member %d requests", r.Status, len(single[1].Requests()))
		}
	})
	t.Run("websocket: false refuses", func(t *testing.T) {
		d := servertest.Start(t, servertest.Setup{Members: addresses(m), Runtime: "{type: proxy, upstream: {pool: p}, websocket: false}"})
		if r := d.Get("/", "Connection: Upgrade", "Upgrade: websocket"); r.Status != 403 {
			t.Errorf("got %d", r.Status)
		}
	})
}

// A real client library and a real server library, through the daemon.
func TestWebSocketLibrary(t *testing.T) {
	h := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		for {
			kind, p, err := c.Read(r.Context())
			if err != nil || c.Write(r.Context(), kind, p) != nil {
				return
			}
		}
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go h.Serve(l)
	t.Cleanup(func() { h.Close() })
	d := servertest.Start(t, servertest.Setup{Members: []string{l.Addr().String()}})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, _, err := websocket.Dial(ctx, "ws://"+d.Address+"/echo", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"hello", strings.Repeat("x", 30_000)} {
		if err := c.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := c.Read(ctx); err != nil || string(got) != text {
			t.Fatalf("got %d bytes, %v", len(got), err)
		}
	}
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Errorf("closing: %v", err)
	}
}
