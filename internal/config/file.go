package config

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"path/filepath"

	"github.com/scalws/scalws/internal/strict"
)

// Bounds of an affinity key in bytes.
const (
	minAffinityKey = 16
	maxAffinityKey = 4096
)

// namedFile reads the name of a file, relative to the folder of the configuration.
func namedFile(to *string) strict.Kind {
	form := strict.Text()
	form.Bound = "a path, relative to this file"
	k := strict.Scalar(to, form)
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

// checkKeyPair reads a certificate and its key.
func (d checker) checkKeyPair(certPath, certFile, keyPath, keyFile string) {
	cert, certOK := d.content(certPath, certFile)
	key, keyOK := d.content(keyPath, keyFile)
	if !certOK || !keyOK {
		return
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		wrong := certPath
		if notCertificates(cert) == "" {
			wrong = keyPath // it is no key, or that of another certificate
		}
		d.FailValue(d.Place(wrong), &strict.Fault{Code: codeInvalidCertificate, Message: err.Error(),
			Hint: "cert_file and key_file are PEM and belong together"})
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
