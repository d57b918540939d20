package proxy

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/netip"
	"time"

	"golang.org/x/net/http2"
)

const (
	// mostStreams is how many requests a connection of HTTP/2 may have in flight (RFC 9113 section 5.1.2).
	mostStreams = 250
	// mostFrame is the longest frame that is taken, the least that one may announce (section 6.5.2).
	mostFrame = 16 << 10
	// headSlack is how much longer a head may be for the HTTP/2 library than our own limit, so that it is we who
	// refuse it, with a line in the log.
	headSlack = 2
)

// serveHTTP2 serves a connection of HTTP/2 until it ends. Frames, streams and windows are the library's; each
// request becomes an exchange like any other.
func (c *conn) serveHTTP2() {
	cfg := c.srv.config.Load()
	// One http.Server for each connection, because it is what a single connection can be told to finish by.
	base := &http.Server{
		MaxHeaderBytes: headSlack * cfg.Limits.Head,
		ErrorLog:       log.New(io.Discard, "", 0), // what clients do wrong is theirs
		Handler:        &streams{c.srv, c.listener, c.terms, c.peer, c.secure},
	}
	h2 := &http2.Server{
		MaxConcurrentStreams: mostStreams,
		MaxReadFrameSize:     mostFrame,
		IdleTimeout:          cfg.IdleTimeout,
		WriteByteTimeout:     cfg.IdleTimeout,
	}
	if http2.ConfigureServer(base, h2) != nil {
		return
	}
	c.mu.Lock()
	c.goAway = func() { base.Shutdown(context.Background()) } // does not wait: it knows of no connection
	c.mu.Unlock()
	if c.draining() {
		c.wake()
	}
	h2.ServeConn(c.nc, &http2.ServeConnOpts{
		Context:          c.srv.stop,
		BaseConfig:       base,
		SawClientPreface: c.tls == nil,
	})
	c.mu.Lock()
	c.goAway = nil
	c.mu.Unlock()
}

// sendAway tells the client of HTTP/2 to send no more requests here. A connection that has just begun, and does
// not know of itself yet, is told once more. The caller holds mu.
func (c *conn) sendAway() {
	goAway := c.goAway
	goAway()
	time.AfterFunc(freshGrace, goAway)
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
	if !h.srv.beginStream() {
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
	buf := c.srv.buffers.get()
	head, ok := s.appendHead(buf[:0])
	if !ok {
		c.srv.buffers.put(buf)
		return false
	}
	c.in = window{buf: head[:cap(head)], w: len(head)}
	c.out = c.srv.buffers.get()[:0]
	c.x.run()
	c.srv.buffers.put(c.out)
	c.out = nil
	c.release()
	return s.headed && !c.x.cutOff && c.x.status != 499
}
