package upstream_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// short is a connect timeout that is waited for.
const short = 200 * time.Millisecond

func TestDialErrors(t *testing.T) {
	peer := servertest.NewMember(t)
	peer.Down()
	names := servertest.NewNames(t)
	names.Set("nowhere.test")
	silent := servertest.NewNames(t)
	silent.Silence()
	full := servertest.FullBacklog(t, "127.0.0.1:0")
	names.Set("full.test", "127.0.0.1")
	_, fullPort, _ := net.SplitHostPort(full)

	for name, c := range map[string]struct {
		address string
		names   *servertest.Names
		stage   upstream.Stage
		says    string
	}{
		"refused":              {peer.Address(), nil, upstream.Refused, "connection refused"},
		"unix socket is gone":  {"unix:" + filepath.Join(t.TempDir(), "none"), nil, upstream.Failed, "no such file"},
		"no such name":         {"absent.test:80", names, upstream.Failed, "lookup absent.test"},
		"name without address": {"nowhere.test:80", names, upstream.Failed, "lookup nowhere.test"},
		"name server is mute":  {"a.test:80", silent, upstream.Timeout, "lookup a.test"},
		"backlog is full":      {full, nil, upstream.Timeout, "i/o timeout"},
		"the same by its name": {"full.test:" + fullPort, names, upstream.Timeout, "i/o timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			o := upstream.Options{}
			timeout := patience
			if c.stage == upstream.Timeout {
				timeout = short
			}
			if c.names != nil {
				o.Resolver = c.names.Resolver()
			}
			e := failure(t, upstream.NewMember(c.address, o), timeout)
			if e.Stage != c.stage || !strings.Contains(e.Error(), c.says) {
				t.Errorf("stage %d, want %d: %v, want %q in it", e.Stage, c.stage, e, c.says)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	names := servertest.NewNames(t)
	for name, c := range map[string]struct {
		resolves []string // of member.test; none: the address itself
		listens  string
	}{
		"IPv4":                         {nil, "127.0.0.1"},
		"IPv6":                         {nil, "::1"},
		"name":                         {[]string{"127.0.0.1"}, "127.0.0.1"},
		"name with IPv6 alone":         {[]string{"::1"}, "::1"},
		"the first address refuses":    {[]string{"127.0.0.2", "127.0.0.3"}, "127.0.0.3"},
		"IPv6 refuses":                 {[]string{"::1", "127.0.0.1"}, "127.0.0.1"},
		"IPv4 refuses":                 {[]string{"::1", "127.0.0.1"}, "::1"},
		"all but the last one refuses": {[]string{"127.0.0.5", "127.0.0.2", "127.0.0.3", "::1", "127.0.0.4"}, "127.0.0.4"},
	} {
		t.Run(name, func(t *testing.T) {
			peer := servertest.NewMembers(t, c.listens)[0]
			host, port, _ := net.SplitHostPort(peer.Address())
			if c.resolves != nil {
				host = "member.test"
				names.Set(host, c.resolves...)
			}
			m := upstream.NewMember(net.JoinHostPort(host, port), upstream.Options{Resolver: names.Resolver()})
			dial(t, m)
			peer.WaitConnections(1)
		})
	}
}

// D01: a family that does not answer at all costs a fraction of a second, not the connect timeout.
func TestD01DeadFamily(t *testing.T) {
	for name, c := range map[string]struct{ dead, alive string }{
		"IPv6": {"::1", "127.0.0.1"},
		"IPv4": {"127.0.0.1", "::1"},
	} {
		t.Run(name, func(t *testing.T) {
			peer := servertest.NewMembers(t, c.alive)[0]
			_, port, _ := net.SplitHostPort(peer.Address())
			servertest.FullBacklog(t, net.JoinHostPort(c.dead, port))
			names := servertest.NewNames(t)
			names.Set("member.test", c.dead, c.alive)
			m := upstream.NewMember("member.test:"+port, upstream.Options{Resolver: names.Resolver()})
			began := time.Now()
			dial(t, m)
			if took := time.Since(began); took > patience/4 {
				t.Errorf("took %v of %v", took, patience)
			}
			peer.WaitConnections(1)
		})
	}
}

// D01: every connection resolves anew.
func TestD01NameMoves(t *testing.T) {
	peers := servertest.NewMembers(t, "127.0.0.2", "127.0.0.3")
	_, port, _ := net.SplitHostPort(peers[0].Address())
	names := servertest.NewNames(t)
	m := upstream.NewMember("member.test:"+port, upstream.Options{Resolver: names.Resolver()})
	for _, step := range []struct {
		at   string
		peer *servertest.Member
		had  int
	}{{"127.0.0.2", peers[0], 1}, {"127.0.0.3", peers[1], 1}, {"127.0.0.2", peers[0], 2}} {
		names.Set("member.test", step.at)
		dial(t, m)
		step.peer.WaitConnections(step.had)
	}
}

// A unix socket whose backlog is full is waited for, as the kernel waits over TCP.
func TestFullUnixSocket(t *testing.T) {
	path := filepath.Join(servertest.SocketDir(t), "s")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), path)
	defer file.Close()
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	l, err := net.FileListener(file)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	full := false
	for range 16 {
		c, err := net.Dial("unix", path)
		if errors.Is(err, syscall.EAGAIN) {
			full = true
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if !full {
		t.Fatal("the backlog has no end")
	}
	m := upstream.NewMember("unix:"+path, upstream.Options{})
	if e := failure(t, m, short); e.Stage != upstream.Timeout {
		t.Errorf("stage %d: %v", e.Stage, e)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 2 {
			if c, err := l.Accept(); err == nil {
				defer c.Close()
			}
		}
	})
	dial(t, m)
	l.Close()
	wg.Wait()
}
