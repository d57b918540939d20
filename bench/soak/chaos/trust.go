package chaos

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// trust is a certificate for the daemon, and the settings of clients that trust it and nothing else.
type trust struct {
	certificate, key []byte
	roots            *x509.CertPool
}

const secureName = "soak.test"

func newTrust() (*trust, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{secureName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	text, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	keyText, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	t := &trust{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: text}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyText}),
		roots:       x509.NewCertPool(),
	}
	t.roots.AppendCertsFromPEM(t.certificate)
	return t, nil
}

// client is the settings of a client that offers one protocol.
func (t *trust) client(offer string) *tls.Config {
	return &tls.Config{RootCAs: t.roots, ServerName: secureName, NextProtos: []string{offer}}
}

// Certificate and key, PEM, that the daemon has to have on its listener with TLS.
func (r *Run) Certificate() (certificate, key []byte) { return r.trust.certificate, r.trust.key }
