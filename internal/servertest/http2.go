package servertest

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"testing"

	"golang.org/x/net/http2"
)

// HTTP2 is a client of HTTP/2 over one connection to address: with TLS where t is set, else by prior knowledge.
// It ends with the test.
func HTTP2(t testing.TB, address string, config *tls.Config) *http.Client {
	t.Helper()
	transport := &http2.Transport{AllowHTTP: true, DisableCompression: true, TLSClientConfig: config}
	transport.DialTLSContext = func(ctx context.Context, network, _ string, c *tls.Config) (net.Conn, error) {
		if config == nil {
			var d net.Dialer
			return d.DialContext(ctx, network, address)
		}
		d := tls.Dialer{Config: c}
		return d.DialContext(ctx, network, address)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
