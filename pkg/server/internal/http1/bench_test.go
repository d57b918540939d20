package http1

import (
	"bytes"
	"fmt"
	"testing"
)

const typicalRequest = "GET /api/v1/items/4711?fields=name,price&page=2 HTTP/1.1\r\n" +
	"Host: api.example.com\r\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0\r\n" +
	"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n" +
	"Accept-Language: en-US,en;q=0.5\r\n" +
	"Accept-Encoding: gzip, deflate, br\r\n" +
	"Cookie: SHOP_NODE=0123456789abcdef0123456789abcdef; theme=dark\r\n" +
	"Connection: keep-alive\r\n" +
	"Cache-Control: no-cache\r\n" +
	"\r\n"

const typicalResponse = "HTTP/1.1 200 OK\r\n" +
	"Server: nginx\r\n" +
	"Date: Sun, 29 Nov 2026 10:00:00 GMT\r\n" +
	"Content-Type: application/json; charset=utf-8\r\n" +
	"Content-Length: 113\r\n" +
	"Connection: keep-alive\r\n" +
	"Vary: Accept-Encoding\r\n" +
	"ETag: \"5f2c-61d0a4b7\"\r\n" +
	"Cache-Control: max-age=60\r\n" +
	"\r\n"

var typicalLimits = Limits{Head: 32 << 10, Fields: 128, Target: 8 << 10}

// typicalChunked is a body of eight chunks of 1 KiB with a trailer.
func typicalChunked() []byte {
	var body []byte
	for range 8 {
		body = AppendChunkHead(body, 1024)
		body = append(body, bytes.Repeat([]byte{'x'}, 1024)...)
		body = append(body, "\r\n"...)
	}
	return AppendLastChunk(body, []Field{{Name: []byte("X-Sum"), Value: []byte("8192")}})
}

func readChunked(c *Chunked, body []byte) error {
	c.Reset()
	for {
		_, n, done, err := c.Next(body)
		if err != nil || done {
			return err
		}
		if n == 0 {
			return fmt.Errorf("body ended early")
		}
		body = body[n:]
	}
}

func BenchmarkRequest(b *testing.B) {
	buf := []byte(typicalRequest)
	var r Request
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		r.Reset()
		if n, err := r.Parse(buf, typicalLimits); n != len(buf) || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkResponse(b *testing.B) {
	buf := []byte(typicalResponse)
	var r Response
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		r.Reset()
		if n, err := r.Parse(buf, typicalLimits, false); n != len(buf) || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkChunked(b *testing.B) {
	body := typicalChunked()
	var c Chunked
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := readChunked(&c, body); err != nil {
			b.Fatal(err)
		}
	}
}

// A head that arrives a byte at a time must not cost its square: compare the time per byte with that
// of BenchmarkRequest.
func BenchmarkRequestDrip(b *testing.B) {
	buf := []byte("GET / HTTP/1.1\r\nHost: a\r\nX: " + string(bytes.Repeat([]byte{'x'}, 30<<10)) + "\r\n\r\n")
	var r Request
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		r.Reset()
		for i := range len(buf) + 1 {
			n, err := r.Parse(buf[:i], typicalLimits)
			if err != nil || n > 0 != (i == len(buf)) {
				b.Fatal(i, n, err)
			}
		}
	}
}

// TestNoAllocations holds the budget of the hot path: nothing.
func TestNoAllocations(t *testing.T) {
	var (
		request  Request
		response Response
		chunked  Chunked
		body     = typicalChunked()
		in       = []byte(typicalRequest)
		upgrade  = []byte("GET http://[2001:db8::5]?q HTTP/1.1\r\nHost: [2001:db8::5]:80\r\nConnection: X-Hop, Upgrade\r\n" +
			"X-Hop: 1\r\nUpgrade: websocket\r\nTE: trailers, deflate\r\nExpect: 100-continue\r\n\r\n")
		out  = []byte(typicalResponse)
		dst  = make([]byte, 0, 4096)
		fail = func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
	)
	tests := []struct {
		name string
		run  func()
	}{
		{"request", func() {
			request.Reset()
			_, err := request.Parse(in, typicalLimits)
			fail(err)
		}},
		{"request in two pieces", func() {
			request.Reset()
			_, err := request.Parse(in[:100], typicalLimits)
			fail(err)
			_, err = request.Parse(in, typicalLimits)
			fail(err)
		}},
		{"request with everything", func() {
			request.Reset()
			_, err := request.Parse(upgrade, typicalLimits)
			fail(err)
		}},
		{"response", func() {
			response.Reset()
			_, err := response.Parse(out, typicalLimits, false)
			fail(err)
		}},
		{"chunked body", func() { fail(readChunked(&chunked, body)) }},
		{"writing", func() {
			dst = AppendRequestLine(dst[:0], request.MethodText, request.Path)
			dst = AppendStatusLine(dst, 404, nil)
			for _, f := range request.Fields {
				dst = AppendField(dst, f.Name, f.Value)
			}
			dst = AppendFieldString(dst, "Via", "1.1 scalws")
			dst = AppendChunkHead(dst, 4711)
			dst = AppendLastChunk(dst, chunked.Trailers)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, test.run); n != 0 {
				t.Errorf("%v allocations, want none", n)
			}
		})
	}
}
