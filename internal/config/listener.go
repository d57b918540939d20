package config

import (
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// maxCertificates of a listener.
const maxCertificates = 1000

// listenerFields are the keys of a listener.
func listenerFields(l *Listener) []strict.Field {
	return []strict.Field{
		{Name: "name", Need: true, Kind: strict.Scalar(&l.Name, name()),
			Meaning: "What logs call it; unique."},
		{Name: "address", Need: true, Kind: strict.Scalar(&l.Address, listenAddress(true)),
			Meaning: "Where it listens; unique. Port 0 takes a free one."},
		{Name: "tls", Otherwise: "plain HTTP", Kind: strict.Pointer(&l.TLS, listenerTLS),
			Meaning: "Serves HTTPS. Needs certificates, or cert_file and key_file."},
		{Name: "http2", Otherwise: "true with tls", Kind: strict.Scalar(&l.HTTP2, strict.Truth()),
			Meaning: "Offers HTTP/2 to TLS clients (ALPN); only with tls."},
		{Name: "h2c", Def: "false", Kind: strict.Scalar(&l.H2C, strict.Truth()),
			Meaning: "Serves HTTP/2 without TLS to clients that begin with it (prior knowledge); only without tls."},
		{Name: "proxy_protocol", Def: "false", Kind: strict.Scalar(&l.ProxyProtocol, strict.Truth()),
			Meaning: "Takes the PROXY protocol, version 1 or 2, from server.trusted_proxies, and refuses all other connections."},
		{Name: "reuse_port", Def: "false", Kind: strict.Scalar(&l.ReusePort, strict.Truth()),
			Meaning: "Lets several processes listen on the address (SO_REUSEPORT); not for unix: addresses."},
	}
}

// listenerTLS reads the TLS settings of a listener. cert_file and key_file are the list of that one pair.
func listenerTLS(t *ListenerTLS) strict.Kind {
	var single KeyPair
	k := strict.Section(append([]strict.Field{
		{Name: "certificates", Otherwise: "cert_file and key_file", Kind: strict.List(&t.Certificates, 1, maxCertificates, func(p *KeyPair) strict.Kind {
			return strict.Section(keyPairFields(p, true))
		}), Meaning: "Chosen by the name that the client asks for (SNI); the first one answers where none has it."},
	}, append(keyPairFields(&single, false),
		strict.Field{Name: "client_ca_file", Otherwise: "clients need no certificate", Kind: namedFile(&t.ClientCAFile),
			Meaning: "CA certificates, PEM. Clients must have a certificate of one of them."},
		strict.Field{Name: "min_version", Def: string(TLS12), Kind: strict.Scalar(&t.MinVersion, tlsVersion()),
			Meaning: "Oldest version of TLS that is spoken."})...)).Also(listenerTLSRules()...)
	read := k.Read
	k.Read = func(d *strict.Decoder, v strict.Value) {
		read(d, v)
		if single != (KeyPair{}) && len(t.Certificates) == 0 {
			t.Certificates = []KeyPair{single}
		}
	}
	return k
}

// keyPairFields are the keys of a certificate in a list, where both are needed, and of the one that stands
// in tls itself.
func keyPairFields(p *KeyPair, inList bool) []strict.Field {
	cert := strict.Field{Name: "cert_file", Need: inList, Kind: namedFile(&p.CertFile),
		Meaning: "A certificate and behind it those that lead to its CA, PEM."}
	key := strict.Field{Name: "key_file", Need: inList, Kind: namedFile(&p.KeyFile), Meaning: "Its key, PEM."}
	if !inList {
		cert.Otherwise, key.Otherwise = "certificates", "certificates"
		cert.Meaning = "The certificate where there is one alone; only with key_file."
		key.Meaning = "Its key; only with cert_file."
	}
	return []strict.Field{cert, key}
}

// tlsVersion takes a version with or without quotes: it is what it looks like.
func tlsVersion() strict.Form[TLSVersion] {
	f := strict.Choice(TLS12, TLS13)
	f.Wants, f.Takes = "a version of TLS", strict.AsWritten
	f.Schema = strict.Shown{{Key: "enum", Value: []any{TLS12, TLS13, 1.2, 1.3}}}
	return f
}

// checkListener holds the keys of a listener against each other and against the trusted proxies, and
// completes http2.
func (d checker) checkListener(at string, l *Listener, trusted int) {
	key := func(name string) string { return strict.Join(at, name) }
	tls, http2, h2c := key("tls"), key("http2"), key("h2c")
	withTLS := l.TLS != nil
	if !d.Given(http2) {
		l.HTTP2 = withTLS
	}
	if d.Sound(tls, http2) && l.HTTP2 && !withTLS {
		d.FailKey(d.Place(http2), &strict.Fault{Code: codeHTTP2WithoutTLS, Message: "http2 is only allowed with tls",
			Hint: "without TLS it is h2c: true"})
	}
	if d.Sound(tls, h2c) && l.H2C && withTLS {
		d.FailKey(d.Place(h2c), &strict.Fault{Code: codeH2CWithTLS, Message: "h2c is only allowed without tls",
			Hint: "with tls it is http2, which is on"})
	}
	if reuse := key("reuse_port"); d.Sound(reuse, key("address")) && l.ReusePort && lb.IsUnix(l.Address) {
		d.FailKey(d.Place(reuse), &strict.Fault{Code: codeReusePortUnix, Message: "a unix socket has no port to share",
			Hint: "remove reuse_port"})
	}
	proxied, proxies := key("proxy_protocol"), "server.trusted_proxies"
	if d.Sound(proxied, proxies) && l.ProxyProtocol && trusted == 0 && !lb.IsUnix(l.Address) {
		d.WarnKey(d.Place(proxied), &strict.Fault{Code: codeNoTrustedProxies,
			Message: "without server.trusted_proxies every connection is refused",
			Hint:    "add the networks of the proxies in front to server.trusted_proxies"})
	}
	if withTLS {
		d.checkListenerTLS(tls, l.TLS)
	}
}

// checkListenerTLS reads the files of a listener.
func (d checker) checkListenerTLS(at string, t *ListenerTLS) {
	list, cert, key := strict.Join(at, "certificates"), strict.Join(at, "cert_file"), strict.Join(at, "key_file")
	d.checkCA(strict.Join(at, "client_ca_file"), t.ClientCAFile)
	switch single := d.Given(cert) || d.Given(key); {
	case !d.Sound(at, list):
		return
	case single && d.Given(list):
		one := cert
		if !d.Given(cert) {
			one = key
		}
		d.FailKey(d.later(list, one), &strict.Fault{Code: codeTwoFormsOfCertificate,
			Message: "certificates and cert_file exclude each other", Hint: "move the pair into certificates"})
		return
	case !single && !d.Given(list):
		if d.Sound(cert, key) {
			d.Missing(d.Place(at), "cert_file", "tls needs certificates, or cert_file and key_file")
		}
		return
	case single:
		var pair KeyPair
		if len(t.Certificates) > 0 {
			pair = t.Certificates[0]
		}
		d.checkPair(at, pair)
		return
	}
	first := make(map[string]string)
	for i, pair := range t.Certificates {
		entry := strict.Index(list, i)
		if leaf := d.checkPair(entry, pair); leaf != nil {
			d.checkNames(first, entry, leaf)
		}
	}
}

// checkNames warns of the names for which a certificate is never chosen, because another one of the list
// has them too. One warning tells them all.
func (d checker) checkNames(first map[string]string, entry string, leaf *x509.Certificate) {
	var taken []string
	by := ""
	for _, name := range leaf.DNSNames {
		name = lowerASCII(name)
		switch other, ok := first[name]; {
		case !ok:
			first[name] = entry
		case other != entry:
			taken, by = append(taken, name), other
		}
	}
	if len(taken) == 0 {
		return
	}
	d.WarnKey(d.Place(strict.Join(entry, "cert_file")), &strict.Fault{Code: codeDuplicateCertificate,
		Message: fmt.Sprintf("%s has %s too: the first one wins", by, strict.Shorten(strings.Join(taken, ", "))),
		Hint:    "remove one of the two"})
}
