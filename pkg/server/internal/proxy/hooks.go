package proxy

import (
	"net/netip"
	"time"
)

// Record is one finished request, as the access log wants it. Its slices are the connection's buffers:
// they are valid only during the call that gets it.
type Record struct {
	Time     time.Time
	Listener string
	// ClientIP is the address after trusted_proxies; not valid for a client over a unix socket.
	ClientIP netip.Addr
	// Method, Host, Path (as received, with query), RequestID and UserAgent are empty where there is none.
	Method   []byte
	Host     []byte
	Path     []byte
	Protocol string
	Status   int
	BytesIn  int64
	BytesOut int64
	Duration time.Duration
	Tenant   string
	// Application, Pool and Member are empty where the request got no further.
	Application string
	Pool        string
	Member      string
	// Attempts are the members tried.
	Attempts int
	// Upstream is the time from the start of the request to the response head of the last attempt, negative
	// without one.
	Upstream  time.Duration
	RequestID []byte
	UserAgent []byte
}

// Hooks are what the data plane tells its owner. A nil hook is not called.
type Hooks struct {
	// Log gets every request when it is finished, and space to work in, which it returns, perhaps grown. It must not block
	// and must not keep the record.
	Log func(r *Record, space []byte) []byte
}
