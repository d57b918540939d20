// Package http1 is the HTTP/1.1 wire codec of both sides of the proxy: bytes in, message heads and
// body pieces out, and the other way round. It knows no sockets, keeps no state between messages and
// allocates nothing once its slices have grown to the size of the traffic.
//
// It is strict on purpose. Request smuggling needs two parsers that read the same bytes differently,
// so whatever RFC 9110 and RFC 9112 let a recipient repair (bare LF, folded lines, blanks before the
// colon, lists of equal lengths, Content-Length next to Transfer-Encoding) is refused here instead,
// and what is accepted has one meaning only.
//
// A head is parsed in place: the slices of a Request, a Response and their Fields point into the
// buffer of the call that found the head whole, and live as long as the bytes in it.
package http1

// Limits bounds a message head. They hold while the head is still arriving. Zero is no bound.
type Limits struct {
	// Head is the size in bytes, from the first byte to the empty line, both included.
	Head int
	// Fields is the number of field lines.
	Fields int
	// Target is the size of a request target in bytes.
	Target int
}

// Framing says where the body of a message ends (RFC 9112 section 6.3).
type Framing uint8

// The framings. The zero value is a message that ends with its head.
const (
	NoBody Framing = iota
	// Length is a body of as many bytes as Content-Length says, at least one.
	Length
	// ChunkedBody is a body that is read with a Chunked.
	ChunkedBody
	// UntilClose is a response body that ends when the member closes.
	UntilClose
)
