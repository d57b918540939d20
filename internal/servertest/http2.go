package servertest

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"testing"
)

// HTTP2 is a client of HTTP/2 over one connection to address: with TLS where t is set, else by prior knowledge.
// It ends with the test.
func HTTP2(t testing.TB, address string, config *tls.Config) *http.Client {
	t.Helper()
	var speak http.Protocols
	speak.SetHTTP2(config != nil)
	speak.SetUnencryptedHTTP2(config == nil)
	transport := &http.Transport{
		Protocols:          &speak,
		DisableCompression: true,
		TLSClientConfig:    config,
		MaxConnsPerHost:    1,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, address)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
