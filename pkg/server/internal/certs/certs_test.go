package certs_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server/internal/certs"
)

// patience bounds a handshake that hangs.
const patience = 20 * time.Second

// handshake connects once. The client has read a byte, so that it has got its session ticket and knows what the
// server made of its certificate; err is the server's, or else the client's.
func handshake(t *testing.T, server, client *tls.Config) (state tls.ConnectionState, err error) {
	t.Helper()
	// A pipe would not do: both sides may write at the same time.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	deadline := time.Now().Add(patience)
	served := make(chan error, 1)
	go func() {
		a, err := l.Accept()
		if err != nil {
			served <- err
			return
		}
		defer a.Close()
		a.SetDeadline(deadline)
		c := tls.Server(a, server)
		err = c.Handshake()
		if err == nil {
			_, err = c.Write([]byte("x"))
		}
		served <- err
	}()
	b, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.SetDeadline(deadline)
	c := tls.Client(b, client)
	_, clientErr := c.Read(make([]byte, 1))
	state = c.ConnectionState()
	b.Close()
	if err := <-served; err != nil {
		return state, err
	}
	return state, clientErr
}

// open makes a Source over files in a folder.
func open(t *testing.T, o certs.Options) *certs.Source {
	t.Helper()
	s, err := certs.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// writePair issues a certificate and puts it into the folder, under its common name.
func writePair(t *testing.T, ca *servertest.Authority, dir string, l servertest.Leaf) certs.Pair {
	t.Helper()
	cert, key := servertest.WriteCertificate(t, dir, l.CommonName, ca.IssueLeaf(l))
	return certs.Pair{CertFile: cert, KeyFile: key}
}

// TestNames has which certificate a client gets by the name that it asks for.
func TestNames(t *testing.T) {
	ca, dir := servertest.NewNamedAuthority(t, "ca"), t.TempDir()
	var pairs []certs.Pair
	for _, l := range []servertest.Leaf{
		{CommonName: "fallback.example", Hosts: []string{"first.example", "192.0.2.1"}},
		{CommonName: "wild", Hosts: []string{"*.example.com", "*.Example.NET"}},
		{CommonName: "exact", Hosts: []string{"www.example.com", "example.com"}},
		{CommonName: "late", Hosts: []string{"www.example.com", "*.example.com", "only.late.example"}},
	} {
		pairs = append(pairs, writePair(t, ca, dir, l))
	}
	source := open(t, certs.Options{Files: certs.Files{Pairs: pairs}})
	for name, want := range map[string]string{
		"first.example":     "fallback.example",
		"www.example.com":   "exact", // not the wildcard in front of it
		"WWW.EXAMPLE.COM":   "exact",
		"example.com":       "exact",
		"api.example.com":   "wild", // not the later one with the same name
		"x.example.net":     "wild",
		"a.b.example.com":   "fallback.example", // * is one label
		"example.net":       "fallback.example",
		"late":              "fallback.example", // a common name is no name
		"only.late.example": "late",
		"unknown.test":      "fallback.example",
		"":                  "fallback.example", // no SNI
	} {
		t.Run("name "+name, func(t *testing.T) {
			state, err := handshake(t, source.TLS(), &tls.Config{ServerName: name, InsecureSkipVerify: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := state.PeerCertificates[0].Subject.CommonName; got != want {
				t.Errorf("the certificate is that of %s, want %s", got, want)
			}
		})
	}
	var names []string
	for _, leaf := range source.Certificates() {
		names = append(names, leaf.Subject.CommonName)
	}
	if got := strings.Join(names, " "); got != "fallback.example wild exact late" {
		t.Errorf("certificates in use: %s", got)
	}
}

// TestTerms holds the oldest version and the protocols.
func TestTerms(t *testing.T) {
	ca, dir := servertest.NewNamedAuthority(t, "ca"), t.TempDir()
	pair := writePair(t, ca, dir, servertest.Leaf{CommonName: "a", Hosts: []string{"a.example"}})
	source := open(t, certs.Options{Files: certs.Files{Pairs: []certs.Pair{pair}},
		MinVersion: tls.VersionTLS13, NextProtos: []string{"h2", "http/1.1"}})
	client := &tls.Config{ServerName: "a.example", RootCAs: ca.Pool, NextProtos: []string{"http/1.1", "h2"}}
	state, err := handshake(t, source.TLS(), client)
	if err != nil || state.NegotiatedProtocol != "h2" {
		t.Errorf("protocol %q, error %v", state.NegotiatedProtocol, err)
	}
	client.MaxVersion = tls.VersionTLS12
	if _, err := handshake(t, source.TLS(), client); err == nil {
		t.Error("TLS 1.2 is spoken below the oldest version 1.3")
	}
}

// TestClients has which clients are let in, by the handshake and, on a connection that is there already, by
// Admits.
func TestClients(t *testing.T) {
	ca, other, dir := servertest.NewNamedAuthority(t, "ca"), servertest.NewNamedAuthority(t, "other"), t.TempDir()
	files := certs.Files{
		Pairs:        []certs.Pair{writePair(t, ca, dir, servertest.Leaf{CommonName: "server"})},
		ClientCAFile: servertest.Replace(t, filepath.Join(dir, "clients.pem"), append(ca.PEM(), other.PEM()...)),
		CRLFile:      filepath.Join(dir, "crl.pem"),
	}
	good, revoked := ca.IssueLeaf(servertest.Leaf{CommonName: "good"}), ca.IssueLeaf(servertest.Leaf{CommonName: "revoked"})
	fromOther := other.IssueLeaf(servertest.Leaf{CommonName: "from the other CA"})
	otherRevoked := other.IssueLeaf(servertest.Leaf{CommonName: "revoked by the other CA"})
	due := time.Now().Add(time.Hour)
	servertest.Replace(t, files.CRLFile, append(ca.CRL(due, revoked), other.CRL(due, otherRevoked)...))
	source := open(t, certs.Options{Files: files, RequireClient: true})

	for name, tc := range map[string]struct {
		certificate *tls.Certificate
		admitted    bool
	}{
		"good":                    {&good, true},
		"of the other CA":         {&fromOther, true},
		"none":                    {nil, false},
		"revoked":                 {&revoked, false},
		"revoked by the other CA": {&otherRevoked, false},
		"of a strange CA":         {issued(servertest.NewNamedAuthority(t, "ca").IssueLeaf(servertest.Leaf{CommonName: "strange"})), false},
		"expired":                 {issued(ca.IssueLeaf(servertest.Leaf{CommonName: "old", NotAfter: time.Now().Add(-time.Minute)})), false},
		"not valid yet":           {issued(ca.IssueLeaf(servertest.Leaf{CommonName: "early", NotBefore: time.Now().Add(time.Minute)})), false},
	} {
		for version, max := range map[string]uint16{"TLS 1.2": tls.VersionTLS12, "TLS 1.3": tls.VersionTLS13} {
			t.Run(name+", "+version, func(t *testing.T) {
				_, err := handshake(t, source.TLS(), clientOf(tc.certificate, max))
				if (err == nil) != tc.admitted {
					t.Errorf("handshake: %v", err)
				}
				var cs tls.ConnectionState
				if tc.certificate != nil {
					cs.PeerCertificates = []*x509.Certificate{tc.certificate.Leaf}
				}
				asked := source.Admits(cs)
				if (asked == nil) != tc.admitted {
					t.Errorf("Admits: %v", asked)
				}
				verdict := &certs.RevokedError{}
				if strings.HasPrefix(name, "revoked") && (!errors.As(err, &verdict) || !errors.As(asked, &verdict) || verdict.Certificate.SerialNumber.Cmp(tc.certificate.Leaf.SerialNumber) != 0) {
					t.Errorf("handshake: %v, Admits: %v, want a RevokedError for the certificate", err, asked)
				}
			})
		}
	}
	if err := open(t, certs.Options{Files: certs.Files{Pairs: files.Pairs}}).Admits(tls.ConnectionState{}); err != nil {
		t.Errorf("no client CA, but a client is not admitted: %v", err)
	}
}

func issued(c tls.Certificate) *tls.Certificate { return &c }

func clientOf(c *tls.Certificate, max uint16) *tls.Config {
	config := &tls.Config{ServerName: "server", InsecureSkipVerify: true, MaxVersion: max}
	if c != nil {
		// Not Certificates: the client would hold one back that the server's CAs have not signed.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c, nil }
	}
	return config
}

// TestNewRefuses has what a Source is not made of. Every error about a file names it.
func TestNewRefuses(t *testing.T) {
	ca, dir := servertest.NewNamedAuthority(t, "ca"), t.TempDir()
	pair := writePair(t, ca, dir, servertest.Leaf{CommonName: "server"})
	second := writePair(t, ca, dir, servertest.Leaf{CommonName: "second"})
	put := func(name string, content []byte) string {
		return servertest.Replace(t, filepath.Join(dir, name), content)
	}
	caFile := put("ca.pem", ca.PEM())
	due := time.Now().Add(time.Hour)
	ok := []certs.Pair{pair}
	clients := func(file string) certs.Files { return certs.Files{Pairs: ok, ClientCAFile: file} }
	crl := func(file string) certs.Files {
		return certs.Files{Pairs: ok, ClientCAFile: caFile, CRLFile: file}
	}
	part := pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 28}, Critical: true, Value: []byte{0x30, 0}}
	for name, tc := range map[string]struct {
		files certs.Files
		want  []string
	}{
		"no pair":             {certs.Files{}, []string{"there is none"}},
		"absent":              {certs.Files{Pairs: []certs.Pair{{CertFile: dir + "/none.pem", KeyFile: pair.KeyFile}}}, []string{"none.pem: no such file"}},
		"a folder":            {certs.Files{Pairs: []certs.Pair{{CertFile: dir, KeyFile: pair.KeyFile}}}, []string{dir, "not a regular file"}},
		"too large":           {clients(put("large.pem", make([]byte, 1<<20+1))), []string{"large.pem", "1MiB"}},
		"other key":           {certs.Files{Pairs: []certs.Pair{pair, {CertFile: pair.CertFile, KeyFile: second.KeyFile}}}, []string{"server.pem", "second.key", "does not match"}},
		"no PEM":              {certs.Files{Pairs: []certs.Pair{{CertFile: put("junk.pem", []byte("junk")), KeyFile: pair.KeyFile}}}, []string{"junk.pem"}},
		"empty CA":            {clients(put("empty.pem", []byte("# none\n"))), []string{"empty.pem", "no certificate"}},
		"key as CA":           {clients(second.KeyFile), []string{"second.key", "block 1 is a PRIVATE KEY"}},
		"cut CA":              {clients(put("cut.pem", append(ca.PEM(), ca.PEM()[:200]...))), []string{"cut.pem", "cannot be read"}},
		"bad second CA":       {clients(put("bad.pem", append(ca.PEM(), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"...))), []string{"bad.pem", "block 2"}},
		"empty list":          {crl(put("empty.crl", nil)), []string{"empty.crl"}},
		"certificate as list": {crl(caFile), []string{"ca.pem", "block 1 is a CERTIFICATE"}},
		"list of another CA":  {crl(put("other.crl", servertest.NewNamedAuthority(t, "other").CRL(due))), []string{"other.crl", "none of the client CAs"}},
		"list with a forged signature": {crl(put("forged.crl", servertest.NewNamedAuthority(t, "ca").CRL(due))),
			[]string{"forged.crl", "verification failure"}},
		"overdue list": {crl(put("old.crl", ca.CRL(time.Now().Add(-time.Minute)))), []string{"old.crl", "ran out on"}},
		"one of two lists overdue": {crl(put("half.crl", append(ca.CRL(due), ca.CRL(time.Now().Add(-time.Minute))...))),
			[]string{"half.crl", "ran out on"}},
		"part of a list": {crl(put("part.crl", ca.SignCRL(&x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now(), NextUpdate: due,
			ExtraExtensions: []pkix.Extension{part}}))), []string{"part.crl", "2.5.29.28"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := certs.New(certs.Options{Files: tc.files})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: want %q in it", err, want)
				}
			}
			if strings.Count(err.Error(), tc.want[0]) > 1 {
				t.Errorf("%v: names the file twice", err)
			}
		})
	}
	for name, o := range map[string]certs.Options{
		"clients required":   {Files: certs.Files{Pairs: ok}, RequireClient: true},
		"list without a CA":  {Files: certs.Files{Pairs: ok, CRLFile: caFile}},
		"list for everybody": {Files: certs.Files{Pairs: ok, CRLFile: caFile}, RequireClient: true},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := certs.New(o); !errors.Is(err, certs.ErrNoClientCA) {
				t.Errorf("error %v, want ErrNoClientCA", err)
			}
		})
	}
	t.Run("a list in DER is fine", func(t *testing.T) {
		der, _ := pem.Decode(ca.CRL(due))
		open(t, certs.Options{Files: crl(put("der.crl", der.Bytes))})
	})
}

// TestTLSNeverChanges holds that what TLS gave away may be used for ever: that is what a server does.
func TestTLSNeverChanges(t *testing.T) {
	ca, dir := servertest.NewNamedAuthority(t, "ca"), t.TempDir()
	pair := writePair(t, ca, dir, servertest.Leaf{CommonName: "server"})
	source := open(t, certs.Options{Files: certs.Files{Pairs: []certs.Pair{pair}}})
	config := source.TLS()
	var serials []string
	for range 3 {
		state, err := handshake(t, config, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		serials = append(serials, state.PeerCertificates[0].SerialNumber.String())
		writePair(t, ca, dir, servertest.Leaf{CommonName: "server"})
		if changed, err := source.Refresh(); !changed || err != nil {
			t.Fatalf("changed %v, error %v", changed, err)
		}
	}
	if serials[0] == serials[1] || serials[1] == serials[2] {
		t.Errorf("the serial numbers that clients saw did not change: %v", serials)
	}
}
