package upstream_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

const (
	alertType       = 21
	handshakeType   = 22
	applicationType = 23
)

// sealer makes TLS 1.3 records behind those of a server, which package tls does not let one send (RFC 8446
// sections 5.2, 5.3 and 7.3).
type sealer struct {
	aead cipher.AEAD
	iv   []byte
	seq  uint64
}

// newSealer goes on after sent records under the secret that the server has logged.
func newSealer(t *testing.T, keyLog string, sent uint64) *sealer {
	t.Helper()
	for line := range strings.Lines(keyLog) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] != "SERVER_TRAFFIC_SECRET_0" {
			continue
		}
		secret, err := hex.DecodeString(fields[2])
		if err != nil {
			t.Fatal(err)
		}
		block, err := aes.NewCipher(expand(t, secret, "key", 16))
		if err != nil {
			t.Fatal(err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			t.Fatal(err)
		}
		return &sealer{aead: aead, iv: expand(t, secret, "iv", 12), seq: sent}
	}
	t.Fatalf("no secret in %q", keyLog)
	return nil
}

// expand is HKDF-Expand-Label with an empty context.
func expand(t *testing.T, secret []byte, label string, size int) []byte {
	t.Helper()
	info := binary.BigEndian.AppendUint16(nil, uint16(size))
	info = append(info, byte(len("tls13 "+label)))
	info = append(info, "tls13 "+label...)
	key, err := hkdf.Expand(sha256.New, secret, string(append(info, 0)), size)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (s *sealer) seal(content byte, message []byte) []byte {
	inner := append(bytes.Clone(message), content)
	head := []byte{applicationType, 3, 3}
	head = binary.BigEndian.AppendUint16(head, uint16(len(inner)+s.aead.Overhead()))
	nonce := make([]byte, len(s.iv))
	binary.BigEndian.PutUint64(nonce[4:], s.seq)
	for i := range nonce {
		nonce[i] ^= s.iv[i]
	}
	s.seq++
	return s.aead.Seal(head, nonce, inner, head)
}

// What comes on an idle connection over TLS, beside the answer before it, and whether the connection can be used
// again.
func TestWhatComesOnAnIdleConnection(t *testing.T) {
	ticket := []byte{
		4, 0, 0, 16, // NewSessionTicket of 16 bytes
		0, 0, 0x0e, 0x10, 1, 2, 3, 4, // for an hour; added to its age
		1, 0, // nonce
		0, 2, 'i', 'd', // ticket
		0, 0, // no extensions
	}
	ticket[3] = byte(len(ticket) - 4)
	keyUpdate := []byte{24, 0, 0, 1, 0}
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
	for name, c := range map[string]struct {
		send func(*sealer) []byte
		kept bool
	}{
		"nothing":       {func(*sealer) []byte { return nil }, true},
		"a late ticket": {func(s *sealer) []byte { return s.seal(handshakeType, ticket) }, true},
		"two of them":   {func(s *sealer) []byte { return append(s.seal(handshakeType, ticket), s.seal(handshakeType, ticket)...) }, true},
		"a key update":  {func(s *sealer) []byte { return s.seal(handshakeType, keyUpdate) }, true},
		"an answer":     {func(s *sealer) []byte { return s.seal(applicationType, answer) }, false},
		"a ticket, an answer": {func(s *sealer) []byte {
			return append(s.seal(handshakeType, ticket), s.seal(applicationType, answer)...)
		}, false},
		"a part of an answer":  {func(s *sealer) []byte { return s.seal(applicationType, answer)[:20] }, false},
		"a part of its head":   {func(s *sealer) []byte { return s.seal(applicationType, answer)[:3] }, false},
		"close_notify":         {func(s *sealer) []byte { return s.seal(alertType, []byte{1, 0}) }, false},
		"no TLS":               {func(*sealer) []byte { return []byte("HTTP/1.1 408 Request Timeout\r\n\r\n") }, false},
		"a record not of ours": {func(s *sealer) []byte { s.seq++; return s.seal(applicationType, answer) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, together := range []bool{false, true} {
				got := idleTLS(t, c.send, together).Get(time.Now(), nil)
				if kept := got != nil; kept != c.kept {
					t.Errorf("sent with the answer %v: kept %v, want %v", together, kept, c.kept)
				}
			}
		})
	}
}

// idleTLS is a member with an idle connection that has carried one request, and on which send's bytes have come
// since, or in one piece with the answer.
func idleTLS(t *testing.T, send func(*sealer) []byte, together bool) *upstream.Member {
	t.Helper()
	a := servertest.NewAuthority(t)
	var keys bytes.Buffer
	config := &tls.Config{
		Certificates: []tls.Certificate{a.Issue("127.0.0.1")}, MinVersion: tls.VersionTLS13,
		SessionTicketsDisabled: true, KeyLogWriter: &keys,
	}
	wires := make(chan *wire, 1)
	address := servertest.RawPeer(t, func(c net.Conn) {
		w := &wire{Conn: c}
		server := tls.Server(w, config)
		if _, err := server.Read(make([]byte, 1024)); err != nil {
			t.Error(err)
			return
		}
		if suite := server.ConnectionState().CipherSuite; suite != tls.TLS_AES_128_GCM_SHA256 {
			t.Errorf("negotiated %s", tls.CipherSuiteName(suite))
			return
		}
		w.hold = true
		server.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"))
		if together {
			w.held = append(w.held, send(newSealer(t, keys.String(), 1))...)
		}
		w.hold = false
		c.Write(w.held)
		wires <- w
	})
	m := upstream.NewMember(address, options(t, a, "", "", ""))
	c := dial(t, m)
	if got := ask(t, c); got != "good" {
		t.Fatalf("got %q", got)
	}
	w := <-wires
	if !together {
		w.Conn.Write(send(newSealer(t, keys.String(), 1)))
	}
	w.waitTaken(t)
	m.Put(c, time.Now())
	return m
}

// wire is a server's socket that can hold back what is written.
type wire struct {
	net.Conn
	hold bool
	held []byte
}

func (w *wire) Write(p []byte) (int, error) {
	if w.hold {
		w.held = append(w.held, p...)
		return len(p), nil
	}
	return w.Conn.Write(p)
}

// waitTaken waits until the kernel of the other side has all that was written.
func (w *wire) waitTaken(t *testing.T) {
	t.Helper()
	raw, err := w.Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the other side to have all bytes", func() bool {
		left := 0
		raw.Control(func(fd uintptr) { left, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
		if err != nil {
			t.Fatal(err)
		}
		return left == 0
	})
}
