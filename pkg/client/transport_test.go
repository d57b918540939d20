package client_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// serveTLS runs a handler over TLS, for clients with a certificate of the authority.
func serveTLS(t *testing.T, ca *servertest.Authority, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{ca.Issue("127.0.0.1")},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.Pool,
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestServer(t *testing.T) {
	ca := servertest.NewAuthority(t)
	server := serveTLS(t, ca, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			answer(http.StatusConflict, api.ProblemType, `{"detail":"no","code":"members_from_file"}`)(w, r)
			return
		}
		fmt.Fprintf(w, `{"version":"%s %s %s %s"}`, r.Proto, r.Host, r.URL.Path, r.TLS.PeerCertificates[0].Subject.CommonName)
	})
	host := strings.TrimPrefix(server.URL, "https://")
	cert, key := ca.IssueFiles("ops")
	pair := ca.Issue("in memory")
	for name, test := range map[string]struct {
		c    client.Client
		want string
	}{
		"files":           {client.Client{Server: server.URL, Cert: cert, Key: key, CA: ca.File}, "ops"},
		"a slash":         {client.Client{Server: server.URL + "/", Cert: cert, Key: key, CA: ca.File}, "ops"},
		"a configuration": {client.Client{Server: server.URL, TLS: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: ca.Pool, NextProtos: []string{"h2"}}}, "in memory"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.c.Status(t.Context())
			if want := "HTTP/1.1 " + host + " /v1/status " + test.want; err != nil || got.Version != want {
				t.Errorf("got %q, want %q, %v", got.Version, want, err)
			}
			var problem *api.Problem
			if _, err := test.c.SetMembers(t.Context(), "p", nil); !errors.As(err, &problem) || problem.Code != api.CodeMembersFromFile {
				t.Errorf("a refusal: %v", err)
			}
		})
	}
}

// Where no connection can be made, for whatever reason, nothing was asked for.
func TestServerUnreachable(t *testing.T) {
	ca, other := servertest.NewNamedAuthority(t, "daemons"), servertest.NewNamedAuthority(t, "others")
	server := serveTLS(t, ca, func(http.ResponseWriter, *http.Request) { t.Error("called") })
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	cert, key := ca.IssueFiles("ops")
	otherCert, otherKey := other.IssueFiles("ops")
	var verification *tls.CertificateVerificationError
	for name, test := range map[string]struct {
		c     client.Client
		cause func(error) bool
	}{
		"nobody listens":                 {client.Client{Server: "https://" + closed.Addr().String(), Cert: cert, Key: key, CA: ca.File}, func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }},
		"a daemon of another CA":         {client.Client{Server: server.URL, Cert: cert, Key: key, CA: other.File}, func(err error) bool { return errors.As(err, &verification) }},
		"without a certificate":          {client.Client{Server: server.URL, CA: ca.File}, nil},
		"with one of another CA":         {client.Client{Server: server.URL, Cert: otherCert, Key: otherKey, CA: ca.File}, nil},
		"a name that it does not go by":  {client.Client{Server: strings.Replace(server.URL, "127.0.0.1", "localhost", 1), Cert: cert, Key: key, CA: ca.File}, func(err error) bool { return errors.As(err, &verification) }},
		"the system's CAs, without ours": {client.Client{Server: server.URL, Cert: cert, Key: key}, func(err error) bool { return errors.As(err, &verification) }},
	} {
		t.Run(name, func(t *testing.T) {
			for call, do := range calls {
				_, err := do(t.Context(), &test.c)
				var unreachable *client.Unreachable
				if !errors.As(err, &unreachable) || unreachable.Server != test.c.Server || !strings.HasPrefix(err.Error(), "connecting to "+test.c.Server+": ") {
					t.Fatalf("%s: error %v is not Unreachable with its server", call, err)
				}
				if test.cause != nil && !test.cause(err) {
					t.Errorf("%s: the cause of %v is another", call, err)
				}
			}
		})
	}
}

// What is wrong with the fields of a client is said before anything is connected to.
func TestServerFields(t *testing.T) {
	ca := servertest.NewAuthority(t)
	cert, key := ca.IssueFiles("ops")
	for name, test := range map[string]struct {
		c    client.Client
		want string
	}{
		"both":            {client.Client{Server: "https://127.0.0.1:1", Socket: "/s"}, "both a socket and a server are given"},
		"no scheme":       {client.Client{Server: "127.0.0.1:1"}, "reading the server's address: "},
		"no TLS":          {client.Client{Server: "http://127.0.0.1:1"}, "must have the form https://host:port"},
		"a path":          {client.Client{Server: "https://127.0.0.1:1/v1"}, "must have the form https://host:port"},
		"no host":         {client.Client{Server: "https://:1"}, "must have the form https://host:port"},
		"no key":          {client.Client{Server: "https://127.0.0.1:1", Cert: cert}, "reading the client certificate: "},
		"key of another":  {client.Client{Server: "https://127.0.0.1:1", Cert: cert, Key: ca.File}, "reading the client certificate: "},
		"no such CA":      {client.Client{Server: "https://127.0.0.1:1", CA: filepath.Join(t.TempDir(), "none")}, "reading the CA certificates: "},
		"a CA without CA": {client.Client{Server: "https://127.0.0.1:1", CA: key}, "reading the CA certificates: " + key + " holds none"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.c.Status(t.Context())
			if err == nil || !strings.HasPrefix(err.Error(), "calling GET /v1/status: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
}

// A certificate that was renewed is used by the next call.
func TestServerRenewedCertificate(t *testing.T) {
	ca := servertest.NewAuthority(t)
	server := serveTLS(t, ca, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"version":"`+r.TLS.PeerCertificates[0].Subject.CommonName+`"}`)
	})
	dir := t.TempDir()
	for _, name := range []string{"first", "second"} {
		cert, key := servertest.WriteCertificate(t, dir, "client", ca.Issue(name))
		c := &client.Client{Server: server.URL, Cert: cert, Key: key, CA: ca.File}
		if got, err := c.Status(t.Context()); err != nil || got.Version != name {
			t.Errorf("got %q, want %q, %v", got.Version, name, err)
		}
	}
}
