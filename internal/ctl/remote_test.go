package ctl_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/ctl"
	"github.com/scalws/scalws/internal/servertest"
)

// runWith runs scalwsctl with an environment, in which variables are NAME=VALUE.
func runWith(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = ctl.Main(t.Context(), args, ctl.System{
		In: strings.NewReader(""), Out: &out, Err: &errs, Now: time.Now, UID: os.Getuid(),
		Getenv: func(name string) string {
			for _, v := range env {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			return ""
		},
	})
	return code, out.String(), errs.String()
}

// freePort is an address that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestRemoteDaemon reaches a daemon over TLS, by flags, by the environment and by a context, and fails to in
// every way that has a hint of its own.
func TestRemoteDaemon(t *testing.T) {
	ca, stranger, dir := servertest.NewNamedAuthority(t, "ours"), servertest.NewNamedAuthority(t, "theirs"), t.TempDir()
	cert, key := servertest.WriteCertificate(t, dir, "daemon", ca.IssueLeaf(servertest.Leaf{CommonName: "daemon", Hosts: []string{"127.0.0.1"}}))
	daemon := servertest.Start(t, servertest.Setup{
		Admin: []string{"remote:", "  address: 127.0.0.1:0", "  cert_file: " + cert, "  key_file: " + key, "  client_ca_file: " + ca.File},
		Rest:  "upstreams: {web: {members: [{address: \"192.0.2.1:80\"}]}}\n",
	})
	me, mine := servertest.WriteCertificate(t, dir, "me", ca.IssueLeaf(servertest.Leaf{CommonName: "me"}))
	him, his := servertest.WriteCertificate(t, dir, "him", stranger.IssueLeaf(servertest.Leaf{CommonName: "him"}))
	_, port, _ := net.SplitHostPort(daemon.Remote)
	server, nobody := "https://"+daemon.Remote, "https://"+freePort(t)
	settings := "XDG_CONFIG_HOME=" + filepath.Join(dir, "config")
	if code, _, errs := runWith(t, []string{settings}, "context", "add", "prod", "--server", server, "--cert", me, "--key", mine, "--ca", ca.File); code != ctl.ExitDone {
		t.Fatal(errs)
	}
	for name, test := range map[string]struct {
		env    []string
		flags  []string
		code   int
		stdout string
		stderr string
	}{
		"flags":       {nil, []string{"--server", server, "--cert", me, "--key", mine, "--ca", ca.File}, 0, "Chosen by:      --server\n", ""},
		"environment": {[]string{"SCALWSCTL_SERVER=" + server, "SCALWSCTL_CERT=" + me, "SCALWSCTL_KEY=" + mine, "SCALWSCTL_CA=" + ca.File}, nil, 0, "Daemon:         " + server + "\n", ""},
		"context":     {[]string{settings}, []string{"--context", "prod"}, 0, "Chosen by:      context prod (--context)\n", ""},
		"a flag over the context": {[]string{settings}, []string{"--context", "prod", "--cert", him, "--key", his}, 7, "",
			"hint:  the server does not take this certificate: name one of its client CA with --cert and --key (this one comes from context prod (--context))\n"},
		"no certificate":              {nil, []string{"--server", server, "--ca", ca.File}, 7, "", "hint:  the server does not take this certificate"},
		"another CA":                  {nil, []string{"--server", server, "--cert", me, "--key", mine, "--ca", stranger.File}, 7, "", "hint:  the server's certificate is not trusted: name the file of its CA with --ca (this one comes from --server)\n"},
		"another name":                {nil, []string{"--server", "https://localhost:" + port, "--cert", me, "--key", mine, "--ca", ca.File}, 7, "", "hint:  the server's certificate has other names: use one of them in --server"},
		"nobody listens":              {nil, []string{"--server", nobody, "--cert", me, "--key", mine, "--ca", ca.File}, 7, "", "hint:  nobody listens there: start scalwsd with admin.remote, or name another one"},
		"no such file":                {nil, []string{"--server", server, "--cert", dir + "/gone", "--key", mine}, 1, "", "reading the client certificate"},
		"a certificate for a socket":  {nil, []string{"--socket", daemon.Socket, "--cert", me, "--key", mine}, 2, "", "a certificate, a key and a CA are for a server (--socket)"},
		"its variables with a socket": {[]string{"SCALWSCTL_CERT=" + me, "SCALWSCTL_KEY=/k", "SCALWSCTL_CA=/ca"}, []string{"--socket", daemon.Socket}, 0, "Chosen by:      --socket\n", ""},
		"a unix variable":             {[]string{"SCALWSCTL_SOCKET=/nowhere"}, []string{"--server", server, "--cert", me, "--key", mine, "--ca", ca.File}, 0, "State:          serving\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runWith(t, test.env, append(test.flags, "status")...)
			if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("exit code %d, want %d\n%s%s", code, test.code, stdout, stderr)
			}
			if code != 0 && strings.Count(stderr, "\n") != 2 {
				t.Errorf("an error has two lines:\n%s", stderr)
			}
		})
	}
}
