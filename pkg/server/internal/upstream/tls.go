package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
)

// TLSConfig reads all that an https pool needs: the system's roots and caFile in addition, the name to
// verify (empty: each member's host) and the client certificate. Empty file names are left out.
// Certificates are always verified.
func TLSConfig(caFile, serverName, certFile, keyFile string) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12,
		ServerName: serverName,
		NextProtos: []string{"http/1.1"},
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

// memberTLS is the pool's configuration for one member. Sessions are resumed with that member alone: another one
// under the same server_name could not read the ticket, and each would drop the other's. The last ticket is
// enough, for every connection brings a new one.
func memberTLS(pool *tls.Config, address string) *tls.Config {
	c := pool.Clone()
	c.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	if c.ServerName == "" {
		c.ServerName = host(address)
	}
	return c
}

// handshakeError begins with what a person has to know: of a long detail only the beginning is kept.
func handshakeError(err error, name string) error {
	var plain tls.RecordHeaderError
	var wrong x509.HostnameError
	switch {
	case errors.As(err, &plain):
		return fmt.Errorf("no TLS at that port: %w", err)
	case errors.As(err, &wrong):
		return fmt.Errorf("the certificate is not for %s: %w", name, err)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("TLS handshake: closed by the member: %w", err)
	default:
		return fmt.Errorf("TLS handshake: %w", err)
	}
}
