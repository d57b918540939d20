package certs

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// RevokedError is the verdict on a client whose certificate, or a CA on the way to it, is on a revocation list.
type RevokedError struct {
	// Certificate is the one on the list.
	Certificate *x509.Certificate
}

func (e *RevokedError) Error() string {
	return fmt.Sprintf("the certificate %q with the serial number %s is revoked", e.Certificate.Subject, e.Certificate.SerialNumber)
}

// OutdatedError is a revocation list whose next update is overdue (RFC 5280 section 5.1.2.5): it does not
// tell any more who is revoked.
type OutdatedError struct {
	File string
	// Due is when the next list should have been there.
	Due time.Time
}

func (e *OutdatedError) Error() string {
	return fmt.Sprintf("the revocation list %s ran out on %s", e.File, e.Due.UTC().Format(time.RFC3339))
}

// revocations are the lists of a file. The zero value revokes nothing.
type revocations struct {
	file    string
	due     time.Time // the first one of the lists; zero: never
	revoked map[entry]bool
}

// entry tells certificates apart as lists do: by issuer and serial number.
type entry struct{ issuer, serial string }

func entryOf(issuer []byte, serial *big.Int) entry {
	return entry{string(issuer), string(serial.Bytes())}
}

// newRevocations reads a file of revocation lists. Each must be signed by one of the CAs and be up to date.
func newRevocations(file string, text []byte, cas []*x509.Certificate, now time.Time) (revocations, error) {
	r := revocations{file: file, revoked: map[entry]bool{}}
	lists := 0
	add := func(der []byte) error {
		list, err := x509.ParseRevocationList(der)
		if err != nil {
			return err
		}
		lists++
		return r.add(list, cas)
	}
	var err error
	if bytes.Contains(text, []byte("-----BEGIN")) {
		err = blocks(text, "X509 CRL", add)
	} else {
		err = add(text)
	}
	if err == nil && lists == 0 {
		err = errors.New("there is no list in it")
	}
	if err != nil {
		return revocations{}, fmt.Errorf("reading revocation list %s: %w", file, err)
	}
	return r, r.outdated(now)
}

func (r *revocations) add(list *x509.RevocationList, cas []*x509.Certificate) error {
	if err := signedByOneOf(cas, list); err != nil {
		return err
	}
	// A list with a critical extension that is not understood must not be used (RFC 5280 section 5.2). Those that
	// there are make it a part of a list or a change to one, which would leave certificates out.
	if at := critical(list.Extensions); at != "" {
		return fmt.Errorf("the critical extension %s is not supported: use a complete list", at)
	}
	for _, e := range list.RevokedCertificateEntries {
		if at := critical(e.Extensions); at != "" {
			return fmt.Errorf("serial number %s has the critical extension %s, which is not supported", e.SerialNumber, at)
		}
		r.revoked[entryOf(list.RawIssuer, e.SerialNumber)] = true
	}
	if due := list.NextUpdate; !due.IsZero() && (r.due.IsZero() || due.Before(r.due)) {
		r.due = due
	}
	return nil
}

// signedByOneOf looks for the CA of a list. Several may have its name, while a key is being replaced.
func signedByOneOf(cas []*x509.Certificate, list *x509.RevocationList) error {
	err := fmt.Errorf("its issuer %q is none of the client CAs", list.Issuer)
	for _, ca := range cas {
		if !bytes.Equal(ca.RawSubject, list.RawIssuer) {
			continue
		}
		if err = list.CheckSignatureFrom(ca); err == nil {
			return nil
		}
	}
	return err
}

func critical(extensions []pkix.Extension) string {
	for _, e := range extensions {
		if e.Critical {
			return e.Id.String()
		}
	}
	return ""
}

// outdated is an *OutdatedError if the lists have run out.
func (r revocations) outdated(now time.Time) error {
	if r.due.IsZero() || !now.After(r.due) {
		return nil
	}
	return &OutdatedError{File: r.file, Due: r.due}
}

// check wants one chain on which nothing is revoked.
func (r revocations) check(chains [][]*x509.Certificate) error {
	if len(r.revoked) == 0 {
		return nil
	}
	found := errors.New("verifying client: no chain leads to a CA")
	for _, chain := range chains {
		cert := r.first(chain)
		if cert == nil {
			return nil
		}
		found = &RevokedError{Certificate: cert}
	}
	return found
}

func (r revocations) first(chain []*x509.Certificate) *x509.Certificate {
	for _, cert := range chain {
		if r.revoked[entryOf(cert.RawIssuer, cert.SerialNumber)] {
			return cert
		}
	}
	return nil
}
