package config

import (
	"strings"
	"time"

	"github.com/scalws/scalws/internal/strict"
)

// Bounds of lists.
const (
	maxListeners = 64
	maxNetworks  = 1000
)

// maxConnections is the largest bound of connections.
const maxConnections = 10_000_000

// maxBody is the largest bound of a body in bytes.
const maxBody = 1 << 40

// Longest durations.
const (
	day = 24 * time.Hour
	// maxCookieAge is what browsers cut longer lives to (RFC 6265bis section 5.5).
	maxCookieAge = 400 * day
)

// serverFields are the keys of server.
func serverFields(s *Server) []strict.Field {
	return []strict.Field{
		{Name: "listeners", Need: true, Kind: strict.List(&s.Listeners, 1, maxListeners, func(l *Listener) strict.Kind {
			return strict.Section(listenerFields(l)).Also(listenerRules()...)
		}), Meaning: "The sockets that clients connect to."},
		{Name: "trusted_proxies", Otherwise: "none", Kind: strict.List(&s.TrustedProxies, 0, maxNetworks, strict.ScalarOf(prefix())),
			Meaning: "Peers whose X-Forwarded-* and Forwarded fields are believed."},
		{Name: "forwarded", Def: string(ForwardedX), Kind: strict.Scalar(&s.Forwarded, strict.Choice(ForwardedX, ForwardedRFC7239, ForwardedBoth)),
			Meaning: "What tells members about the client: x is X-Forwarded-*, rfc7239 is Forwarded."},
		{Name: "max_body", Def: "16MiB", Kind: strict.Scalar(&s.MaxBody, strict.Size(0, maxBody)),
			Meaning: "Longest body of a request, above it 413; 0 is no limit. The one of a route or an application wins."},
		{Name: "max_header", Def: "32KiB", Kind: strict.Scalar(&s.MaxHeader, strict.SmallSize(1<<10, 1<<20)),
			Meaning: "Longest head of a request, above it 431."},
		{Name: "max_headers", Def: "128", Kind: strict.Scalar(&s.MaxHeaders, strict.Whole(1, 1000)),
			Meaning: "Most fields in the head of a request, above it 431."},
		{Name: "max_uri", Def: "8KiB", Kind: strict.Scalar(&s.MaxURI, strict.SmallSize(64, 64<<10)),
			Meaning: "Longest target in a request line, above it 414."},
		{Name: "max_connections", Def: "0", Kind: strict.Scalar(&s.MaxConnections, strict.Whole(0, maxConnections)),
			Meaning: "Most connections of clients at once, more wait to be accepted; 0 is what the limit of descriptors allows."},
		{Name: "header_timeout", Def: "10s", Kind: strict.Scalar(&s.HeaderTimeout, strict.Duration(time.Millisecond, time.Hour)),
			Meaning: "How long the head of a request may take, above it 408."},
		{Name: "body_read_timeout", Def: "30s", Kind: strict.Scalar(&s.BodyReadTimeout, strict.Duration(time.Millisecond, day)),
			Meaning: "Longest gap in an upload, above it 408."},
		{Name: "idle_timeout", Def: "75s", Kind: strict.Scalar(&s.IdleTimeout, strict.Duration(time.Millisecond, day)),
			Meaning: "How long a connection of a client may wait between requests."},
		{Name: "shutdown_timeout", Def: "30s", Kind: strict.Scalar(&s.ShutdownTimeout, strict.Duration(0, time.Hour)),
			Meaning: "How long requests in flight may take when the daemon stops; 0 waits for none."},
		{Name: "upstream_client", Kind: strict.Section(clientFields(&s.UpstreamClient, true)).Also(strict.Together("cert_file", "key_file")),
			Meaning: "How members are talked to."},
	}
}

// clientFields are the keys of server.upstream_client, with their defaults, and of a runtime's client,
// whose defaults are the values of the former.
func clientFields(c *Client, defaults bool) []strict.Field {
	fields := []strict.Field{
		{Name: "connect_timeout", Def: "5s", Kind: strict.Scalar(&c.ConnectTimeout, strict.Duration(0, time.Hour)),
			Meaning: "How long resolving, connecting and TLS may take together; 0 is no limit."},
		{Name: "response_timeout", Def: "60s", Kind: strict.Scalar(&c.ResponseTimeout, strict.Duration(0, day)),
			Meaning: "How long the head of an answer may take; 0 is no limit."},
		{Name: "body_timeout", Def: "5m", Kind: strict.Scalar(&c.BodyTimeout, strict.Duration(0, day)),
			Meaning: "Longest gap in the body of an answer; 0 is no limit."},
		{Name: "idle_timeout", Def: "60s", Kind: strict.Scalar(&c.IdleTimeout, strict.Duration(0, day)),
			Meaning: "How long an unused connection is kept; 0 is no limit."},
		{Name: "cert_file", Otherwise: "none", Kind: namedFile(&c.CertFile),
			Meaning: "Client certificate for https members, PEM; only with key_file."},
		{Name: "key_file", Otherwise: "none", Kind: namedFile(&c.KeyFile),
			Meaning: "Its key, PEM; only with cert_file."},
	}
	if !defaults {
		for i := range fields {
			fields[i].Def = ""
			fields[i].Otherwise = "server.upstream_client"
		}
	}
	return fields
}

// metricsFields are the keys of metrics.
func metricsFields(m *Metrics) []strict.Field {
	return []strict.Field{
		{Name: "address", Otherwise: "no listener", Kind: strict.Scalar(&m.Address, listenAddress(false)),
			Meaning: "Where /metrics, /healthz and /readyz are answered."},
		{Name: "per_member", Def: "true", Kind: strict.Scalar(&m.PerMember, strict.Truth()),
			Meaning: "false leaves out the series with a member label, for pools of thousands."},
	}
}

// accessLogFields are the keys of access_log.
func accessLogFields(a *AccessLog) []strict.Field {
	return []strict.Field{
		{Name: "output", Def: "stdout", Kind: strict.Scalar(&a.Output, filePath("stdout", "stderr", "off")),
			Meaning: "Where the lines go; off writes none."},
		{Name: "format", Def: "json", Kind: strict.Scalar(&a.Format, strict.Choice("json", "text")),
			Meaning: "How a line looks."},
	}
}

// checkServer holds the sections that face clients and operators against each other.
func (d checker) checkServer(c *Config) {
	names, addresses := make(claims), make(claims)
	for i := range c.Server.Listeners {
		l := &c.Server.Listeners[i]
		at := strict.Index("server.listeners", i)
		d.unique(names, l.Name, strict.Join(at, "name"), codeDuplicateName, "")
		if !strings.HasSuffix(l.Address, ":0") {
			d.unique(addresses, l.Address, strict.Join(at, "address"), codeDuplicateAddress, "")
		}
		d.checkListener(at, l, len(c.Server.TrustedProxies))
	}
	if !strings.HasSuffix(c.Metrics.Address, ":0") {
		d.unique(addresses, c.Metrics.Address, "metrics.address", codeDuplicateAddress, "")
	}
	if path := c.Admin.Socket.Path; path != "" {
		d.unique(addresses, "unix:"+path, "admin.socket.path", codeDuplicateAddress, "")
	}
	if r := c.Admin.Remote; r != nil && !strings.HasSuffix(r.Address, ":0") {
		d.unique(addresses, r.Address, "admin.remote.address", codeDuplicateAddress, "")
	}
	d.checkClient("server.upstream_client", c.Server.UpstreamClient)
}

// checkClient reads the client certificate, if one is given at path, and looks at the timeouts.
func (d checker) checkClient(path string, c Client) {
	d.checkPair(path, KeyPair{c.CertFile, c.KeyFile})
	d.checkLimits(path, c)
}
