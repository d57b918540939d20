// Package certs keeps the certificates of a TLS server, and what it needs to know its clients by, as they
// are in files that change while it serves.
//
// A [Source] reads them all or keeps what it has: a server never gets the certificate of one day with the
// key or the revocation list of another. It starts nothing; whoever owns it calls Refresh.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Pair names the PEM files of a certificate, with those that lead to its CA behind it, and of its key.
type Pair struct{ CertFile, KeyFile string }

// Files are what a Source reads.
type Files struct {
	// Pairs, at least one. A client gets the one with the name that it asks for, and otherwise the first.
	Pairs []Pair
	// ClientCAFile has CA certificates, PEM: clients must have a certificate of one of them. Empty asks
	// clients for none.
	ClientCAFile string
	// CRLFile has revocation lists of these CAs, PEM or one in DER. A client whose certificate is on one is
	// not let in. Empty revokes nothing.
	CRLFile string
}

// names of the files, in the order in which they are read.
func (f Files) names() []string {
	var names []string
	for _, p := range f.Pairs {
		names = append(names, p.CertFile, p.KeyFile)
	}
	for _, name := range []string{f.ClientCAFile, f.CRLFile} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Options are the files and how TLS is spoken with them.
type Options struct {
	Files
	// MinVersion is the oldest version, such as tls.VersionTLS12; 0 leaves it to crypto/tls.
	MinVersion uint16
	// NextProtos are offered by ALPN, the preferred one first.
	NextProtos []string
	// RequireClient makes it an error that there is no ClientCAFile, where everybody could come in without.
	RequireClient bool
	// Time is the clock that dates of certificates and revocation lists are held against; nil is time.Now.
	Time func() time.Time
}

// ErrNoClientCA is what New returns where clients must have a certificate and no CA says which.
var ErrNoClientCA = errors.New("clients cannot be verified without a client CA file")

// Source has the certificates that the files had when they were last read without an error. It is safe
// for concurrent use.
type Source struct {
	options Options
	names   []string
	current atomic.Pointer[content]

	mu   sync.Mutex // serialises Refresh
	seen reading    // what current was made of
}

// New reads all files. Errors name the file.
func New(o Options) (*Source, error) {
	if o.ClientCAFile == "" && (o.RequireClient || o.CRLFile != "") {
		return nil, ErrNoClientCA
	}
	if o.Time == nil {
		o.Time = time.Now
	}
	s := &Source{options: o, names: o.names()}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// TLS gives a configuration whose handshakes are made with what is current when they begin.
func (s *Source) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: s.options.MinVersion,
		NextProtos: s.options.NextProtos,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return s.current.Load().config, nil
		},
	}
}

// Refresh looks at the files and reads all of them again if one was touched. It says whether handshakes use
// something else from now on. After an error they use what they used before, and the next Refresh tries
// again. That the revocation list in use has run out is an error as well.
//
// While nothing changes it costs one stat(2) a file.
func (s *Source) Refresh() (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.current.Load()
	touched, err := s.seen.touched(s.names, s.options.Time())
	if err == nil && touched {
		err = s.read()
	}
	if err == nil {
		err = s.current.Load().crl.outdated(s.options.Time())
	}
	return s.current.Load() != before, err
}

// read makes current of what the files have, unless that is what it was made of.
func (s *Source) read() error {
	r, err := readAll(s.names, s.options.Time())
	if err != nil {
		return err
	}
	if s.current.Load() == nil || r.digest != s.seen.digest {
		c, err := newContent(s.options, r.texts)
		if err != nil {
			return err
		}
		s.current.Store(c)
	}
	r.texts = nil // keys are not kept as text
	s.seen = r
	return nil
}

// Certificates are those in use, one for each pair, in order. They are shared: nobody may change them.
func (s *Source) Certificates() []*x509.Certificate { return slices.Clone(s.current.Load().leaves) }

// Admits says whether the client of an established connection would still be let in: its certificate is held
// against the current CAs and revocation lists, which may be newer than the handshake. A connection that
// lives long asks again with each request.
func (s *Source) Admits(cs tls.ConnectionState) error {
	c := s.current.Load()
	if c.clients == nil {
		return nil
	}
	if len(cs.PeerCertificates) == 0 {
		return errors.New("verifying client: it has no certificate")
	}
	between := x509.NewCertPool()
	for _, cert := range cs.PeerCertificates[1:] {
		between.AddCert(cert)
	}
	chains, err := cs.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots:         c.clients,
		Intermediates: between,
		CurrentTime:   s.options.Time(),
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return fmt.Errorf("verifying client: %w", err)
	}
	return c.crl.check(chains)
}
