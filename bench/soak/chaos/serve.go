package chaos

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// serve answers the daemon's requests on one connection, each as it is made up for it.
func (c *served) serve() {
	defer c.member.gone(c)
	in := bufio.NewReader(c)
	for {
		if _, err := in.Peek(1); err != nil {
			return
		}
		c.works(true)
		req, err := http.ReadRequest(in)
		if err != nil {
			return // cut off in the middle of its head, or by us
		}
		if !c.take(req) {
			return
		}
		c.works(false)
	}
}

// take does one act, and is true if the connection can carry another request.
func (c *served) take(req *http.Request) bool {
	m := c.member
	a := choose(c.random, m.feels(), req.Method)
	if a.harmful() {
		over := m.trouble.open()
		defer over(closing)
	}
	r := m.stories.receive(req, m, a)
	defer r.end()
	c.has(r)
	if want := req.Method + " " + req.RequestURI; req.Header.Get(fieldLine) != want {
		r.accuse("the request line is %q, the client wrote %q", want, req.Header.Get(fieldLine))
	}
	switch a.fault {
	case closeUnread:
		return false
	case resetUnread:
		c.reset()
		return false
	}
	got := unread
	if !a.early {
		if req.Header.Get("Expect") != "" && !a.silent {
			r.note("sends 100")
			io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		var ok bool
		if got, ok = c.read(req, r); !ok {
			return false
		}
	}
	if !c.answer(req, a, got, r) {
		return false
	}
	if a.early && req.ContentLength != 0 {
		r.note("reads on until the daemon closes")
		c.SetReadDeadline(time.Now().Add(responseTimeout))
		io.Copy(io.Discard, req.Body)
	}
	return !a.leave
}

// read takes the request's body and compares it with what the client has sent.
func (c *served) read(req *http.Request, r *receipt) (checksum string, ok bool) {
	id := req.Header.Get(fieldID)
	var s sum
	n, wrong, err := compare(io.TeeReader(req.Body, &s), question(id), 1<<40)
	if wrong >= 0 {
		r.accuse("byte %d of the request's body is wrong", wrong)
	}
	if err != nil {
		r.note("the body ends after %d bytes: %v", n, err)
		return "", false
	}
	if want := req.Header.Get(fieldSum); s.String() != want {
		r.accuse("the body arrived as if whole with checksum %s, the client sent %s", &s, want)
	}
	if want, got := req.Header.Get(fieldWant), req.Trailer.Get(fieldTrailer); want != got {
		r.accuse("the trailer is %q, the client sent %q", got, want)
	}
	r.whole()
	return s.String(), true
}

// answer acts, and is true if the connection is as it should be after a whole answer.
func (c *served) answer(req *http.Request, a *act, checksum string, r *receipt) bool {
	switch a.fault {
	case closeSilent:
		return false
	case resetSilent:
		c.reset()
		return false
	case hangSilent:
		c.hang(responseTimeout)
		return false
	case speakNonsense:
		io.WriteString(c, pick(c.random, nonsense))
		c.hang(closing) // it is no closed connection that is tried here
		return false
	}
	id := req.Header.Get(fieldID)
	if a.interim != 0 {
		r.interim()
		fmt.Fprintf(c, "HTTP/1.1 %d Wait\r\n%s: %s\r\n%s: %s\r\n\r\n", a.interim, fieldID, id, fieldMember, c.member.address)
	}
	head := a.head(id, c.member.address, checksum)
	if a.fault == breakHead {
		c.Write(head[:c.random.IntN(len(head))])
		if chance(c.random, 0.5) {
			c.reset()
		}
		return false
	}
	r.note("begins its answer")
	if err := c.send(req, a, head, id); err != nil {
		r.note("its answer is cut off: %v", err)
		return false
	}
	switch a.fault {
	case breakBody:
		return false
	case resetBody:
		c.reset()
		return false
	case hangBody:
		c.hang(bodyTimeout)
		return false
	case sayMore, halfClose:
		c.member.surprise() // a request that is already on its way to this connection is lost
	}
	r.answered()
	if t, ok := c.Conn.(*net.TCPConn); ok && a.fault == halfClose {
		t.CloseWrite()
		c.hang(0)
	}
	return a.fault == noFault
}

// nonsense is in place of a head.
var nonsense = []string{
	"\r\n\r\n\x00\x01\x02\x03",
	"hello\r\n\r\n",
	"HTTP/2.0 200 OK\r\n\r\n",
	"HTTP/1.1 20 OK\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nBroken : yes\r\n\r\nhello",
	"HTTP/1.1 101 Switching Protocols\r\nUpgrade: nothing\r\nConnection: upgrade\r\n\r\n",
}

// hang does nothing for longer than d, or until the daemon closes.
func (c *served) hang(d time.Duration) {
	c.SetReadDeadline(time.Now().Add(d + time.Second))
	io.Copy(io.Discard, c)
}

// head is the head of the answer.
func (a *act) head(id, address, checksum string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	for _, f := range [][2]string{{fieldID, id}, {fieldMember, address}, {fieldSum, checksum}, {fieldSize, fmt.Sprint(a.size)}} {
		fmt.Fprintf(&b, "%s: %s\r\n", f[0], f[1])
	}
	switch {
	case a.status == 204:
	case a.framing == length:
		fmt.Fprintf(&b, "Content-Length: %d\r\n", a.size)
	case a.framing == chunked:
		b.WriteString("Transfer-Encoding: chunked\r\n")
	}
	if a.trailer {
		fmt.Fprintf(&b, "%s: %s\r\n", fieldWant, id)
	}
	if a.leave {
		b.WriteString("Connection: close\r\n")
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// send writes head and body, the latter up to where the act breaks it.
func (c *served) send(req *http.Request, a *act, head []byte, id string) error {
	c.SetWriteDeadline(time.Now().Add(time.Minute))
	w := bufio.NewWriterSize(c, 8<<10)
	w.Write(head)
	if a.drip || chance(c.random, 0.2) {
		w.Flush() // or else head and body come together
	}
	if req.Method == http.MethodHead || a.status == 204 || a.status == 304 {
		return w.Flush()
	}
	size := a.size
	if a.fault.broken() {
		size = a.breakAt
	}
	body := text(reply(id), size)
	for size > 0 {
		piece := min(size, 1+c.random.Int64N(32<<10))
		if a.drip {
			piece = min(size, max(a.size/8, 1))
		}
		if a.framing == chunked {
			fmt.Fprintf(w, "%x\r\n", piece)
		}
		if _, err := io.CopyN(w, body, piece); err != nil {
			return err
		}
		if a.framing == chunked {
			io.WriteString(w, "\r\n")
		}
		size -= piece
		if a.drip {
			if err := w.Flush(); err != nil {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	switch {
	case a.fault.broken():
	case a.framing == chunked && a.trailer:
		fmt.Fprintf(w, "0\r\n%s: %s\r\n\r\n", fieldTrailer, id)
	case a.framing == chunked:
		io.WriteString(w, "0\r\n\r\n")
	}
	if a.fault == sayMore {
		io.WriteString(w, "and more")
	}
	return w.Flush()
}
