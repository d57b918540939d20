package chaos_test

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/scalws/scalws/bench/soak/chaos"
	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// daemon is a daemon in this process. Its configuration stays the one that it was started with.
type daemon struct {
	*servertest.Daemon
	address string
}

func (d *daemon) Address() string               { return d.address }
func (d *daemon) Secure() (string, *tls.Config) { return "", nil }
func (d *daemon) Reload(int) error              { return nil }

func (d *daemon) SetMembers(ctx context.Context, pool string, addresses []string) error {
	var list []api.SetMember
	for _, a := range addresses {
		list = append(list, api.SetMember{Address: a})
	}
	_, err := d.Admin.SetMembers(ctx, pool, list)
	return err
}

// forgetful says that it has replaced the list, and has not.
type forgetful struct{ *daemon }

func (forgetful) SetMembers(context.Context, string, []string) error { return nil }

// run lets chaos loose on a daemon for a while.
func run(t *testing.T, length time.Duration, d func(*daemon) chaos.Daemon) (*chaos.Run, error) {
	t.Helper()
	r, err := chaos.New(1, 8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	server, rest := r.Configuration(0)
	s := servertest.Start(t, servertest.Setup{Listener: "h2c: true", Server: []string{strings.TrimSpace(server), "max_body: 0"}, Rest: rest})
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	return r, r.Chaos(ctx, d(&daemon{s, s.Address}))
}

func TestChaos(t *testing.T) {
	r, err := run(t, 2*time.Second, func(d *daemon) chaos.Daemon { return d })
	if err != nil {
		t.Fatal(err)
	}
	if answered, _, _ := strings.Cut(strings.TrimSpace(r.Report()), " "); answered == "0" {
		t.Errorf("nothing was answered:\n%s", r.Report())
	}
}

// TestChaosFinds: what a daemon may not do is found, and the story of the request told.
func TestChaosFinds(t *testing.T) {
	for _, c := range []struct {
		name string
		d    func(*testing.T, *daemon) chaos.Daemon
		want string
	}{
		{"a list that is not replaced", func(_ *testing.T, d *daemon) chaos.Daemon { return forgetful{d} }, "which the list did not have"},
		{"bytes that are changed", func(t *testing.T, d *daemon) chaos.Daemon {
			d.address = tamper(t, d.Daemon.Address)
			return d
		}, "\nrequest "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := run(t, 20*time.Second, func(d *daemon) chaos.Daemon { return c.d(t, d) })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, want %q", err, c.want)
			}
		})
	}
}

// tamper is the address of a relay to a daemon that changes a byte in each piece of more than 8000 of them.
func tamper(t *testing.T, to string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	copyTo := func(to, from net.Conn) {
		defer to.Close()
		buf := make([]byte, 16<<10)
		for {
			n, err := from.Read(buf)
			if n > 8000 {
				buf[n-100] ^= 1
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
			if err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			go copyTo(server, client)
			go copyTo(client, server)
		}
	}()
	return l.Addr().String()
}
