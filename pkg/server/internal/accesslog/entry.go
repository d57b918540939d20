// Package accesslog writes one line for each request, with fixed fields in a fixed order, as JSON or
// as text (docs/logging-metrics.md#access-log).
//
// Two promises shape it. Traffic never waits for the log: [Log.Write] formats into memory and returns,
// a single goroutine does the I/O, and when the output stands still lines are dropped and counted.
// And no client can forge a line: whatever bytes a request carries, its entry is exactly one line that
// parses back to those bytes.
package accesslog

import (
	"net/netip"
	"time"
)

// Entry is one request. An empty text is written as "-". The byte slices are read during
// [Log.Write] only, so the caller may reuse them afterwards.
type Entry struct {
	// Time the request began.
	Time     time.Time
	Listener string
	// ClientIP is zero for a client without an address (a unix socket).
	ClientIP netip.Addr
	Method   []byte
	Host     []byte
	// Path as received, query included.
	Path     []byte
	Protocol string
	Status   int
	// BytesIn and BytesOut are body bytes.
	BytesIn  int64
	BytesOut int64
	// Duration from the first byte of the request to the last one of the answer.
	Duration    time.Duration
	Tenant      string
	Application string
	Pool        string
	// Member whose answer the client got; the last one tried when all attempts failed.
	Member string
	// Attempts is how many members were tried, 0 without a pool.
	Attempts int
	// Upstream is the time to the response head, retries included. Negative: no head came, which JSON
	// shows as 0 (a number stays a number) and text as "-".
	Upstream  time.Duration
	RequestID []byte
	UserAgent []byte
}
