// Package config turns a YAML text into a checked [Config], or into every problem that it has, each
// with its place, its path and a stable code.
//
// It works in three steps: a strict decode that keeps positions, defaults, and one check. Nothing is
// resolved and nothing is started; files that the text names are read.
package config

import (
	"net/netip"
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

// Config is a whole configuration, defaults filled in and checked.
type Config struct {
	Server Server
	// Upstreams are the pools, sorted by name.
	Upstreams []Upstream
	// Tenants, in the order of the file; what site files bring in is the last one.
	Tenants []Tenant
	// Sites is the pattern of the site files; empty: none.
	Sites     string
	Admin     Admin
	Metrics   Metrics
	AccessLog AccessLog
	// Digest is the SHA-256 of the text, in hex; with site files, of all texts.
	Digest string
}

// Server is what faces clients.
type Server struct {
	// Listeners, at least one, names unique.
	Listeners []Listener
	// TrustedProxies are the peers whose X-Forwarded-* and Forwarded are believed. Empty: nobody's.
	TrustedProxies []netip.Prefix
	// Forwarded is what tells members about the client.
	Forwarded Forwarded
	// MaxBody of a request in bytes; 0 is no limit.
	MaxBody int64
	// MaxHeader bounds a request head in bytes, MaxHeaders its fields, MaxURI its target.
	MaxHeader  int
	MaxHeaders int
	MaxURI     int
	// MaxConnections bounds the connections of clients at once; 0 is what the limit of descriptors allows.
	MaxConnections int
	// HeaderTimeout is how long a head may take, BodyReadTimeout the longest gap in an upload,
	// IdleTimeout the wait between requests.
	HeaderTimeout   time.Duration
	BodyReadTimeout time.Duration
	IdleTimeout     time.Duration
	// ShutdownTimeout bounds the drain.
	ShutdownTimeout time.Duration
	// UpstreamClient is how members are talked to.
	UpstreamClient Client
}

// Listener is a socket that clients connect to.
type Listener struct {
	Name string
	// Address is "ip:port", "[ipv6]:port" or "unix:/path".
	Address string
	// TLS is nil for plain HTTP.
	TLS *ListenerTLS
	// HTTP2 offers HTTP/2 by ALPN; false without TLS.
	HTTP2 bool
	// H2C takes HTTP/2 by prior knowledge; false with TLS.
	H2C bool
	// ProxyProtocol takes a PROXY header from TrustedProxies and refuses all other connections.
	ProxyProtocol bool
	// ReusePort lets several processes listen on Address; false for a unix socket.
	ReusePort bool
}

// ListenerTLS is how a listener speaks TLS.
type ListenerTLS struct {
	// Certificates, at least one, are chosen by SNI; the first answers where none has the name.
	Certificates []KeyPair
	// ClientCAFile makes clients show a certificate of one of its CAs; empty asks for none.
	ClientCAFile string
	// MinVersion is the oldest version that is spoken.
	MinVersion TLSVersion
}

// KeyPair names the files of a certificate and its key.
type KeyPair struct {
	CertFile string
	KeyFile  string
}

// TLSVersion is a version of TLS as it stands in the file.
type TLSVersion string

// The versions of TLS.
const (
	TLS12 TLSVersion = "1.2"
	TLS13 TLSVersion = "1.3"
)

// Forwarded is a way to tell members about the client.
type Forwarded string

// The ways: X-Forwarded-*, the Forwarded field of RFC 7239, and both.
const (
	ForwardedX       Forwarded = "x"
	ForwardedRFC7239 Forwarded = "rfc7239"
	ForwardedBoth    Forwarded = "both"
)

// Client is how a member or a single upstream is talked to. 0 in a duration is no limit.
type Client struct {
	ConnectTimeout  time.Duration
	ResponseTimeout time.Duration
	// BodyTimeout is the longest gap in an answer's body.
	BodyTimeout time.Duration
	// IdleTimeout is how long an unused connection is kept.
	IdleTimeout time.Duration
	// CertFile and KeyFile, both or neither, are the client certificate for https members.
	CertFile string
	KeyFile  string
}

// Upstream is a pool.
type Upstream struct {
	Name    string
	Members []lb.Member
	// FromAPI is true for members_from: api.
	FromAPI  bool
	Settings lb.Settings
	// Keepalive is how many idle connections are kept for each member; 0 keeps none.
	Keepalive int
	// HTTPS is true for scheme: https.
	HTTPS bool
	TLS   UpstreamTLS
	// HashKeyFile is the file with the affinity key; empty: a random key for each process.
	HashKeyFile string
}

// UpstreamTLS is how members of an https pool are verified.
type UpstreamTLS struct {
	// CAFile is trusted in addition to the system's roots; empty: the roots alone.
	CAFile string
	// ServerName is SNI and certificate name; empty: the member's host.
	ServerName string
}

// Tenant groups applications.
type Tenant struct {
	Name         string
	Applications []Application
}

// Application is a set of domains and what answers them.
type Application struct {
	Name string
	// Domains in lower case, international ones in their xn-- form: exact, "*.example.com", or "*".
	Domains []string
	// Runtime answers what no route takes; nil: 404, where a redirect does not.
	Runtime *Runtime
	Routes  []Route
	// MaxBody overrides Server.MaxBody; nil does not.
	MaxBody *int64
	// RateLimit and Quota are for all requests together, but those of routes with one of their own; nil: none.
	RateLimit *RateLimit
	Quota     *Quota
	Policies
}

// Runtime is what answers requests. Of a proxy, exactly one of Address, Pool and Backends is set; of other types all
// that is a proxy's is zero.
type Runtime struct {
	Type RuntimeType
	// Address is the single-address form.
	Address *Address
	// Pool is the name of a pool.
	Pool string
	// Backends split requests by weight.
	Backends []Backend
	// PreserveHost sends the client's Host to the member; false sends the member's address.
	PreserveHost bool
	// ConnectTimeout and ResponseTimeout apply to each attempt. They are filled in from the client that
	// applies (Client for an address, Server.UpstreamClient otherwise).
	ConnectTimeout  time.Duration
	ResponseTimeout time.Duration
	// WebSocket allows upgrades.
	WebSocket bool
	// TLSCAFile is for a single https:// address.
	TLSCAFile string
	// Client is how a single address is talked to, filled in from Server.UpstreamClient where the
	// runtime's client section says nothing.
	Client Client

	// Static is for a static runtime, Answer for one that responds or redirects.
	Static Static
	Answer Answer
}

// RuntimeType is how a runtime answers.
type RuntimeType string

// The types: by a member, with a file, with a fixed answer, and with another place to go to.
const (
	RuntimeProxy    RuntimeType = "proxy"
	RuntimeStatic   RuntimeType = "static"
	RuntimeRespond  RuntimeType = "respond"
	RuntimeRedirect RuntimeType = "redirect"
)

// Static is where files are.
type Static struct {
	// Root is the folder.
	Root string
	// Index is the name of the file that answers for a folder.
	Index string
}

// Answer is one that is always the same.
type Answer struct {
	Status int
	// Body and ContentType are those of a response.
	Body        string
	ContentType string
	// To is where a redirect leads.
	To string
}

// Address is a single upstream: "http://host:port", "https://host:port" or "unix:/path".
type Address struct {
	// Member is the address in the form of a member (lb.ParseAddress).
	Member string
	HTTPS  bool
}

// String is the address as the file has it.
func (a Address) String() string {
	switch {
	case lb.IsUnix(a.Member):
		return a.Member
	case a.HTTPS:
		return "https://" + a.Member
	default:
		return "http://" + a.Member
	}
}

// Backend is one entry of a weighted split: a pool or a status.
type Backend struct {
	// Pool is empty for a status entry.
	Pool string
	// Status is 500 to 599, or 0 for a pool entry.
	Status int
	// Weight is 0 to 1000; 0 sends nothing.
	Weight int
}

// Metrics is the metrics listener, and what is shown there and by the admin API.
type Metrics struct {
	// Address is empty for no listener.
	Address string
	// PerMember shows the series with a member label.
	PerMember bool
}

// AccessLog is where request lines go.
type AccessLog struct {
	// Output is "stdout", "stderr", "off" or a path.
	Output string
	// Format is "json" or "text".
	Format string
}
