package servertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates that are trusted by whoever trusts it.
type Authority struct {
	// File has its own certificate, as PEM.
	File string
	// Pool has it, too.
	Pool *x509.CertPool

	t     testing.TB
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
	lists int64
}

// Leaf is what a certificate says. All of them are good for servers and for clients.
type Leaf struct {
	// CommonName of the subject.
	CommonName string
	// Hosts are names and addresses.
	Hosts []string
	// NotBefore and NotAfter; zero: two hours ago, and in an hour.
	NotBefore, NotAfter time.Time
}

// NewAuthority is one that lives as long as the test.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	return NewNamedAuthority(t, "test authority")
}

// NewNamedAuthority is one with a name that tells it from others.
func NewNamedAuthority(t testing.TB, name string) *Authority {
	t.Helper()
	a := &Authority{t: t, File: filepath.Join(t.TempDir(), "ca.pem"), Pool: x509.NewCertPool(), key: newKey(t)}
	template := certificateTemplate(t, Leaf{CommonName: name})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	a.cert = sign(t, template, template, a.key, a.key)
	a.Pool.AddCert(a.cert)
	Replace(t, a.File, a.PEM())
	return a
}

// PEM is the certificate of the authority.
func (a *Authority) PEM() []byte { return block("CERTIFICATE", a.cert.Raw) }

// Issue makes a certificate for these names and addresses; its common name is the first.
func (a *Authority) Issue(hosts ...string) tls.Certificate {
	a.t.Helper()
	return a.IssueLeaf(Leaf{CommonName: hosts[0], Hosts: hosts})
}

// IssueExpired makes one that was valid until an hour ago.
func (a *Authority) IssueExpired(hosts ...string) tls.Certificate {
	a.t.Helper()
	return a.IssueLeaf(Leaf{CommonName: hosts[0], Hosts: hosts, NotAfter: time.Now().Add(-time.Hour)})
}

// IssueLeaf makes any certificate.
func (a *Authority) IssueLeaf(l Leaf) tls.Certificate {
	a.t.Helper()
	template := certificateTemplate(a.t, l)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	key := newKey(a.t)
	leaf := sign(a.t, template, a.cert, key, a.key)
	return tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
}

// IssueFiles is Issue with the results in files, as a configuration wants them.
func (a *Authority) IssueFiles(hosts ...string) (certFile, keyFile string) {
	a.t.Helper()
	return WriteCertificate(a.t, a.t.TempDir(), "cert", a.Issue(hosts...))
}

// CRL is a revocation list, as PEM, and due is when the next one has to be there.
func (a *Authority) CRL(due time.Time, revoked ...tls.Certificate) []byte {
	a.t.Helper()
	a.lists++
	list := &x509.RevocationList{Number: big.NewInt(a.lists), ThisUpdate: due.Add(-time.Hour), NextUpdate: due}
	for _, c := range revoked {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: c.Leaf.SerialNumber, RevocationTime: list.ThisUpdate})
	}
	return a.SignCRL(list)
}

// SignCRL is any revocation list, as PEM.
func (a *Authority) SignCRL(list *x509.RevocationList) []byte {
	a.t.Helper()
	der, err := x509.CreateRevocationList(rand.Reader, list, a.cert, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return block("X509 CRL", der)
}

// WriteCertificate puts a certificate and its key into name.pem and name.key in a folder.
func WriteCertificate(t testing.TB, dir, name string, c tls.Certificate) (certFile, keyFile string) {
	t.Helper()
	cert, key := CertificatePEM(t, c)
	return Replace(t, filepath.Join(dir, name+".pem"), cert), Replace(t, filepath.Join(dir, name+".key"), key)
}

// CertificatePEM is a certificate and its key.
func CertificatePEM(t testing.TB, c tls.Certificate) (cert, key []byte) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return block("CERTIFICATE", c.Certificate[0]), block("PRIVATE KEY", der)
}

// Replace puts a new file in the place of what may be there, as an administrator should, and returns its name.
func Replace(t testing.TB, file string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(file+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	return file
}

func certificateTemplate(t testing.TB, l Leaf) *x509.Certificate {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: l.CommonName},
		NotBefore:    l.NotBefore,
		NotAfter:     l.NotAfter,
	}
	if l.NotBefore.IsZero() {
		template.NotBefore = time.Now().Add(-2 * time.Hour)
	}
	if l.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(time.Hour)
	}
	for _, h := range l.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	return template
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
