package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// tripper sends requests one after the other, as a client does over one connection.
type tripper interface {
	// trip sends a request and reads its answer to the end. It is not more true if the connection cannot carry
	// another request.
	trip(ctx context.Context, s *story) (saw *seen, more bool)
	// lanes is how many requests go at once.
	lanes() int
	close()
}

// errLeft is a client that left as it was meant to.
var errLeft = errors.New("the client left")

// wire is HTTP/1.1 over a socket, written by hand: a client may stop at any byte.
type wire struct {
	conn   net.Conn
	socket *net.TCPConn // below the TLS, or conn itself
	in     *bufio.Reader
	random *rand.Rand
}

// tooLong is when a client gives up: long after all attempts have run into their timeouts.
const tooLong = 45 * time.Second

// overWire sends over conn, which is the socket or TLS on it.
func overWire(conn net.Conn, socket *net.TCPConn, random *rand.Rand) *wire {
	return &wire{conn: conn, socket: socket, in: bufio.NewReader(conn), random: random}
}

func (w *wire) lanes() int { return 1 }
func (w *wire) close()     { w.conn.Close() }

func (w *wire) leave(s *story, how abort) {
	s.journal.add("client", "leaves: %s", how)
	switch how {
	case stopUpload:
	case endUpload:
		w.conn.(interface{ CloseWrite() error }).CloseWrite()
	default:
		w.socket.SetLinger(0)
		w.socket.Close()
	}
}

func (w *wire) trip(ctx context.Context, s *story) (*seen, bool) {
	r := s.request
	saw := &seen{span: span{from: time.Now()}, wrong: -1}
	stop := context.AfterFunc(ctx, func() { w.conn.Close() })
	defer stop()
	w.conn.SetDeadline(time.Now().Add(tooLong))
	s.journal.add("client", "begins on %s", w.conn.LocalAddr())
	goOn, final, sent := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
	go func() { sent <- w.send(s, goOn, final) }()

	closes := w.receive(s, saw, goOn)
	saw.to = time.Now()
	if saw.err != nil {
		s.journal.add("client", "the answer is not whole: %v", saw.err)
	} else {
		s.journal.add("client", "has the whole answer, %d bytes", saw.got)
	}
	close(final)
	if saw.err != nil || closes || r.last || r.leaves != staying {
		w.close()
	}
	err := <-sent
	return saw, err == nil && saw.err == nil && !closes && !r.last && r.leaves == staying
}

// send writes the request. Where the client waits for 100 Continue, goOn or final ends the wait.
func (w *wire) send(s *story, goOn, final <-chan struct{}) error {
	r := s.request
	out := bufio.NewWriterSize(w.conn, 16<<10)
	fmt.Fprintf(out, "%s %s HTTP/1.1\r\nHost: %s\r\n%s: %s\r\n%s: %s\r\n%s: %s %s\r\n%s: %s\r\nUser-Agent: soak\r\n",
		r.method, r.target, r.pool.host(), fieldID, r.id, fieldSum, r.sum, fieldLine, r.method, r.target, fieldKey, r.key)
	if r.cookie != "" {
		fmt.Fprintf(out, "Cookie: other=1; %s=%s\r\n", cookieName, r.cookie)
	}
	if r.trailer {
		fmt.Fprintf(out, "%s: %s\r\n", fieldWant, r.id)
	}
	if r.last {
		io.WriteString(out, "Connection: close\r\n")
	}
	if r.expect {
		io.WriteString(out, "Expect: 100-continue\r\n")
	}
	switch r.framing {
	case noBody:
		io.WriteString(out, "\r\n")
		return out.Flush()
	case length:
		fmt.Fprintf(out, "Content-Length: %d\r\n\r\n", r.size)
	case chunked:
		io.WriteString(out, "Transfer-Encoding: chunked\r\n\r\n")
	}
	if r.expect {
		if err := out.Flush(); err != nil {
			return err
		}
		select {
		case <-goOn:
		case <-final:
			return errors.New("not asked for the body")
		}
	}
	return w.sendBody(s, out, final)
}

func (w *wire) sendBody(s *story, out *bufio.Writer, final <-chan struct{}) error {
	r := s.request
	body, left := text(question(r.id), r.size), r.size
	if r.leaves.uploads() {
		left = r.leaveAt
	}
	for left > 0 {
		piece := min(left, 1+w.random.Int64N(24<<10))
		if r.slowly {
			piece = min(left, r.size/6+1)
		}
		if r.framing == chunked {
			fmt.Fprintf(out, "%x\r\n", piece)
		}
		if _, err := io.CopyN(out, body, piece); err != nil {
			return err
		}
		if r.framing == chunked {
			io.WriteString(out, "\r\n")
		}
		left -= piece
		if r.slowly {
			if err := out.Flush(); err != nil {
				return err
			}
			time.Sleep(15 * time.Millisecond)
		}
	}
	if r.leaves.uploads() {
		err := out.Flush()
		w.leave(s, r.leaves)
		if r.leaves == stopUpload {
			<-final
		}
		return err
	}
	switch {
	case r.framing == chunked && r.trailer:
		fmt.Fprintf(out, "0\r\n%s: %s\r\n\r\n", fieldTrailer, r.id)
	case r.framing == chunked:
		io.WriteString(out, "0\r\n\r\n")
	}
	return out.Flush()
}

// receive reads the answers, the final one to its end. It is true if the daemon closes behind it.
func (w *wire) receive(s *story, saw *seen, goOn chan<- struct{}) (closes bool) {
	r := s.request
	for {
		resp, err := http.ReadResponse(w.in, &http.Request{Method: r.method})
		if err != nil {
			saw.err = err
			return true
		}
		s.journal.add("client", "sees %s from %s", resp.Status, resp.Header.Get(fieldMember))
		if resp.StatusCode < 200 {
			saw.interims = append(saw.interims, resp.Header.Get(fieldMember))
			if resp.StatusCode == http.StatusContinue {
				select {
				case goOn <- struct{}{}:
				default:
				}
			}
			continue
		}
		w.final(s, saw, resp)
		return resp.Close
	}
}

// final reads the final answer.
func (w *wire) final(s *story, saw *seen, resp *http.Response) {
	saw.answered = true
	if s.request.leaves == leaveAnswer {
		w.leave(s, leaveAnswer)
		saw.err = errLeft
		return
	}
	saw.look(s.request, resp)
}

// look takes a final answer and its body; it is the same for every protocol.
func (saw *seen) look(r *request, resp *http.Response) {
	saw.answered, saw.status = true, resp.StatusCode
	saw.id, saw.member, saw.checksum = resp.Header.Get(fieldID), resp.Header.Get(fieldMember), resp.Header.Get(fieldSum)
	for _, c := range resp.Cookies() {
		if c.Name == cookieName {
			saw.cookie = c.Value
		}
	}
	if saw.member == "" {
		said, err := io.ReadAll(resp.Body)
		saw.said, saw.err = string(said), err
		return
	}
	size := resp.Header.Get(fieldSize)
	if _, err := fmt.Sscan(size, &saw.expected); err != nil {
		saw.err = fmt.Errorf("the size in the answer is %q", size)
		return
	}
	if r.method == http.MethodHead || saw.status == http.StatusNoContent || saw.status == http.StatusNotModified {
		saw.expected = 0
	}
	saw.wanted = resp.Header.Get(fieldWant)
	saw.got, saw.wrong, saw.err = compare(resp.Body, reply(r.id), saw.expected)
	saw.trailer = resp.Trailer.Get(fieldTrailer)
}
