package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
)

// send makes the exchange with the daemon, on a connection of its own. On a socket of the same machine that
// costs next to nothing, over TLS a handshake; a PUT never meets a connection that the daemon has just
// closed, and certificates that were renewed are used at once.
//
// It is a RoundTrip and not an http.Client: a redirect means that this is not the admin API, and nothing
// good would come of following it.
func (c *Client) send(req *http.Request) (*http.Response, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	if c.Server == "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return Dial(ctx, c.Socket)
		}
		return transport.RoundTrip(req)
	}
	origin, err := c.origin()
	if err != nil {
		return nil, err
	}
	config, err := c.tlsConfig()
	if err != nil {
		return nil, err
	}
	req.URL.Scheme, req.URL.Host, req.Host = origin.Scheme, origin.Host, origin.Host
	transport.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, network, address)
		if err != nil {
			return nil, c.unreachable(ctx, err)
		}
		return conn, nil
	}
	resp, err := transport.RoundTrip(req)
	// With TLS 1.3 a client has finished the handshake before the daemon has looked at its certificate
	// (RFC 8446 section 2): the refusal comes as an alert in the place of the answer.
	var alert *net.OpError
	if errors.As(err, &alert) && alert.Op == "remote error" {
		return nil, c.unreachable(req.Context(), alert)
	}
	return resp, err
}

// origin is where the API of a remote daemon is.
func (c *Client) origin() (*url.URL, error) {
	u, err := url.Parse(c.Server)
	switch {
	case c.Socket != "":
		return nil, errors.New("both a socket and a server are given")
	case err != nil:
		return nil, fmt.Errorf("reading the server's address: %w", err)
	case u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("the server's address must have the form https://host:port, not %q", c.Server)
	}
	return u, nil
}

// tlsConfig is TLS, or made from the files. They are read for each call.
func (c *Client) tlsConfig() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS13}
	if c.TLS != nil {
		config = c.TLS.Clone()
	}
	config.NextProtos = []string{"http/1.1"}
	if c.TLS != nil {
		return config, nil
	}
	if c.Cert != "" || c.Key != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, fmt.Errorf("reading the client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if c.CA != "" {
		text, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("reading the CA certificates: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("reading the CA certificates: %s holds none", c.CA)
		}
	}
	return config, nil
}

// unreachable is the error for a daemon at Server that did not take the connection, or the context's.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Unreachable{Server: c.Server, Err: err}
}

// Dial connects to an admin socket. The error, unless the context ended, is an [*Unreachable].
func Dial(ctx context.Context, socket string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err == nil {
		return conn, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, &Unreachable{Socket: socket, Err: err}
}
