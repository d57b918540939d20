package chaos

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync"
	"time"
)

// streams is HTTP/2 over one connection, with several requests at once.
type streams struct {
	conn   *http.ClientConn
	scheme string
	count  int
}

// overStreams begins HTTP/2 on a connection that is there: over TLS where settings are those that it is to have, by
// prior knowledge where they are nil.
func overStreams(ctx context.Context, socket net.Conn, settings *tls.Config, count int) (*streams, error) {
	t := &streams{scheme: "http", count: count}
	var speak http.Protocols
	speak.SetHTTP2(settings != nil)
	speak.SetUnencryptedHTTP2(settings == nil)
	if settings != nil {
		t.scheme = "https"
	}
	transport := &http.Transport{
		Protocols:          &speak,
		DisableCompression: true,
		TLSClientConfig:    settings,
		DialContext:        func(context.Context, string, string) (net.Conn, error) { return socket, nil },
	}
	var err error
	if t.conn, err = transport.NewClientConn(ctx, t.scheme, socket.RemoteAddr().String()); err != nil {
		return nil, fmt.Errorf("beginning HTTP/2: %w", err)
	}
	return t, nil
}

func (t *streams) close()     { t.conn.Close() }
func (t *streams) lanes() int { return t.count }

func (t *streams) trip(ctx context.Context, s *story) (*seen, bool) {
	r := s.request
	saw := &seen{span: span{from: time.Now()}, wrong: -1}
	ctx, leave := context.WithTimeout(ctx, tooLong)
	defer leave()
	final := make(chan struct{})
	defer close(final)
	req, err := r.http2(t.scheme, s, leave, final)
	if err != nil {
		saw.err, saw.to = err, time.Now()
		return saw, false
	}
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		s.journal.add("client", "sees %d from %s", code, h.Get(fieldMember))
		saw.interims = append(saw.interims, h.Get(fieldMember))
		return nil
	}}
	s.journal.add("client", "begins a stream")
	resp, err := t.conn.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, trace)))
	switch {
	case err != nil:
		saw.err = err
	case r.leaves == leaveAnswer:
		s.journal.add("client", "sees %s, and leaves", resp.Status)
		saw.answered, saw.err = true, errLeft
		leave()
		resp.Body.Close()
	default:
		s.journal.add("client", "sees %s from %s", resp.Status, resp.Header.Get(fieldMember))
		saw.look(r, resp)
		resp.Body.Close()
	}
	saw.to = time.Now()
	if saw.err != nil {
		s.journal.add("client", "the answer is not whole: %v", saw.err)
	} else {
		s.journal.add("client", "has the whole answer, %d bytes", saw.got)
	}
	return saw, t.conn.Err() == nil
}

// http2 is the request for the library.
func (r *request) http2(scheme string, s *story, leave func(), final <-chan struct{}) (*http.Request, error) {
	req, err := http.NewRequest(r.method, scheme+"://"+r.pool.host()+r.target, nil)
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	for name, value := range map[string]string{
		fieldID: r.id, fieldSum: r.sum, fieldLine: r.method + " " + r.target, fieldKey: r.key, "User-Agent": "soak",
	} {
		req.Header.Set(name, value)
	}
	if r.cookie != "" {
		req.Header.Set("Cookie", fmt.Sprintf("other=1; %s=%s", cookieName, r.cookie))
	}
	if r.expect {
		req.Header.Set("Expect", "100-continue")
	}
	if r.framing == noBody {
		return req, nil
	}
	b := &upload{Reader: text(question(r.id), r.size), story: s, leave: leave, final: final, given: make(chan struct{})}
	req.Body, req.ContentLength = b, r.size
	if r.framing == chunked {
		req.ContentLength = -1
	}
	if r.trailer {
		req.Header.Set(fieldWant, r.id)
		req.Trailer = http.Header{fieldTrailer: {r.id}}
	}
	return req, nil
}

// upload is a body that may come slowly, or stop in the middle.
type upload struct {
	io.Reader
	story *story
	leave func()
	final <-chan struct{}
	sent  int64

	// given is closed once the library wants no more of it.
	given chan struct{}
	once  sync.Once
}

func (u *upload) Read(p []byte) (int, error) {
	r := u.story.request
	if r.leaves.uploads() {
		if u.sent >= r.leaveAt {
			return 0, u.stop()
		}
		p = p[:min(int64(len(p)), r.leaveAt-u.sent)]
	}
	if r.slowly {
		p = p[:min(int64(len(p)), r.size/6+1)]
		time.Sleep(15 * time.Millisecond)
	}
	n, err := u.Reader.Read(p)
	u.sent += int64(n)
	return n, err
}

// stop ends the upload the way the client does.
func (u *upload) stop() error {
	r := u.story.request
	u.story.journal.add("client", "leaves: %s", r.leaves)
	if r.leaves == stopUpload {
		select {
		case <-u.final:
		case <-u.given:
		}
	} else {
		u.leave()
	}
	return errors.New("the client sends no more")
}

// Close is called by the library, perhaps while it reads.
func (u *upload) Close() error {
	u.once.Do(func() { close(u.given) })
	return nil
}
