package servertest

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Frames is a client of HTTP/2 that writes what it is told, right or wrong. It reads nothing before it is asked to.
// It belongs to the goroutine of the test.
type Frames struct {
	*http2.Framer
	// Conn is below, for what no frame can say.
	Conn net.Conn

	t      testing.TB
	block  bytes.Buffer
	encode *hpack.Encoder
}

// DialFrames connects, with TLS where config is set, and sends the preface, and settings if there are any.
func DialFrames(t testing.TB, address string, config *tls.Config, settings ...http2.Setting) *Frames {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, patience)
	if err == nil && config != nil {
		config = config.Clone()
		config.NextProtos = []string{http2.NextProtoTLS}
		over := tls.Client(conn, config)
		conn, err = over, over.Handshake()
	}
	if err != nil {
		t.Fatalf("connecting to %s: %v", address, err)
	}
	return NewFrames(t, conn, settings...)
}

// NewFrames is a client on a connection that exists.
func NewFrames(t testing.TB, conn net.Conn, settings ...http2.Setting) *Frames {
	t.Helper()
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	f := &Frames{Framer: http2.NewFramer(conn, conn), Conn: conn, t: t}
	f.AllowIllegalWrites = true
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	f.encode = hpack.NewEncoder(&f.block)
	io.WriteString(conn, http2.ClientPreface)
	f.Try(f.WriteSettings(settings...))
	return f
}

// Try ends the test with an error of a write.
func (f *Frames) Try(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatalf("writing a frame: %v", err)
	}
}

// Block encodes names and values in turn, in this order, as they are.
func (f *Frames) Block(fields ...string) []byte {
	f.block.Reset()
	for i := 0; i+1 < len(fields); i += 2 {
		f.encode.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return bytes.Clone(f.block.Bytes())
}

// Head sends a HEADERS frame, in pieces where it is too long for one; end ends the stream with it.
func (f *Frames) Head(stream uint32, end bool, fields ...string) {
	f.t.Helper()
	const most = 16 << 10
	block := f.Block(fields...)
	first := block[:min(most, len(block))]
	block = block[len(first):]
	f.Try(f.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: first, EndStream: end, EndHeaders: len(block) == 0,
	}))
	for len(block) > 0 {
		next := block[:min(most, len(block))]
		block = block[len(next):]
		f.Try(f.WriteContinuation(stream, len(block) == 0, next))
	}
}

// Get sends a GET of a path.
func (f *Frames) Get(stream uint32, path string) {
	f.t.Helper()
	f.Head(stream, true, ":method", "GET", ":scheme", "http", ":authority", "h", ":path", path)
}

// Ended is how a stream, or the connection, ended.
type Ended struct {
	// Status of the final answer; 0: none came.
	Status int
	Body   string
	// Fields are the fields of the final answer, "name: value" each.
	Fields []string
	// Reset is the code of a RST_STREAM, GoAway that of a GOAWAY; nil: none came.
	Reset, GoAway *http2.ErrCode
	// Closed says that the connection was closed.
	Closed bool
}

// Wait reads until a stream has ended or the connection has, and answers pings and settings meanwhile. With stream 0
// it reads until the connection has ended, or a GOAWAY says that it will.
func (f *Frames) Wait(stream uint32) Ended {
	f.t.Helper()
	var e Ended
	for {
		frame, err := f.ReadFrame()
		var wrong http2.StreamError
		if errors.As(err, &wrong) {
			f.t.Fatalf("reading frames: %v", err)
		}
		if err != nil {
			var late net.Error
			if errors.As(err, &late) && late.Timeout() {
				f.t.Fatalf("waited in vain for the end of stream %d: %+v", stream, e)
			}
			e.Closed = true
			return e
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				f.WriteSettingsAck()
			}
			continue
		case *http2.PingFrame:
			if !frame.IsAck() {
				f.WritePing(true, frame.Data)
			}
			continue
		case *http2.GoAwayFrame:
			code := frame.ErrCode
			e.GoAway = &code
			if stream == 0 {
				return e
			}
			continue
		}
		if stream == 0 || frame.Header().StreamID != stream {
			continue
		}
		switch frame := frame.(type) {
		case *http2.RSTStreamFrame:
			code := frame.ErrCode
			e.Reset = &code
			return e
		case *http2.MetaHeadersFrame:
			e.head(frame)
			if frame.StreamEnded() {
				return e
			}
		case *http2.DataFrame:
			e.Body += string(frame.Data())
			if frame.StreamEnded() {
				return e
			}
		}
	}
}

func (e *Ended) head(frame *http2.MetaHeadersFrame) {
	if status := frame.PseudoValue("status"); len(status) == 3 && status[0] != '1' {
		e.Status = int(status[0]-'0')*100 + int(status[1]-'0')*10 + int(status[2]-'0')
	}
	for _, field := range frame.RegularFields() {
		e.Fields = append(e.Fields, field.Name+": "+field.Value)
	}
}
