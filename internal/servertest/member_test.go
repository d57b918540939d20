package servertest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const get = "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"

func TestRequestLog(t *testing.T) {
	m := NewMember(t)
	client := Dial(t, m.Address())
	head := "PUT /a%2Fb?q=1;2 HTTP/1.1\r\nHost: example.com\r\nX-A: 1\r\nx-a:2\r\nTransfer-Encoding: chunked\r\n\r\n"
	client.Send(head, "4\r\ntest\r\n0\r\nX-Sum: 9\r\n\r\n")
	client.Final("PUT")
	client.Send(get)
	client.Final("GET")

	sum := func(s string) string {
		digest := sha256.Sum256([]byte(s))
		return hex.EncodeToString(digest[:])
	}
	want := []Request{
		{
			Connection: 1, Head: head, Method: "PUT", Target: "/a%2Fb?q=1;2", Proto: "HTTP/1.1", Host: "example.com",
			Header: http.Header{"X-A": {"1", "2"}}, Body: []byte("test"), Length: 4, SHA256: sum("test"),
			Trailer: http.Header{"X-Sum": {"9"}}, Complete: true,
		},
		{
			Connection: 1, Head: get, Method: "GET", Target: "/", Proto: "HTTP/1.1", Host: "example.com",
			Header: http.Header{}, SHA256: sum(""), Complete: true,
		},
	}
	if diff := cmp.Diff(want, m.Requests()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"chunked"}, m.Requests()[0].Fields("transfer-encoding")); diff != "" {
		t.Errorf("fields of the raw head (-want +got):\n%s", diff)
	}
}

func TestRequestLogOfBrokenRequests(t *testing.T) {
	const upload = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n1234"
	tests := map[string]struct {
		send   string
		head   string
		length int64
	}{
		"not http":      {"hello\r\n\r\n", "hello\r\n\r\n", 0},
		"half a head":   {"GET / HT", "GET / HT", 0},
		"half a body":   {upload, upload[:len(upload)-4], 4},
		"no last chunk": {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := NewMember(t)
			client := Dial(t, m.Address())
			client.Send(test.send)
			client.CloseWrite()
			log := m.Wait("a broken request", func(log []Request) bool { return len(log) == 1 && log[0].Err != nil })
			got := log[0]
			if got.Head != test.head || got.Length != test.length || got.Complete {
				t.Errorf("got %s with head %q", got, got.Head)
			}
			if rest, _ := client.Rest(); rest != "" {
				t.Errorf("the member answered %q", rest)
			}
		})
	}
}

func TestScriptThenDefault(t *testing.T) {
	m := NewMember(t)
	m.Script(Status(503), Answer{Body: "once"})
	m.Default(Answer{Body: "always"})
	client := Dial(t, m.Address())
	var got []string
	for range 4 {
		client.Send(get)
		got = append(got, client.Final("GET").Body)
	}
	if diff := cmp.Diff([]string{"Service Unavailable", "once", "always", "always"}, got); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}

func TestPipelinedRequests(t *testing.T) {
	m := NewMember(t)
	client := Dial(t, m.Address())
	client.Send(get, get, get)
	for range 3 {
		client.Final("GET")
	}
	if got := len(m.Requests()); got != 3 {
		t.Errorf("%d requests in the log, want 3", got)
	}
}

func TestUnixMember(t *testing.T) {
	m := NewUnixMember(t)
	client := Dial(t, m.Address())
	client.Send(get)
	client.Final("GET")

	path := strings.TrimPrefix(m.Address(), "unix:")
	m.Down()
	if _, err := net.Dial("unix", path); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("down: %v, want a refused connection", err)
	}
	m.Up()
	Dial(t, m.Address())
}

func TestDownAndUp(t *testing.T) {
	m := NewMember(t)
	open := Dial(t, m.Address())
	m.WaitConnections(1)
	for range 3 {
		m.Down()
		if _, err := net.Dial("tcp", m.Address()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("down: %v, want a refused connection", err)
		}
		m.Up()
		client := Dial(t, m.Address())
		client.Send(get)
		client.Final("GET")
	}
	open.Send(get)
	open.Final("GET") // what was open lives on
}

// TestDownKeepsThePort holds that the port is taken for everyone who does not share it on purpose:
// the kernel then gives it to nobody who asks for a free one.
func TestDownKeepsThePort(t *testing.T) {
	m := NewMember(t)
	m.Down()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	port := netip.MustParseAddrPort(m.Address()).Port()
	err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: int(port)})
	if !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("binding the port of a member that is down: %v, want it in use", err)
	}
}

func TestKill(t *testing.T) {
	m := NewMember(t)
	m.Script(HoldBody(2, Answer{Body: "abcd"}))
	client := Dial(t, m.Address())
	client.Send(get)
	m.WaitRequests(1)
	m.Kill()
	if _, err := client.Rest(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("open connection: %v, want a reset", err)
	}
	if _, err := net.Dial("tcp", m.Address()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("new connection: %v, want a refused one", err)
	}
}

func TestCloseIdle(t *testing.T) {
	m := NewMember(t)
	m.Script(Answer{}, Hold(Answer{Body: "held"}))
	idle, busy := Dial(t, m.Address()), Dial(t, m.Address())
	idle.Send(get)
	idle.Final("GET")
	busy.Send(get)
	m.WaitRequests(2)

	m.CloseIdle()
	if rest, err := idle.Rest(); rest != "" || err != nil {
		t.Errorf("idle connection: %q, %v; want a clean close", rest, err)
	}
	m.Release()
	if got := busy.Final("GET").Body; got != "held" {
		t.Errorf("busy connection: body %q", got)
	}
	if rest, err := busy.Rest(); rest != "" || err != nil {
		t.Errorf("busy connection: %q, %v; want a clean close", rest, err)
	}
	m.WaitOpen(0)
}

func TestReleaseLetsGoOfWhatIsInTheLogOnly(t *testing.T) {
	m := NewMember(t)
	m.Default(Hold(Answer{}))
	first, second := Dial(t, m.Address()), Dial(t, m.Address())
	first.Send(get)
	m.WaitRequests(1)
	m.Release()
	second.Send(get)
	m.WaitRequests(2)
	first.Final("GET")
	second.Close()
	log := m.Wait("the second client to leave", func(log []Request) bool { return log[1].Left })
	if log[0].Left {
		t.Error("the first client is said to have left")
	}
}

// TestEndWithoutRelease ends with connections in every state; TestMain finds what they leave behind.
func TestEndWithoutRelease(t *testing.T) {
	m := NewMember(t)
	m.Script(Hold(Answer{}), HoldBody(1, Answer{Body: "abc"}), Upgrade(), Stream(1<<40))
	for i := range 4 {
		Dial(t, m.Address()).Send(get)
		m.WaitRequests(i + 1)
	}
	Dial(t, m.Address()).Send("GET / HT")
	m.WaitConnections(5)
}

// TestNetHTTPClient holds the member against a client that this package did not write.
func TestNetHTTPClient(t *testing.T) {
	m := NewMember(t)
	m.Default(Digest())
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for range 2 {
		got, err := client.Post("http://"+m.Address()+"/", "text/plain", io.LimitReader(strings.NewReader(strings.Repeat("x", 3<<20)), 2<<20))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(got.Body)
		got.Body.Close()
		want := m.Requests()[0].SHA256 + " 2097152\n"
		if err != nil || string(body) != want {
			t.Errorf("body %q, %v; want %q", body, err, want)
		}
	}
	log := m.Requests()
	if log[1].Connection != 1 {
		t.Errorf("the second request came over connection %d", log[1].Connection)
	}
	if len(log[0].Body) != keptBody {
		t.Errorf("%d body bytes kept, want %d", len(log[0].Body), keptBody)
	}
}
