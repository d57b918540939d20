package http1

import (
	"net/http"
	"testing"
)

func TestAppend(t *testing.T) {
	name, value := []byte("X-Sum"), []byte("5")
	for _, test := range []struct {
		got  []byte
		want string
	}{
		{AppendRequestLine(nil, []byte("GET"), []byte("/a?b")), "GET /a?b HTTP/1.1\r\n"},
		{AppendStatusLine(nil, 404, nil), "HTTP/1.1 404 Not Found\r\n"},
		{AppendStatusLine(nil, 599, nil), "HTTP/1.1 599 \r\n"},
		{AppendStatusLine(nil, 200, []byte{}), "HTTP/1.1 200 \r\n"},
		{AppendStatusLine(nil, 200, []byte("Fine")), "HTTP/1.1 200 Fine\r\n"},
		{AppendField([]byte("x"), name, value), "xX-Sum: 5\r\n"},
		{AppendFieldString([]byte("x"), "A", ""), "xA: \r\n"},
		{AppendChunkHead(nil, 26), "1a\r\n"},
		{AppendLastChunk(nil, nil), "0\r\n\r\n"},
		{AppendLastChunk(nil, []Field{{Name: name, Value: value}}), "0\r\nX-Sum: 5\r\n\r\n"},
	} {
		if string(test.got) != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestStatusText(t *testing.T) {
	// What RFC 9110 renamed since net/http took its names, and what it does not register.
	differs := map[int]string{413: "Content Too Large", 414: "URI Too Long", 416: "Range Not Satisfiable",
		418: "", 422: "Unprocessable Content"}
	for status := range 600 {
		want, ok := differs[status]
		if !ok {
			want = http.StatusText(status)
		}
		if got := StatusText(status); got != want {
			t.Errorf("%d is %q, want %q", status, got, want)
		}
	}
}
