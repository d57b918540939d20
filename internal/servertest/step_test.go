package servertest

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBytes holds what each step sends in answer to one request, to the byte.
func TestBytes(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	tests := map[string]struct {
		request string
		step    Step
		want    string
		reset   bool
	}{
		"answer":             {get, Answer{Body: "hi", Close: true}, ok + "Content-Length: 2\r\n\r\nhi", false},
		"empty":              {get, Answer{Close: true}, ok + "Content-Length: 0\r\n\r\n", false},
		"status":             {get, Answer{Status: 404, Header: []string{"X-A: 1", "X-A: 2"}, Close: true}, "HTTP/1.1 404 Not Found\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 0\r\n\r\n", false},
		"own content length": {get, Answer{Header: []string{"content-length: 9"}, Body: "hi", Close: true}, ok + "content-length: 9\r\n\r\nhi", false},
		"head":               {"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", Answer{Body: "hi", Close: true}, ok + "Content-Length: 2\r\n\r\n", false},
		"204":                {get, Answer{Status: 204, Body: "no", Close: true}, "HTTP/1.1 204 No Content\r\n\r\n", false},
		"304":                {get, Answer{Status: 304, Close: true}, "HTTP/1.1 304 Not Modified\r\n\r\n", false},
		"chunked":            {get, Answer{Chunks: []string{"hello", " world"}, Close: true}, ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", false},
		"no chunks":          {get, Answer{Chunks: []string{}, Close: true}, ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false},
		"trailer":            {get, Answer{Body: "a", Trailer: []string{"X-Sum: 1"}, Close: true}, ok + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n", false},
		"until close":        {get, Answer{Body: "all", UntilClose: true}, ok + "\r\nall", false},
		"interim":            {get, Answer{Interim: []Answer{{Status: 103, Header: []string{"Link: </a>"}}}, Close: true}, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok + "Content-Length: 0\r\n\r\n", false},
		"behind":             {get, Answer{Body: "a", Behind: "HTTP/1.1 200 OK\r\n\r\n", Close: true}, ok + "Content-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\n\r\n", false},
		"garbage":            {get, Raw("\x00nonsense"), "\x00nonsense", false},
		"close":              {get, Close(), "", false},
		"close accepted":     {"", CloseAccepted(), "", false},
		"close unread":       {"G", CloseUnread(), "", false},
		"reset":              {get, Reset(), "", true},
		"cut":                {get, CutBody(3, Answer{Body: "hello"}), ok + "Content-Length: 5\r\n\r\nhel", false},
		"cut at once":        {get, CutBody(0, Answer{Body: "hello"}), ok + "Content-Length: 5\r\n\r\n", false},
		"cut after a chunk":  {get, CutBody(5, Answer{Chunks: []string{"hello", "there"}}), ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", false},
		"cut in a chunk":     {get, CutBody(7, Answer{Chunks: []string{"hello", "there"}}), ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nth", false},
		"cut before chunks":  {get, CutBody(0, Answer{Chunks: []string{"hello"}}), ok + "Transfer-Encoding: chunked\r\n\r\n", false},
		"cut the last chunk": {get, CutBody(9, Answer{Chunks: []string{"hello"}}), ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", false},
		"reset body":         {get, ResetBody(3, Answer{Body: "hello"}), ok + "Content-Length: 5\r\n\r\nhel", true},
		"drip":               {get, Drip(time.Microsecond, Answer{Body: "hi", Close: true}), ok + "Content-Length: 2\r\n\r\nhi", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := NewMember(t)
			m.Script(test.step)
			client := Dial(t, m.Address())
			if test.request != "" {
				client.Send(test.request)
			}
			got, err := client.Rest()
			// A reset may overtake bytes that were sent before it.
			if test.reset && !(errors.Is(err, syscall.ECONNRESET) && strings.HasPrefix(test.want, got)) {
				t.Errorf("got %q, %v; want a reset", got, err)
			}
			if !test.reset && (err != nil || got != test.want) {
				t.Errorf("got %q, %v\nwant %q", got, err, test.want)
			}
		})
	}
}

func TestResetAccepted(t *testing.T) {
	m := NewMember(t)
	m.Script(ResetAccepted())
	conn, err := net.Dial("tcp", m.Address())
	if err == nil {
		_, err = NewConn(t, conn).Rest()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v, want a reset", err)
	}
}

// TestStaleConnection is a kept-alive connection that the member gives up in different ways.
func TestStaleConnection(t *testing.T) {
	tests := map[string]struct {
		step   Step
		logged int
	}{
		"at the first byte":             {CloseUnread(), 1},
		"meant for a new connection":    {CloseAccepted(), 1},
		"after reading the request":     {Close(), 2},
		"with a reset after the head":   {Reset(), 2},
		"without the connection closed": {Answer{Close: true}, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := NewMember(t)
			client := Dial(t, m.Address())
			client.Send(get)
			client.Final("GET")
			m.Script(test.step, Answer{Body: "fresh"})
			client.Send(get)
			client.Rest()
			m.WaitOpen(0)
			if got := len(m.Requests()); got != test.logged {
				t.Errorf("%d requests in the log, want %d", got, test.logged)
			}
			again := Dial(t, m.Address())
			again.Send(get)
			if got := again.Final("GET").Body; got != "fresh" {
				t.Errorf("the next connection got %q", got)
			}
		})
	}
}

func TestHold(t *testing.T) {
	m := NewMember(t)
	m.Script(Hold(Status(503)))
	client := Dial(t, m.Address())
	client.Send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\ntest")
	if got := m.WaitBodies(1)[0]; string(got.Body) != "test" {
		t.Errorf("body %q", got.Body)
	}
	m.Release()
	if got := client.Final("PUT").Status; got != 503 {
		t.Errorf("status %d", got)
	}
	client.Send(get)
	client.Final("GET") // the watch for a leaving peer has not eaten anything
}

func TestHoldNotesAPeerThatLeaves(t *testing.T) {
	leave := map[string]func(*Conn){
		"close":      (*Conn).Close,
		"half-close": (*Conn).CloseWrite,
		"reset":      (*Conn).Reset,
	}
	for name, leave := range leave {
		t.Run(name, func(t *testing.T) {
			m := NewMember(t)
			m.Script(Hold(Answer{}))
			client := Dial(t, m.Address())
			client.Send(get)
			m.WaitRequests(1)
			leave(client)
			m.Wait("the peer to leave", func(log []Request) bool { return log[0].Left })
			m.Release()
			if name == "half-close" {
				client.Final("GET") // it still gets its answer
			}
			m.WaitOpen(0)
		})
	}
}

func TestHoldBody(t *testing.T) {
	m := NewMember(t)
	m.Script(HoldBody(3, Answer{Body: "hello"}))
	client := Dial(t, m.Address())
	client.Send(get)
	const first = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"
	if got := client.Read(len(first)); got != first {
		t.Errorf("before the release: %q", got)
	}
	m.Release()
	if got := client.Read(2); got != "lo" {
		t.Errorf("after the release: %q", got)
	}
	client.Send(get)
	client.Final("GET")
}

func TestEarly(t *testing.T) {
	m := NewMember(t)
	m.Script(Early(3, Status(503)))
	client := Dial(t, m.Address())
	client.Send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nabc")
	if got := client.Final("PUT").Status; got != 503 {
		t.Errorf("status %d", got)
	}
	if got := m.Requests()[0]; got.Complete || got.Length != 3 {
		t.Errorf("at the answer: %s", got)
	}
	client.Send("def", get) // the rest is read as the rest, not as a request
	client.Final("GET")
	if got := m.Requests()[0]; !got.Complete || string(got.Body) != "abcdef" {
		t.Errorf("in the end: %s", got)
	}
}

func TestResetUpload(t *testing.T) {
	m := NewMember(t)
	m.Script(ResetUpload(4))
	client := Dial(t, m.Address())
	client.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\nhalf")
	if _, err := client.Rest(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v, want a reset", err)
	}
	if got := m.Requests()[0]; got.Length != 4 || got.Complete {
		t.Errorf("log: %s", got)
	}
}

func TestExpect(t *testing.T) {
	const upload = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
	tests := map[string]struct {
		step Step
		want []int
	}{
		"continue":       {Answer{}, []int{100, 200}},
		"silent":         {Answer{Silent: true}, []int{200}},
		"refuse":         {Early(0, Status(401)), []int{401}},
		"held is silent": {Hold(Answer{}), []int{200}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := NewMember(t)
			m.Script(test.step)
			client := Dial(t, m.Address())
			client.Send(upload)
			var got []int
			switch test.want[0] {
			case 100, 401:
				got = append(got, client.Response("POST").Status)
			}
			client.Send("ab")
			m.WaitBodies(1)
			m.Release()
			if len(got) < len(test.want) {
				got = append(got, client.Response("POST").Status)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
			client.Send(get)
			if got := client.Response("GET").Status; got != 200 {
				t.Errorf("the next response is %d", got)
			}
		})
	}
}

func TestHalfClose(t *testing.T) {
	m := NewMember(t)
	m.Script(Answer{Body: "bye", HalfClose: true})
	client := Dial(t, m.Address())
	client.Send(get)
	client.Final("GET")
	if rest, err := client.Rest(); rest != "" || err != nil {
		t.Errorf("after the answer: %q, %v", rest, err)
	}
	client.Send("still listening")
	m.WaitOpen(1)
	client.Close()
	m.WaitOpen(0)
}

func TestUpgrade(t *testing.T) {
	m := NewMember(t)
	m.Script(Upgrade())
	client := Dial(t, m.Address())
	// Key and answer are the example of RFC 6455 section 1.3. A frame right behind the head is not lost.
	client.Send("GET /chat HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\nearly")
	got := client.Final("GET")
	want := http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Accept": {"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="}}
	if diff := cmp.Diff(want, got.Header); got.Status != 101 || diff != "" {
		t.Errorf("status %d, header (-want +got):\n%s", got.Status, diff)
	}
	client.Send(" late")
	client.CloseWrite()
	if rest, err := client.Rest(); rest != "early late" || err != nil {
		t.Errorf("echo %q, %v", rest, err)
	}
}

func TestUpgradeTo(t *testing.T) {
	m := NewMember(t)
	m.Script(UpgradeTo(func(x *Exchange) {
		io.Copy(io.Discard, x)
		if x.WaitRelease() {
			io.WriteString(x, "after your end")
		}
	}))
	client := Dial(t, m.Address())
	client.Send("GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	client.Final("GET")
	client.CloseWrite()
	m.Release()
	if rest, err := client.Rest(); rest != "after your end" || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestStream(t *testing.T) {
	m := NewMember(t)
	m.Script(Stream(200_003))
	client := Dial(t, m.Address())
	client.Send(get)
	if got := client.Final("GET"); got.Err != nil || len(got.Body) != 200_003 {
		t.Errorf("%d bytes, %v", len(got.Body), got.Err)
	}
}

func TestResponseTellsABrokenBody(t *testing.T) {
	for name, answer := range map[string]Answer{
		"length":  {Body: "hello"},
		"chunked": {Chunks: []string{"hello"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewMember(t)
			m.Script(CutBody(2, answer))
			client := Dial(t, m.Address())
			client.Send(get)
			if got := client.Final("GET"); !errors.Is(got.Err, io.ErrUnexpectedEOF) || got.Body != "he" {
				t.Errorf("body %q, %v", got.Body, got.Err)
			}
		})
	}
}

func TestResponseTrailer(t *testing.T) {
	m := NewMember(t)
	m.Script(Answer{Body: "a", Trailer: []string{"X-Sum: 1"}})
	client := Dial(t, m.Address())
	client.Send(get)
	got := client.Final("GET")
	if diff := cmp.Diff(http.Header{"X-Sum": {"1"}}, got.Trailer); diff != "" {
		t.Errorf("trailer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"chunked"}, got.Fields("Transfer-Encoding")); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
