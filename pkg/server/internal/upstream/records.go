package upstream

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"os"

	"github.com/scalws/scalws/pkg/server/internal/loop"
)

// recordHead is the size of a TLS record's head: type, version and length (RFC 8446 section 5.1).
const recordHead = 5

// records is the socket under a TLS connection. It can be told not to wait, and it knows whether what was read
// ends where a record ends.
//
// A look at the socket alone would not do. What is readable there may be nothing but session tickets, which a
// member can send at any time after the handshake, and what nobody asked for may have been read together with
// the answer before it and lie in the TLS layer already.
type records struct {
	net.Conn
	socket *loop.Socket // the same; nil during the handshake

	head [recordHead]byte // of the record that is coming
	have int              // how much of that head is there
	left int              // bytes of the record still to come

	looking bool // a read takes what is there
	one     [1]byte
}

// Read is called by the TLS layer.
func (r *records) Read(p []byte) (int, error) {
	read := r.Conn.Read
	if r.looking {
		read = r.readNow
	}
	n, err := read(p)
	r.follow(p[:n])
	return n, err
}

// readNow reads what is there. While there is nothing, which the loop may know without a look, it is a timeout, which
// leaves the TLS layer as it was. It goes past the deadline that the last request has left on the connection.
func (r *records) readNow(p []byte) (int, error) {
	if r.socket == nil {
		return 0, net.ErrClosed
	}
	if r.socket.Quiet() {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := r.socket.ReadNow(p)
	if err == loop.ErrWait {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

// follow counts records in what was read.
func (r *records) follow(p []byte) {
	for len(p) > 0 {
		if r.left > 0 {
			n := min(r.left, len(p))
			r.left -= n
			p = p[n:]
			continue
		}
		n := copy(r.head[r.have:], p)
		r.have += n
		p = p[n:]
		if r.have == recordHead {
			r.left = int(binary.BigEndian.Uint16(r.head[3:]))
			r.have = 0
		}
	}
}

// quiet is true if the member has neither ended its stream nor begun to send anything for the owner of the
// connection. Session tickets and key updates (RFC 8446 section 4.6) are taken in on the way.
func (r *records) quiet(c *tls.Conn) bool {
	r.looking = true
	n, err := c.Read(r.one[:])
	r.looking = false
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && r.have == 0 && r.left == 0
}
