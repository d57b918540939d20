package proxy

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"time"
)

const (
	// mostStreams is how many requests a connection of HTTP/2 may have in flight (RFC 9113 section 5.1.2).
	mostStreams = 250
	// mostFrame is the longest frame that is taken, in bytes (section 6.5.2): with the least that one may announce,
	// 16 KiB, a client that fills its frames has half as much work again with an upload, and so have we.
	mostFrame = 64 << 10
	// streamRoom and connRoom are how much of uploads may wait for members that do not read them, in bytes: of one,
	// and of all on a connection (section 5.2). The difference is what keeps one upload that is stuck from holding up
	// the others.
	streamRoom = 512 << 10
	connRoom   = 4 << 20
	// headSlack is how much longer a head may be for the HTTP/2 library than our own limit, so that it is we who
	// refuse it, with a line in the log.
	headSlack = 2
)

// serveHTTP2 serves a connection of HTTP/2 until it ends. Frames, streams and windows are the library's; each
// request becomes an exchange like any other.
func (c *conn) serveHTTP2() {
	cfg := c.srv.config.Load()
	var speak http.Protocols
	speak.SetHTTP2(c.tls != nil)
	speak.SetUnencryptedHTTP2(c.tls == nil)
	// One http.Server for each connection, because a server is what can be told to finish.
	server := &http.Server{
		Protocols: &speak,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          mostStreams,
			MaxReadFrameSize:              mostFrame,
			MaxReceiveBufferPerStream:     streamRoom,
			MaxReceiveBufferPerConnection: connRoom,
			WriteByteTimeout:              cfg.IdleTimeout,
		},
		IdleTimeout:                  cfg.IdleTimeout,
		MaxHeaderBytes:               headSlack * cfg.Limits.Head,
		ErrorLog:                     log.New(io.Discard, "", 0), // what clients do wrong is theirs
		Handler:                      &streams{c.srv, c.listener, c.terms, c.peer, c.secure},
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is a request like any other
		BaseContext:                  func(net.Listener) context.Context { return c.srv.stop },
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	c.under.ended = make(chan struct{})
	server.Serve(&once{conn: c.nc, addr: c.sock.LocalAddr()}) // begins, and returns
	c.setGoAway(func() { server.Shutdown(over) })             // begins it, and does not wait: Serve has returned
	if c.draining() {
		c.wake()
	}
	<-c.under.ended
	c.setGoAway(nil)
}

func (c *conn) setGoAway(goAway func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.goAway = goAway
}

// once is a listener with one connection.
type once struct {
	conn net.Conn
	addr net.Addr
}

// Accept gives the connection, and then fails for good: the server goes on with what it has.
func (o *once) Accept() (net.Conn, error) {
	if o.conn == nil {
		return nil, net.ErrClosed
	}
	c := o.conn
	o.conn = nil
	return c, nil
}

// Close does nothing.
func (o *once) Close() error { return nil }

// Addr is where the connection came in.
func (o *once) Addr() net.Addr { return o.addr }

// sendAway tells the client of HTTP/2 to send no more requests here. A connection that has just begun, and does
// not know of itself yet, is told once more. The caller holds mu, and must not wait: the library may close connections on
// the way, and a client that reads nothing has its last word wait for room.
func (c *conn) sendAway() {
	goAway := c.goAway
	go func() {
		goAway()
		time.AfterFunc(freshGrace, goAway)
	}()
}

// streams serves the requests of one HTTP/2 connection. It keeps what they need to know of it, because they may
// outlive it by a little.
type streams struct {
	srv      *Server
	listener *Listener
	terms    *Terms
	peer     netip.Addr
	secure   bool
}

// ServeHTTP serves one request.
func (h *streams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Context().Err() != nil || !h.srv.beginStream() { // reset already, or all is over
		panic(http.ErrAbortHandler)
	}
	defer h.srv.endStream()
	c, _ := h.srv.ended.Get().(*conn)
	if c == nil {
		c = makeConn(h.srv)
	}
	c.reset(h.listener, h.terms)
	c.peer, c.secure = h.peer, h.secure
	s := &stream{w: w, r: r, control: http.NewResponseController(w)}
	c.stream, c.nc = s, s
	ended := make(chan struct{})
	forget := context.AfterFunc(r.Context(), func() {
		defer close(ended)
		c.cutMember()
	})
	whole := c.exchangeStream(s)
	s.end()
	if !forget() {
		<-ended // it may not cut what the next owner of c holds
	}
	c.reset(nil, nil)
	h.srv.ended.Put(c)
	if !whole {
		panic(http.ErrAbortHandler) // resets the stream, so that the client can tell (RFC 9113 section 8.1)
	}
}

// exchangeStream runs the exchange of one stream. It is false if the answer is not whole.
func (c *conn) exchangeStream(s *stream) bool {
	buf := c.borrow()
	head, ok := s.appendHead(buf[:0])
	if !ok {
		c.giveBack(buf)
		return false
	}
	c.in = window{buf: head[:cap(head)], w: len(head)}
	c.out = c.borrow()[:0]
	c.x.run()
	c.giveBack(c.out)
	c.out = nil
	c.release()
	return s.headed && !c.x.cutOff && c.x.status != 499
}
