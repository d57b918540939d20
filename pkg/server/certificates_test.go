package server_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server"
)

// TestListenerTLS has what the keys of a listener's tls make of a handshake, and that requests are answered behind it.
func TestListenerTLS(t *testing.T) {
	servers, clients, dir := servertest.NewAuthority(t), servertest.NewAuthority(t), t.TempDir()
	pair := func(name string) string {
		cert, key := servertest.WriteCertificate(t, dir, name, servers.Issue(name))
		return fmt.Sprintf("cert_file: %s, key_file: %s", cert, key)
	}
	first, second := pair("first.example"), pair("second.example")
	client := clients.Issue("client")
	with := func(name string, change func(*tls.Config)) *tls.Config {
		c := &tls.Config{ServerName: name, RootCAs: servers.Pool, NextProtos: []string{"h2", "http/1.1"}}
		if change != nil {
			change(c)
		}
		return c
	}
	both := "tls: {certificates: [{" + first + "}, {" + second + "}]}"
	for name, tc := range map[string]struct {
		listener string
		client   *tls.Config
		protocol string // empty: no connection
	}{
		"the name chooses":  {both, with("second.example", nil), "h2"},
		"one pair":          {"tls: {" + first + "}", with("first.example", nil), "h2"},
		"another authority": {both, with("first.example", func(c *tls.Config) { c.RootCAs = clients.Pool }), ""},
		"another name":      {both, with("third.example", nil), ""},
		"http2: false":      {both + ", http2: false", with("first.example", nil), "http/1.1"},
		"old version":       {both, with("first.example", func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), "h2"},
		"too old version": {"tls: {" + first + `, min_version: "1.3"}`,
			with("first.example", func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), ""},
		"with a certificate": {"tls: {" + first + ", client_ca_file: " + clients.File + "}",
			with("first.example", func(c *tls.Config) { c.Certificates = []tls.Certificate{client} }), "h2"},
		"without a certificate": {"tls: {" + first + ", client_ca_file: " + clients.File + "}", with("first.example", nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := named(t, "a")
			d := servertest.Start(t, servertest.Setup{Listener: tc.listener, Members: addresses(m)})
			for _, offered := range []string{"h2", "http/1.1"} {
				if tc.protocol == "http/1.1" && offered == "h2" {
					continue // HTTP2 speaks nothing else
				}
				body, protocol, err := getTLS(t, d.Address, tc.client, offered)
				if tc.protocol == "" {
					if err == nil {
						t.Errorf("%s: answered %q", offered, body)
					}
					continue
				}
				if err != nil || body != "a" || protocol != offered {
					t.Errorf("%s: body %q over %q, error %v", offered, body, protocol, err)
				}
			}
			c, err := tls.Dial("tcp", d.Address, tc.client)
			if err != nil {
				return // TLS 1.3 refuses a client only after this, see above
			}
			defer c.Close()
			if got := c.ConnectionState().NegotiatedProtocol; got != tc.protocol && tc.protocol != "" {
				t.Errorf("offered h2 and http/1.1: %q was chosen, want %q", got, tc.protocol)
			}
		})
	}
}

// getTLS sends one request over a new connection with one protocol.
func getTLS(t *testing.T, address string, config *tls.Config, protocol string) (body, spoken string, err error) {
	t.Helper()
	config = config.Clone()
	config.NextProtos = []string{protocol}
	if protocol == "h2" {
		a, err := servertest.HTTP2(t, address, config).Get("https://" + config.ServerName + "/")
		if err != nil {
			return "", "", err
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		return string(text), a.TLS.NegotiatedProtocol, err
	}
	c, err := tls.Dial("tcp", address, config)
	if err != nil {
		return "", "", err
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		return "", "", err
	}
	text, err := io.ReadAll(c)
	_, body, _ = strings.Cut(string(text), "\r\n\r\n")
	return body, c.ConnectionState().NegotiatedProtocol, err
}

// TestRefreshLog has what the log says when files change: what was taken, and once why not.
func TestRefreshLog(t *testing.T) {
	authority, dir := servertest.NewAuthority(t), t.TempDir()
	until := time.Date(2090, 1, 2, 3, 4, 5, 0, time.UTC)
	renewed := authority.IssueLeaf(servertest.Leaf{Hosts: []string{"new.example"}, NotAfter: until})
	certFile, keyFile := servertest.WriteCertificate(t, dir, "site", authority.Issue("old.example"))
	var log bytes.Buffer
	s, err := server.New(server.Options{
		File: "test.yaml", AdminSocket: filepath.Join(servertest.SocketDir(t), "admin.sock"),
		Text: fmt.Appendf(nil, "access_log: {output: off}\nserver: {listeners: [{name: https, address: \"127.0.0.1:0\", tls: {cert_file: %s, key_file: %s}}, {name: plain, address: \"127.0.0.1:0\"}]}\n", certFile, keyFile),
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const changed = `level=INFO msg="certificates changed" listener=https names=[new.example] valid_until=2090-01-02T03:04:05.000Z`
	const failed = `level=WARN msg="certificates could not be refreshed, those in use stay in use" listener=https error="`
	mismatch := failed + "reading certificate " + certFile + " with key " + keyFile + `: tls: private key does not match public key"`
	absent := failed + "reading " + keyFile + `: no such file or directory"`
	cert, key := servertest.CertificatePEM(t, renewed)
	for _, step := range []struct {
		name  string
		event func()
		want  string
	}{
		{"nothing", func() {}, ""},
		{"the certificate alone", func() { servertest.Replace(t, certFile, cert) }, mismatch},
		{"the same failure again", func() {}, ""},
		{"another failure", func() { os.Remove(keyFile) }, absent},
		{"the key as well", func() { servertest.Replace(t, keyFile, key) }, changed},
		{"nothing again", func() {}, ""},
		{"a failure that was there before", func() { os.Remove(keyFile) }, absent},
	} {
		log.Reset()
		step.event()
		s.RefreshCertificates()
		if diff := cmp.Diff(step.want, strings.TrimSuffix(log.String(), "\n")); diff != "" {
			t.Errorf("%s: log (-want +got):\n%s", step.name, diff)
		}
	}
}

// TestRenewedCertificate waits for the housekeeping to find a new certificate.
func TestRenewedCertificate(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	t.Parallel()
	authority, dir := servertest.NewAuthority(t), t.TempDir()
	certFile, keyFile := servertest.WriteCertificate(t, dir, "site", authority.Issue("a.example"))
	d := servertest.Start(t, servertest.Setup{Listener: fmt.Sprintf("tls: {cert_file: %s, key_file: %s}", certFile, keyFile)})
	serial := func() string {
		c, err := tls.Dial("tcp", d.Address, &tls.Config{ServerName: "a.example", RootCAs: authority.Pool})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	before := serial()
	servertest.WriteCertificate(t, dir, "site", authority.Issue("a.example"))
	d.Until("clients see the new certificate", func() bool { return serial() != before })
}

// TestReusePort holds that two daemons share an address if both of them want to.
func TestReusePort(t *testing.T) {
	start := func(address, more string) (*server.Server, error) {
		return server.New(server.Options{File: "test.yaml", AdminSocket: filepath.Join(servertest.SocketDir(t), "admin.sock"),
			Text: fmt.Appendf(nil, "access_log: {output: off}\nserver: {listeners: [{name: http, address: %q%s}]}\n", address, more)})
	}
	for name, tc := range map[string]struct {
		first, second string
		shared        bool
	}{
		"both":        {", reuse_port: true", ", reuse_port: true", true},
		"the first":   {", reuse_port: true", "", false},
		"the second":  {"", ", reuse_port: true", false},
		"none of two": {"", ", reuse_port: false", false},
	} {
		t.Run(name, func(t *testing.T) {
			first, err := start("127.0.0.1:0", tc.first)
			if err != nil {
				t.Fatal(err)
			}
			defer first.Close()
			second, err := start(first.Addr("http").String(), tc.second)
			if err == nil {
				defer second.Close()
			}
			refused := &server.ListenError{}
			if shared := err == nil; shared != tc.shared || !shared && (!errors.As(err, &refused) || !errors.Is(err, syscall.EADDRINUSE)) {
				t.Errorf("the second daemon: %v, want shared %v", err, tc.shared)
			}
		})
	}
}
