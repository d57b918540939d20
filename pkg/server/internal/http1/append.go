package http1

import "strconv"

// The Append functions write one part of a message each to the end of dst and return it. They check
// nothing: names and values come from a parsed message or were checked when they were made.

// AppendRequestLine writes a request line. What we send is HTTP/1.1, whatever came (RFC 9110 section 2.5).
func AppendRequestLine(dst, method, target []byte) []byte {
	dst = append(dst, method...)
	dst = append(dst, ' ')
	dst = append(dst, target...)
	return append(dst, " HTTP/1.1\r\n"...)
}

// AppendStatusLine writes a status line. A nil reason is StatusText.
func AppendStatusLine(dst []byte, status int, reason []byte) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(status), 10)
	dst = append(dst, ' ')
	if reason == nil {
		dst = append(dst, StatusText(status)...)
	} else {
		dst = append(dst, reason...)
	}
	return append(dst, "\r\n"...)
}

// AppendField writes a field line.
func AppendField(dst, name, value []byte) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, "\r\n"...)
}

// AppendFieldString writes a field line.
func AppendFieldString(dst []byte, name, value string) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, "\r\n"...)
}

// AppendChunkHead writes the line before size bytes of data, which CRLF must follow. Size is above
// zero: a chunk of no bytes would be the last one.
func AppendChunkHead(dst []byte, size int) []byte {
	dst = strconv.AppendInt(dst, int64(size), 16)
	return append(dst, "\r\n"...)
}

// AppendLastChunk ends a chunked body.
func AppendLastChunk(dst []byte, trailers []Field) []byte {
	dst = append(dst, "0\r\n"...)
	for i := range trailers {
		dst = AppendField(dst, trailers[i].Name, trailers[i].Value)
	}
	return append(dst, "\r\n"...)
}
