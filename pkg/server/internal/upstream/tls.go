package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// sessions is how many TLS sessions a pool keeps for resumption.
const sessions = 256

// TLSConfig reads all that an https pool needs: the system's roots and caFile in addition, the name to
// verify (empty: each member's host) and the client certificate. Empty file names are left out.
// Certificates are always verified.
func TLSConfig(caFile, serverName, certFile, keyFile string) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         serverName,
		NextProtos:         []string{"http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(sessions),
	}
	if caFile != "" {
		roots, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("reading the system's roots: %w", err)
		}
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("reading CA file: %w", err)
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading CA file %s: %w", caFile, errNoCertificate)
		}
		c.RootCAs = roots
	}
	if certFile != "" {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, fmt.Errorf("reading client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

var errNoCertificate = errors.New("no certificate in it")
