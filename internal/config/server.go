package config

import (
	"strings"
	"time"
)

// Bounds of lists.
const (
	maxListeners = 64
	maxNetworks  = 1000
)

// maxBody is the largest bound of a body in bytes.
const maxBody = 1 << 40

// Longest durations.
const (
	day = 24 * time.Hour
	// maxCookieAge is what browsers cut longer lives to (RFC 6265bis section 5.5).
	maxCookieAge = 400 * day
)

// serverFields are the keys of server.
func serverFields(s *Server) []field {
	return []field{
		{name: "listeners", need: true, kind: list(&s.Listeners, 1, maxListeners, func(l *Listener) kind {
			return section(listenerFields(l))
		}), meaning: "The sockets that clients connect to."},
		{name: "trusted_proxies", otherwise: "none", kind: list(&s.TrustedProxies, 0, maxNetworks, scalarOf(prefix())),
			meaning: "Peers whose X-Forwarded-* fields are believed."},
		{name: "max_body", def: "16MiB", kind: scalar(&s.MaxBody, size(0, maxBody)),
			meaning: "Longest body of a request, above it 413; 0 is no limit. The one of a route or an application wins."},
		{name: "max_header", def: "32KiB", kind: scalar(&s.MaxHeader, smallSize(1<<10, 1<<20)),
			meaning: "Longest head of a request, above it 431."},
		{name: "max_headers", def: "128", kind: scalar(&s.MaxHeaders, whole(1, 1000)),
			meaning: "Most fields in the head of a request, above it 431."},
		{name: "max_uri", def: "8KiB", kind: scalar(&s.MaxURI, smallSize(64, 64<<10)),
			meaning: "Longest target in a request line, above it 414."},
		{name: "header_timeout", def: "10s", kind: scalar(&s.HeaderTimeout, duration(time.Millisecond, time.Hour)),
			meaning: "How long the head of a request may take, above it 408."},
		{name: "body_read_timeout", def: "30s", kind: scalar(&s.BodyReadTimeout, duration(time.Millisecond, day)),
			meaning: "Longest gap in an upload, above it 408."},
		{name: "idle_timeout", def: "75s", kind: scalar(&s.IdleTimeout, duration(time.Millisecond, day)),
			meaning: "How long a connection of a client may wait between requests."},
		{name: "shutdown_timeout", def: "30s", kind: scalar(&s.ShutdownTimeout, duration(0, time.Hour)),
			meaning: "How long requests in flight may take when the daemon stops; 0 waits for none."},
		{name: "upstream_client", kind: section(clientFields(&s.UpstreamClient, true)),
			meaning: "How members are talked to."},
	}
}

func listenerFields(l *Listener) []field {
	return []field{
		{name: "name", need: true, kind: scalar(&l.Name, name()),
			meaning: "What logs call it; unique."},
		{name: "address", need: true, kind: scalar(&l.Address, listenAddress(true)),
			meaning: "Where it listens; unique. Port 0 takes a free one."},
	}
}

// clientFields are the keys of server.upstream_client, with their defaults, and of a runtime's client,
// whose defaults are the values of the former.
func clientFields(c *Client, defaults bool) []field {
	fields := []field{
		{name: "connect_timeout", def: "5s", kind: scalar(&c.ConnectTimeout, duration(0, time.Hour)),
			meaning: "How long resolving, connecting and TLS may take together; 0 is no limit."},
		{name: "response_timeout", def: "60s", kind: scalar(&c.ResponseTimeout, duration(0, day)),
			meaning: "How long the head of an answer may take; 0 is no limit."},
		{name: "body_timeout", def: "5m", kind: scalar(&c.BodyTimeout, duration(0, day)),
			meaning: "Longest gap in the body of an answer; 0 is no limit."},
		{name: "idle_timeout", def: "60s", kind: scalar(&c.IdleTimeout, duration(0, day)),
			meaning: "How long an unused connection is kept; 0 is no limit."},
		{name: "cert_file", otherwise: "none", kind: namedFile(&c.CertFile),
			meaning: "Client certificate for https members, PEM; only with key_file."},
		{name: "key_file", otherwise: "none", kind: namedFile(&c.KeyFile),
			meaning: "Its key, PEM; only with cert_file."},
	}
	if !defaults {
		for i := range fields {
			fields[i].def = ""
			fields[i].otherwise = "server.upstream_client"
		}
	}
	return fields
}

// adminFields are the keys of admin.
func adminFields(a *Admin) []field {
	return []field{
		{name: "socket", kind: section([]field{
			{name: "path", otherwise: "by user", kind: scalar(&a.Socket.Path, socketPath()),
				meaning: "The socket file. Without it: /run/scalws/admin.sock for root, else a folder of the user that runs the daemon."},
			{name: "mode", def: "0660", kind: scalar(&a.Socket.Mode, mode()),
				meaning: "Permissions of the socket file, octal. Others get none."},
			{name: "group", otherwise: "the process's", kind: scalar(&a.Socket.Group, freeText()),
				meaning: "Group that owns the socket file."},
		}), meaning: "The unix socket of the admin API."},
	}
}

// metricsFields are the keys of metrics.
func metricsFields(m *Metrics) []field {
	return []field{
		{name: "address", otherwise: "no listener", kind: scalar(&m.Address, listenAddress(false)),
			meaning: "Where /metrics, /healthz and /readyz are answered."},
	}
}

// accessLogFields are the keys of access_log.
func accessLogFields(a *AccessLog) []field {
	return []field{
		{name: "output", def: "stdout", kind: scalar(&a.Output, filePath("stdout", "stderr", "off")),
			meaning: "Where the lines go; off writes none."},
		{name: "format", def: "json", kind: scalar(&a.Format, choice(texts("json", "text")...)),
			meaning: "How a line looks."},
	}
}

// checkServer holds the sections that face clients and operators against each other.
func (d *decoder) checkServer(c *Config) {
	names := make(map[string]string)
	addresses := make(map[string]string)
	for i, l := range c.Server.Listeners {
		at := index("server.listeners", i)
		d.unique(names, l.Name, join(at, "name"), codeDuplicateName, "")
		if !strings.HasSuffix(l.Address, ":0") {
			d.unique(addresses, l.Address, join(at, "address"), codeDuplicateAddress, "")
		}
	}
	if !strings.HasSuffix(c.Metrics.Address, ":0") {
		d.unique(addresses, c.Metrics.Address, "metrics.address", codeDuplicateAddress, "")
	}
	if path := c.Admin.Socket.Path; path != "" {
		d.unique(addresses, "unix:"+path, "admin.socket.path", codeDuplicateAddress, "")
	}
	d.checkClient("server.upstream_client", c.Server.UpstreamClient)
}

// checkClient reads the client certificate, if one is given at path.
func (d *decoder) checkClient(path string, c Client) {
	cert, key := join(path, "cert_file"), join(path, "key_file")
	if !d.sound(cert, key) {
		return
	}
	switch {
	case d.given(cert) && d.given(key):
		d.checkKeyPair(cert, c.CertFile, key, c.KeyFile)
	case d.given(cert):
		d.missing(d.places[path], "key_file", "a certificate needs its key")
	case d.given(key):
		d.missing(d.places[path], "cert_file", "a key needs its certificate")
	}
}
