package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// content is what one reading of the files is good for. It is immutable.
type content struct {
	config *tls.Config
	leaves []*x509.Certificate
	// exact and wildcard have the certificates by host name, and by what stands behind "*.".
	exact, wildcard map[string]*tls.Certificate
	first           *tls.Certificate
	// clients are the CAs of clients; nil asks for no certificate.
	clients *x509.CertPool
	crl     revocations
}

func newContent(o Options, texts map[string][]byte) (*content, error) {
	c := &content{exact: map[string]*tls.Certificate{}, wildcard: map[string]*tls.Certificate{}}
	for _, p := range o.Pairs {
		pair, err := tls.X509KeyPair(texts[p.CertFile], texts[p.KeyFile])
		if err != nil {
			return nil, fmt.Errorf("reading certificate %s with key %s: %w", p.CertFile, p.KeyFile, err)
		}
		c.add(&pair)
	}
	if c.first == nil {
		return nil, errors.New("reading certificates: there is none")
	}
	c.config = &tls.Config{
		MinVersion:     o.MinVersion,
		NextProtos:     o.NextProtos,
		Time:           o.Time,
		GetCertificate: c.certificate,
		// Small records at the beginning of a connection cost a system call for each 1.4 KB of an answer. A record
		// of 16 KiB is what others send, too.
		DynamicRecordSizingDisabled: true,
	}
	// crypto/tls would encrypt session tickets under keys of the configuration that Source.TLS gave away, which
	// outlive this content. Under keys of this one, a session is resumed only as long as the CAs and the
	// revocation lists that it was begun with are the current ones.
	c.config.WrapSession = c.config.EncryptTicket
	c.config.UnwrapSession = c.config.DecryptTicket
	if o.ClientCAFile == "" {
		return c, nil
	}
	cas, err := certificates(texts[o.ClientCAFile])
	if err != nil {
		return nil, fmt.Errorf("reading CA certificates %s: %w", o.ClientCAFile, err)
	}
	c.clients = x509.NewCertPool()
	for _, ca := range cas {
		c.clients.AddCert(ca)
	}
	c.config.ClientCAs, c.config.ClientAuth = c.clients, tls.RequireAndVerifyClientCert
	if o.CRLFile == "" {
		return c, nil
	}
	if c.crl, err = newRevocations(o.CRLFile, texts[o.CRLFile], cas, o.Time()); err != nil {
		return nil, err
	}
	// Unlike VerifyPeerCertificate, this is called for resumed sessions too.
	c.config.VerifyConnection = func(cs tls.ConnectionState) error { return c.crl.check(cs.VerifiedChains) }
	return c, nil
}

// add takes a pair, under those of its names that no earlier one has. Only DNS names count (RFC 9525
// section 2): clients have not looked at the common name for years, and SNI carries no address (RFC 6066
// section 3).
func (c *content) add(pair *tls.Certificate) {
	if c.first == nil {
		c.first = pair
	}
	c.leaves = append(c.leaves, pair.Leaf)
	for _, name := range pair.Leaf.DNSNames {
		byName := c.exact
		name = strings.ToLower(name)
		if parent, ok := strings.CutPrefix(name, "*."); ok {
			byName, name = c.wildcard, parent
		}
		if byName[name] == nil {
			byName[name] = pair
		}
	}
}

// certificate answers a ClientHello: the certificate with the very name, then one whose "*" is the first label
// (RFC 9525 section 6.3), then the first.
func (c *content) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := strings.ToLower(hello.ServerName)
	if found := c.exact[name]; found != nil {
		return found, nil
	}
	if _, parent, ok := strings.Cut(name, "."); ok {
		if found := c.wildcard[parent]; found != nil {
			return found, nil
		}
	}
	return c.first, nil
}

// certificates reads a file of PEM certificates. A block that is none is refused: of a list of CAs, no part
// may get lost unnoticed.
func certificates(text []byte) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	err := blocks(text, "CERTIFICATE", func(der []byte) error {
		cert, err := x509.ParseCertificate(der)
		all = append(all, cert)
		return err
	})
	if err == nil && len(all) == 0 {
		err = errors.New("there is no certificate in it")
	}
	return all, err
}

// blocks calls f with each PEM block of a text, which are all of one kind. What stands between them is
// commentary (RFC 7468 section 5.2).
func blocks(text []byte, kind string, f func(der []byte) error) error {
	for n := 1; ; n++ {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		if block.Type != kind {
			return fmt.Errorf("block %d is a %s", n, block.Type)
		}
		if err := f(block.Bytes); err != nil {
			return fmt.Errorf("block %d: %w", n, err)
		}
		text = rest
	}
	if bytes.Contains(text, []byte("-----BEGIN")) {
		return errors.New("a PEM block cannot be read")
	}
	return nil
}
