package server_test

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// A pool reads its CA file when it is built, and again only when its settings change: a reload with an unchanged
// pool keeps what it has read. Another client certificate rebuilds https pools, and no others.
func TestReloadAndTLSToMembers(t *testing.T) {
	authority, other := servertest.NewAuthority(t), servertest.NewAuthority(t)
	m := servertest.NewTLSMember(t, &tls.Config{Certificates: []tls.Certificate{authority.Issue("127.0.0.1")}})
	dir := t.TempDir()
	ca := servertest.Replace(t, filepath.Join(dir, "ca.pem"), authority.PEM())
	setup := servertest.Setup{Members: []string{m.Address()}, Pool: []string{"scheme: https", fmt.Sprintf("tls: {ca_file: %q}", ca), "keepalive: 0"}}
	d := servertest.Start(t, setup)
	servertest.Replace(t, ca, other.PEM())
	for _, step := range []struct {
		name   string
		change func()
		status int
		plan   api.PoolPlan
	}{
		{"the file alone has changed", func() {}, 200, api.PoolPlan{Name: "p", Action: "kept"}},
		{"a setting has changed", func() { setup.Pool = append(setup.Pool, "retries: 0") }, 502,
			api.PoolPlan{Name: "p", Action: "rebuilt", Because: []string{"retries"}}},
		{"the file has another name", func() {
			ca = servertest.Replace(t, filepath.Join(dir, "right.pem"), authority.PEM())
			setup.Pool[1] = fmt.Sprintf("tls: {ca_file: %q}", ca)
		}, 200, api.PoolPlan{Name: "p", Action: "rebuilt", Because: []string{"tls.ca_file"}}},
		{"a client certificate", func() {
			cert, key := servertest.WriteCertificate(t, dir, "client", authority.Issue("client"))
			setup.Server = []string{fmt.Sprintf("upstream_client: {cert_file: %q, key_file: %q}", cert, key)}
		}, 200, api.PoolPlan{Name: "p", Action: "rebuilt", Because: []string{"upstream_client.cert_file", "upstream_client.key_file"}}},
	} {
		step.change()
		if diff := cmp.Diff(step.plan, planOf(t, d.Change(setup))); diff != "" {
			t.Errorf("%s: plan (-want +got):\n%s", step.name, diff)
		}
		if r := d.Get("/"); r.Status != step.status {
			t.Errorf("%s: got %d, want %d", step.name, r.Status, step.status)
		}
	}
}
