package proxy

import (
	"cmp"
	"io"
	"time"

	"github.com/scalws/scalws/pkg/lb"
	"github.com/scalws/scalws/pkg/server/internal/http1"
	"github.com/scalws/scalws/pkg/server/internal/loop"
)

// upgraded is true if a 101 is an answer to what was asked (RFC 9110 section 15.2.2).
func (x *exchange) upgraded() bool { return len(x.req.Upgrade) > 0 && len(x.resp.Upgrade) > 0 }

// passUpgrade passes the 101 on and carries bytes both ways until both sides have ended. The request stops
// being in flight once the handshake is done, unless the pool counts tunnels.
func (x *exchange) passUpgrade(lease *lb.Lease) {
	x.began = true
	x.keep = false
	out := http1.AppendStatusLine(x.c.out[:0], 101, x.resp.Reason)
	for i := range x.resp.Fields {
		if f := &x.resp.Fields[i]; !f.Hop && f.Known != http1.FieldContentLength && !x.hides(f.Name) {
			out = http1.AppendField(out, f.Name, f.Value)
		}
	}
	out = http1.AppendField(out, []byte("Upgrade"), x.resp.Upgrade)
	out = append(out, "Connection: Upgrade\r\n"...)
	out = x.appendAffinity(out, lease)
	out = append(out, "\r\n"...)
	x.c.out = append(out, x.wire.in.bytes()...)
	x.out += int64(len(x.wire.in.bytes()))

	if !x.pool.settings.CountTunnels {
		lease.Done(time.Now(), lb.Success())
	}
	if x.c.send(x.c.out) == nil {
		x.carryTunnel()
	} else {
		x.status = 499
	}
	x.wire.drop(x)
	x.now = time.Now()
	lease.Done(x.now, lb.Success()) // does nothing where it was done above
}

// carryTunnel copies both ways. The end of one direction is passed on and leaves the other one open.
func (x *exchange) carryTunnel() {
	c, m := x.c, x.wire.conn
	if c.tls != nil {
		c.under.patient = nil // there is no idle limit any more
	}
	c.nc.SetDeadline(time.Time{})
	m.SetDeadline(time.Time{})
	early := c.in.bytes()
	c.in.use(len(early))
	x.wire.release(x)
	c.giveBack(c.out)
	c.out = nil
	var plain *loop.Socket
	if c.tls == nil {
		plain = c.sock
	}
	up := make(chan int64, 1)
	go func() {
		n, err := m.Write(early)
		up <- int64(n) + c.carryBytes(m, c.nc, plain, err)
	}()
	x.out += c.carryBytes(c.nc, m, m.Plain(), nil)
	x.up.received += <-up
}

// carryBytes copies until the sender ends, then ends that direction at the receiver. A receiver that is gone
// ends the sender too. Where the sender is a socket, plain, there is no buffer while it is silent.
func (c *conn) carryBytes(to io.Writer, from io.Reader, plain *loop.Socket, err error) int64 {
	var n int64
	for err == nil {
		if plain != nil {
			plain.Wait() // what ends it, ends the read
		}
		buf := c.borrow()
		var got, sent int
		if got, err = from.Read(buf); got > 0 {
			var failed error
			sent, failed = to.Write(buf[:got])
			err = cmp.Or(failed, err)
		}
		c.giveBack(buf)
		n += int64(sent)
	}
	if err == io.EOF {
		err = nil
	}
	if w, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		err = w.CloseWrite()
	}
	if err != nil {
		closeBoth(to, from)
	}
	return n
}

func closeBoth(to io.Writer, from io.Reader) {
	for _, end := range []any{to, from} {
		if c, ok := end.(io.Closer); ok {
			c.Close()
		}
	}
}
