package servertest

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"net"
	"net/textproto"
	"strings"
)

// maxHead is the largest head that a member or a client reads.
const maxHead = 256 << 10

// link is a connection of a member.
type link struct {
	net.Conn
	number int
	in     *bufio.Reader

	// Guarded by the member's mu.
	idle    bool // between requests
	leaving bool // to be closed when idle
}

// reset closes with a reset, where the transport has one.
func (c *link) reset() { resetConn(c.Conn) }

func resetConn(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// halfClose ends what we send; reading goes on.
func halfClose(conn net.Conn) error {
	return conn.(interface{ CloseWrite() error }).CloseWrite()
}

// peekHead returns the bytes up to and with the next empty line, without consuming them. With an error
// it returns what was there of them.
func peekHead(in *bufio.Reader) (string, error) {
	for {
		seen, _ := in.Peek(in.Buffered())
		if end := bytes.Index(seen, []byte("\r\n\r\n")); end >= 0 {
			return string(seen[:end+4]), nil
		}
		if _, err := in.Peek(len(seen) + 1); err != nil {
			seen, _ = in.Peek(in.Buffered())
			return string(seen), err
		}
	}
}

// fieldValues are the values of a field in a raw head, in the order of its lines. net/http takes some
// fields out of its Header (Host, Transfer-Encoding, Trailer); here nothing is missing.
func fieldValues(head, name string) []string {
	name = textproto.CanonicalMIMEHeaderKey(name)
	var values []string
	lines := strings.Split(head, "\r\n")
	for _, line := range lines[1:] {
		key, value, found := strings.Cut(line, ":")
		if found && textproto.CanonicalMIMEHeaderKey(key) == name {
			values = append(values, strings.Trim(value, " \t"))
		}
	}
	return values
}
