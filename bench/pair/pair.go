// Package pair makes a certificate for servers on loopback that are only measured or tested.
package pair

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Files are PEM files of a certificate that nobody has signed but itself.
type Files struct {
	Cert, Key string
	// Both has the certificate and behind it the key.
	Both string
}

// Write makes a certificate for 127.0.0.1 with a key on P-256, good for a day, and writes its files into a folder.
func Write(folder string) (Files, error) {
	f := Files{Cert: filepath.Join(folder, "cert.pem"), Key: filepath.Join(folder, "key.pem"), Both: filepath.Join(folder, "both.pem")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return f, fmt.Errorf("making a key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: "loopback"},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(24 * time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return f, fmt.Errorf("making a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return f, fmt.Errorf("writing a key: %w", err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	secret := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	return f, errors.Join(
		os.WriteFile(f.Cert, cert, 0o600),
		os.WriteFile(f.Key, secret, 0o600),
		os.WriteFile(f.Both, slices.Concat(cert, secret), 0o600),
	)
}
