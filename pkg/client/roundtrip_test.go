package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/client"
)

// A request that is passed on comes as it was, and so does its answer, a refusal too.
func TestRoundTrip(t *testing.T) {
	c := &client.Client{Socket: serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, r.Method+" "+r.Host+r.RequestURI+" "+r.Header.Get("Accept"))
	})}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://elsewhere.example/v1/a%2Fb?c=d", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	answer, err := c.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if want := "GET localhost/v1/a%2Fb?c=d text/event-stream"; answer.StatusCode != http.StatusTeapot || string(body) != want || err != nil {
		t.Errorf("status %d, %q, %v; want 418, %q", answer.StatusCode, body, err, want)
	}
	if r.URL.Host != "elsewhere.example" {
		t.Errorf("the request was changed: it is for %s now", r.URL)
	}
}

func TestRoundTripOverTLS(t *testing.T) {
	ca := servertest.NewAuthority(t)
	server := serveTLS(t, ca, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host+r.RequestURI) })
	c := &client.Client{Server: server.URL, TLS: &tls.Config{Certificates: []tls.Certificate{ca.Issue("ops")}, RootCAs: ca.Pool}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://elsewhere.example/v1/status", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if want := strings.TrimPrefix(server.URL, "https://") + "/v1/status"; string(body) != want || err != nil {
		t.Errorf("%q, %v; want %q", body, err, want)
	}
}

func TestRoundTripErrors(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
	if err != nil {
		t.Fatal(err)
	}
	gone := &client.Client{Socket: filepath.Join(t.TempDir(), "none")}
	if _, err := gone.RoundTrip(r); !errors.Is(err, fs.ErrNotExist) || !isUnreachable(err) {
		t.Errorf("without a daemon: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gone.RoundTrip(r.WithContext(ended)); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func isUnreachable(err error) bool {
	_, ok := errors.AsType[*client.Unreachable](err)
	return ok
}
