package servertest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Conn is a client that writes and reads bytes. Whatever goes wrong that a test did not ask for ends
// the test; reads and writes are bounded. It belongs to the goroutine of the test.
type Conn struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

// Dial connects to "host:port" or "unix:/path". The connection is closed when the test ends.
func Dial(t testing.TB, address string) *Conn {
	t.Helper()
	network := "tcp"
	if path, found := strings.CutPrefix(address, "unix:"); found {
		network, address = "unix", path
	}
	conn, err := net.DialTimeout(network, address, patience)
	if err != nil {
		t.Fatalf("connecting to %s: %v", address, err)
	}
	return NewConn(t, conn)
}

// NewConn is a client on a connection that exists, a TLS one for example.
func NewConn(t testing.TB, conn net.Conn) *Conn {
	t.Cleanup(func() { conn.Close() })
	return &Conn{t: t, conn: conn, in: bufio.NewReaderSize(conn, maxHead)}
}

// Send writes the texts in one write.
func (c *Conn) Send(texts ...string) {
	c.t.Helper()
	if err := c.TrySend(texts...); err != nil {
		c.t.Fatalf("%v", err)
	}
}

// TrySend is Send where the other side may have closed.
func (c *Conn) TrySend(texts ...string) error {
	c.conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c.conn, strings.Join(texts, "")); err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	return nil
}

// Response is what came back.
type Response struct {
	// Head is the status line and the fields as they came, with the empty line.
	Head   string
	Status int
	Proto  string
	Header http.Header
	Body   string
	// Trailer are the fields after a chunked body.
	Trailer http.Header
	// Err is why the body did not end as its framing promised; nil: it did.
	Err error
}

// Fields are the values of a field in Head, in order, with the hop-by-hop ones.
func (r Response) Fields(name string) []string { return fieldValues(r.Head, name) }

// Response reads the next response, interim ones included, to a request with this method.
func (c *Conn) Response(method string) Response {
	c.t.Helper()
	c.conn.SetReadDeadline(time.Now().Add(patience))
	head, err := peekHead(c.in)
	if err != nil {
		c.t.Fatalf("reading the head of a response: %v, after %q", err, head)
	}
	got, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("reading a response: %v: %q", err, head)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		c.t.Fatalf("reading the body of a response: %v, after %d bytes", err, len(body))
	}
	return Response{
		Head:    head,
		Status:  got.StatusCode,
		Proto:   got.Proto,
		Header:  got.Header,
		Body:    string(body),
		Trailer: got.Trailer,
		Err:     err,
	}
}

// Final reads the next response that is not an interim one.
func (c *Conn) Final(method string) Response {
	c.t.Helper()
	for {
		got := c.Response(method)
		if got.Status >= 200 || got.Status == http.StatusSwitchingProtocols {
			return got
		}
	}
}

// Read reads exactly n raw bytes.
func (c *Conn) Read(n int) string {
	c.t.Helper()
	c.conn.SetReadDeadline(time.Now().Add(patience))
	data := make([]byte, n)
	if got, err := io.ReadFull(c.in, data); err != nil {
		c.t.Fatalf("reading %d bytes: %v, after %q", n, err, data[:got])
	}
	return string(data)
}

// Rest reads raw bytes until the other side closes. The error is nil if it closed in good order, and
// the reset otherwise.
func (c *Conn) Rest() (string, error) {
	c.t.Helper()
	c.conn.SetReadDeadline(time.Now().Add(patience))
	data, err := io.ReadAll(c.in)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		c.t.Fatalf("waiting for the connection to be closed: %v, after %q", err, data)
	}
	return string(data), err
}

// CloseWrite ends what the client sends; it can still read.
func (c *Conn) CloseWrite() {
	c.t.Helper()
	if err := halfClose(c.conn); err != nil {
		c.t.Fatalf("half-closing: %v", err)
	}
}

// Close closes the connection.
func (c *Conn) Close() { c.conn.Close() }

// Reset closes the connection with a reset.
func (c *Conn) Reset() { resetConn(c.conn) }
