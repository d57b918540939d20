package certs_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server/internal/certs"
)

// world is a Source with all kinds of files, and a clock that can be set forward.
type world struct {
	*certs.Source
	files   certs.Files
	ca      *servertest.Authority
	client  tls.Certificate
	dir     string
	forward time.Duration
	listDue time.Time
}

func newWorld(t *testing.T) *world {
	w := &world{ca: servertest.NewNamedAuthority(t, "ca"), dir: t.TempDir(), listDue: time.Now().Add(30 * time.Minute)}
	w.client = w.ca.IssueLeaf(servertest.Leaf{CommonName: "client"})
	w.files = certs.Files{ClientCAFile: filepath.Join(w.dir, "clients.pem"), CRLFile: filepath.Join(w.dir, "clients.crl")}
	w.writePair(t)
	servertest.Replace(t, w.files.ClientCAFile, w.ca.PEM())
	servertest.Replace(t, w.files.CRLFile, w.ca.CRL(w.listDue))
	w.Source = open(t, certs.Options{Files: w.files, Time: func() time.Time { return time.Now().Add(w.forward) }})
	return w
}

func (w *world) writePair(t *testing.T) {
	t.Helper()
	w.files.Pairs = []certs.Pair{writePair(t, w.ca, w.dir, servertest.Leaf{CommonName: "server"})}
}

// expect holds what Refresh says, and whether the world's client is let in afterwards.
func (w *world) expect(t *testing.T, changed bool, problem string, admitted bool) {
	t.Helper()
	before := w.Certificates()[0]
	got, err := w.Refresh()
	if got != changed || (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
		t.Errorf("Refresh: changed %v, error %v; want %v, %q", got, err, changed, problem)
	}
	if !changed && w.Certificates()[0] != before {
		t.Error("the certificate in use is another one, though nothing has changed")
	}
	if _, err := handshake(t, w.TLS(), clientOf(&w.client, tls.VersionTLS13)); (err == nil) != admitted {
		t.Errorf("handshake: %v, want admitted %v", err, admitted)
	}
}

// TestRefresh has what happens to files, what Refresh makes of it, and that an error leaves all as it was.
func TestRefresh(t *testing.T) {
	for name, events := range map[string]func(*testing.T, *world){
		"nothing": func(t *testing.T, w *world) {
			w.expect(t, false, "", true)
			w.expect(t, false, "", true)
		},
		"the same content anew": func(t *testing.T, w *world) {
			servertest.Replace(t, w.files.ClientCAFile, w.ca.PEM())
			w.expect(t, false, "", true)
		},
		"renewed pair": func(t *testing.T, w *world) {
			w.writePair(t)
			w.expect(t, true, "", true)
			w.expect(t, false, "", true)
		},
		"the certificate comes before its key": func(t *testing.T, w *world) {
			next := w.ca.IssueLeaf(servertest.Leaf{CommonName: "next"})
			cert, key := servertest.CertificatePEM(t, next)
			servertest.Replace(t, w.files.Pairs[0].CertFile, cert)
			w.expect(t, false, "does not match", true)
			w.expect(t, false, "does not match", true)
			servertest.Replace(t, w.files.Pairs[0].KeyFile, key)
			w.expect(t, true, "", true)
			if got := w.Certificates()[0].Subject.CommonName; got != "next" {
				t.Errorf("%s is in use", got)
			}
		},
		"a file is away for a while": func(t *testing.T, w *world) {
			os.Rename(w.files.CRLFile, w.files.CRLFile+".away")
			if _, err := w.Refresh(); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Refresh: %v", err)
			}
			w.expect(t, false, "clients.crl: no such file", true)
			os.Rename(w.files.CRLFile+".away", w.files.CRLFile)
			w.expect(t, false, "", true)
		},
		"a file becomes a folder": func(t *testing.T, w *world) {
			os.Remove(w.files.CRLFile)
			os.Mkdir(w.files.CRLFile, 0o700)
			w.expect(t, false, "not a regular file", true)
		},
		"written in place, same size, time set back": func(t *testing.T, w *world) {
			w.forward = time.Minute // nobody reads again because the files are new
			w.expect(t, false, "", true)
			info, err := os.Stat(w.files.ClientCAFile)
			if err != nil {
				t.Fatal(err)
			}
			other := servertest.NewNamedAuthority(t, "ca").PEM()
			text := append(other, strings.Repeat("#", max(0, int(info.Size())-len(other)))...)
			if err := os.WriteFile(w.files.ClientCAFile, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(w.files.ClientCAFile, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
			w.expect(t, false, "verification", true) // seen: the list is not the new CA's
		},
		"the new list is overdue": func(t *testing.T, w *world) {
			servertest.Replace(t, w.files.CRLFile, w.ca.CRL(time.Now().Add(-time.Minute), w.client))
			w.expect(t, false, "ran out", true)
			servertest.Replace(t, w.files.CRLFile, w.ca.CRL(w.listDue, w.client))
			w.expect(t, true, "", false)
			servertest.Replace(t, w.files.CRLFile, w.ca.CRL(w.listDue))
			w.expect(t, true, "", true)
		},
		"the list runs out while it is in use": func(t *testing.T, w *world) {
			w.forward = 40 * time.Minute
			_, err := w.Refresh()
			overdue := &certs.OutdatedError{}
			if !errors.As(err, &overdue) || overdue.File != w.files.CRLFile || overdue.Due.Unix() != w.listDue.Unix() {
				t.Errorf("Refresh: %v", err)
			}
			w.expect(t, false, "ran out", true)
			servertest.Replace(t, w.files.CRLFile, w.ca.CRL(w.listDue.Add(time.Hour)))
			w.expect(t, true, "", true)
		},
		"another client CA": func(t *testing.T, w *world) {
			other := servertest.NewNamedAuthority(t, "other")
			servertest.Replace(t, w.files.ClientCAFile, other.PEM())
			servertest.Replace(t, w.files.CRLFile, other.CRL(w.listDue))
			w.expect(t, true, "", false)
			if w.Admits(tls.ConnectionState{PeerCertificates: []*x509.Certificate{w.client.Leaf}}) == nil {
				t.Error("a connection of a client of the old CA is still admitted")
			}
		},
	} {
		t.Run(name, func(t *testing.T) { events(t, newWorld(t)) })
	}
}

// TestSessions holds that a session is resumed while nothing changes, and never after a change: what the
// client proved is proved again.
func TestSessions(t *testing.T) {
	for version, max := range map[string]uint16{"TLS 1.2": tls.VersionTLS12, "TLS 1.3": tls.VersionTLS13} {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t)
			server := w.TLS()
			client := clientOf(&w.client, max)
			client.ClientSessionCache = tls.NewLRUClientSessionCache(1)
			connect := func(resumed bool) {
				t.Helper()
				state, err := handshake(t, server, client)
				if err != nil || state.DidResume != resumed {
					t.Errorf("resumed %v, error %v; want resumed %v", state.DidResume, err, resumed)
				}
			}
			connect(false)
			connect(true)
			w.expect(t, false, "", true)
			connect(true)
			w.writePair(t)
			w.expect(t, true, "", true)
			connect(false)
			connect(true)
			servertest.Replace(t, w.files.ClientCAFile, append(servertest.NewNamedAuthority(t, "other").PEM(), w.ca.PEM()...))
			w.expect(t, true, "", true)
			connect(false)
			connect(true)
			servertest.Replace(t, w.files.CRLFile, w.ca.CRL(w.listDue, w.client))
			w.expect(t, true, "", false)
			if state, err := handshake(t, server, client); err == nil {
				t.Errorf("a revoked client got in, resumed %v", state.DidResume)
			}
		})
	}
}

// TestRefreshDuringHandshakes is for the race detector.
func TestRefreshDuringHandshakes(t *testing.T) {
	w := newWorld(t)
	var working sync.WaitGroup
	for range 2 {
		working.Go(func() {
			for range 10 {
				if _, err := handshake(t, w.TLS(), clientOf(&w.client, tls.VersionTLS13)); err != nil {
					t.Errorf("handshake: %v", err)
				}
			}
		})
		working.Go(func() {
			for range 20 {
				w.Refresh() // may find a certificate without its key
				w.Certificates()
			}
		})
	}
	for range 10 {
		w.writePair(t)
	}
	working.Wait()
}
