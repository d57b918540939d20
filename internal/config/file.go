package config

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/scalws/scalws/internal/strict"
)

// Bounds of an affinity key in bytes.
const (
	minAffinityKey = 16
	maxAffinityKey = 4096
)

// fileName takes the name of a file.
func fileName(bound string) strict.Form[string] {
	schema := strict.Shown{{Key: "type", Value: "string"}, {Key: "minLength", Value: 1}, {Key: "maxLength", Value: maxFilePath}}
	return strict.Form[string]{Wants: "a text", Bound: bound, Schema: schema, Parse: func(text string) (string, *strict.Fault) {
		switch {
		case text == "":
			return "", &strict.Fault{Code: strict.CodeInvalidText, Message: "must not be empty"}
		case len(text) > maxFilePath:
			return "", strict.OutOfRange("1", fmt.Sprintf("%d bytes", maxFilePath))
		case strings.ContainsFunc(text, unicode.IsControl):
			return "", &strict.Fault{Code: strict.CodeInvalidText, Message: "must not hold control characters"}
		}
		return text, nil
	}}
}

// namedFile reads the name of a file, relative to the folder of the configuration.
func namedFile(to *string) strict.Kind {
	k := strict.Scalar(to, fileName("a path, relative to this file"))
	read := k.Read
	k.Read = func(d *strict.Decoder, v strict.Value) {
		read(d, v)
		if *to != "" && !filepath.IsAbs(*to) {
			*to = filepath.Join(filepath.Dir(d.File), *to)
		}
	}
	return k
}

// content reads a file that the value at path names.
func (d checker) content(path, file string) ([]byte, bool) {
	if !d.Given(path) || !d.Sound(path) {
		return nil, false
	}
	text, f := readFile(file, maxNamed)
	if f != nil {
		d.FailValue(d.Place(path), f)
		return nil, false
	}
	return text, true
}

// checkCA reads a file of CA certificates.
func (d checker) checkCA(path, file string) {
	text, ok := d.content(path, file)
	if !ok {
		return
	}
	if why := notCertificates(text); why != "" {
		d.FailValue(d.Place(path), &strict.Fault{Code: codeInvalidCertificate,
			Message: file + ": " + why, Hint: "the file holds one PEM certificate or more"})
	}
}

// notCertificates says why a text is not a list of PEM certificates. Text between the blocks is
// commentary (RFC 7468 section 5.2).
func notCertificates(text []byte) string {
	count := 0
	for {
		var block *pem.Block
		block, text = pem.Decode(text)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Sprintf("holds a %s block", block.Type)
		}
		count++
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Sprintf("certificate %d: %v", count, err)
		}
	}
	if bytes.Contains(text, []byte("-----BEGIN")) {
		return "holds a PEM block that cannot be read"
	}
	if count == 0 {
		return "holds no certificate"
	}
	return ""
}

// checkPair reads the certificate and the key that the section at path names, if it names any. The leaf is
// nil without a good pair.
func (d checker) checkPair(path string, p KeyPair) (leaf *x509.Certificate) {
	cert, key := strict.Join(path, "cert_file"), strict.Join(path, "key_file")
	if !d.Sound(cert, key) {
		return nil
	}
	switch {
	case d.Given(cert) && d.Given(key):
		return d.checkKeyPair(cert, key, p)
	case d.Given(cert):
		d.Missing(d.Place(path), "key_file", "a certificate needs its key")
	case d.Given(key):
		d.Missing(d.Place(path), "cert_file", "a key needs its certificate")
	}
	return nil
}

func (d checker) checkKeyPair(certPath, keyPath string, p KeyPair) *x509.Certificate {
	cert, certOK := d.content(certPath, p.CertFile)
	key, keyOK := d.content(keyPath, p.KeyFile)
	if !certOK || !keyOK {
		return nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		wrong, file := certPath, p.CertFile
		if notCertificates(cert) == "" {
			wrong, file = keyPath, p.KeyFile // it is no key, or that of another certificate
		}
		d.FailValue(d.Place(wrong), &strict.Fault{Code: codeInvalidCertificate,
			Message: file + ": " + strings.TrimPrefix(err.Error(), "tls: "),
			Hint:    "cert_file and key_file are PEM and belong together"})
		return nil
	}
	d.checkDates(certPath, p.CertFile, pair.Leaf)
	return pair.Leaf
}

// checkDates warns of a certificate that the other side will not accept today. It is no error: it may be
// replaced before it matters, and what was good yesterday must not keep a daemon from starting.
func (d checker) checkDates(path, file string, leaf *x509.Certificate) {
	warn := func(what string, when time.Time, hint string) {
		d.WarnKey(d.Place(path), &strict.Fault{Code: codeCertificateDates,
			Message: fmt.Sprintf("%s: %s %s", file, what, when.UTC().Format(time.RFC3339)), Hint: hint})
	}
	switch {
	case d.now.After(leaf.NotAfter):
		warn("the certificate expired on", leaf.NotAfter, "renew it")
	case d.now.Before(leaf.NotBefore):
		warn("the certificate is not valid before", leaf.NotBefore, "use it later, or set the clock of this machine")
	}
}

// checkAffinityKey reads the secret for affinity cookies.
func (d checker) checkAffinityKey(path, file string) {
	key, ok := d.content(path, file)
	if ok && (len(key) < minAffinityKey || len(key) > maxAffinityKey) {
		d.FailValue(d.Place(path), &strict.Fault{Code: codeInvalidKeyFile,
			Message: fmt.Sprintf("%s must have %d to %d bytes, found %d", file, minAffinityKey, maxAffinityKey, len(key)),
			Hint:    "make one with: head -c 32 /dev/urandom"})
	}
}
