package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// F01 over HTTP/2: what a head may not say is refused, or is nothing that a member could read otherwise than we do. No
// member sees a second request, whatever the frames carry.
func TestF01HeadsOverHTTP2(t *testing.T) {
	head := func(fields ...string) []string {
		return append([]string{":method", "POST", ":scheme", "http", ":authority", "h", ":path", "/"}, fields...)
	}
	get := func(pseudo ...string) []string { return pseudo }
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"
	for _, row := range []struct {
		name   string
		fields []string
		body   string // without END_STREAM in the head; "-" ends it with the head
		want   string // statuses or "reset" or "goaway", with "|" between
		member string // what a member may see, as "METHOD target host"; empty: nothing
	}{
		{"path with a space", get(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/ HTTP/1.1"), "-", "400|reset", ""},
		{"path with CRLF", get(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/ HTTP/1.1\r\nHost: h\r\n\r\n"+smuggled), "-", "400|reset", ""},
		{"path with a fragment", get(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/a#b"), "-", "400|reset", ""},
		{"path with NUL", get(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/a\x00b"), "-", "400|reset", ""},
		{"path with a high byte", get(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/a\xffb"), "-", "400|reset", ""},
		{"empty path", get(":method", "GET", ":scheme", "http", ":authority", "h", ":path", ""), "-", "400|reset", ""},
		{"absolute path", get(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "http://h/admin"), "-", "400|reset", ""},
		{"absolute path of another", get(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "http://evil/"), "-", "400|reset", ""},
		{"path without a slash", get(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "admin"), "-", "400|reset", ""},
		{"star of GET", get(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "*"), "-", "400|reset", ""},
		{"star of OPTIONS", get(":method", "OPTIONS", ":scheme", "http", ":authority", "h", ":path", "*"), "-", "200", "OPTIONS * h"},
		{"CONNECT", get(":method", "CONNECT", ":authority", "h:443"), "-", "405", ""},
		{"CONNECT with a path", get(":method", "CONNECT", ":scheme", "http", ":authority", "h:443", ":path", "/"), "-", "400|reset", ""},
		{"CONNECT without a port", get(":method", "CONNECT", ":authority", "h"), "-", "400|reset", ""},
		{"extended CONNECT", get(":method", "CONNECT", ":protocol", "websocket", ":scheme", "http", ":authority", "h", ":path", "/"), "-", "400|reset", ""},
		{"method with a space", get(":method", "GET /x HTTP/1.1", ":scheme", "http", ":authority", "h", ":path", "/"), "-", "400|reset", ""},
		{"method with CRLF", get(":method", "GET / HTTP/1.1\r\nX:", ":scheme", "http", ":authority", "h", ":path", "/"), "-", "400|reset", ""},
		{"empty method", get(":method", "", ":scheme", "http", ":authority", "h", ":path", "/"), "-", "400|reset", ""},
		{"two methods", get(":method", "GET", ":method", "POST", ":scheme", "http", ":authority", "h", ":path", "/"), "-", "400|reset", ""},
		{"two paths", get(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/", ":path", "/b"), "-", "400|reset", ""},
		{"unknown pseudo field", get(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/", ":x", "/b"), "-", "400|reset", ""},
		{"pseudo field behind a field", get(":method", "GET", ":scheme", "http", "x", "1", ":authority", "h", ":path", "/"), "-", "400|reset", ""},
		{"strange scheme", get(":method", "GET", ":scheme", "ftp", ":authority", "h", ":path", "/"), "-", "400|reset", ""},
		{"no authority", get(":method", "GET", ":scheme", "http", ":path", "/"), "-", "400|reset", ""},
		{"empty authority", get(":method", "GET", ":scheme", "http", ":authority", "", ":path", "/"), "-", "400|reset", ""},
		{"Host for an authority", get(":method", "GET", ":scheme", "http", ":path", "/", "host", "h"), "-", "200", "GET / h"},
		{"Host for an empty authority", get(":method", "GET", ":scheme", "http", ":authority", "", ":path", "/", "host", "h"), "-", "200", "GET / h"},
		{"Host as the authority", head("host", "H"), "-", "200", "POST / h"},
		{"Host against the authority", head("host", "evil"), "-", "400|reset", ""},
		{"two Hosts", get(":method", "GET", ":scheme", "http", ":path", "/", "host", "h", "host", "evil"), "-", "400|reset", ""},
		{"two equal Hosts", get(":method", "GET", ":scheme", "http", ":path", "/", "host", "h", "host", "h"), "-", "400|reset", ""},
		{"authority with userinfo", get(":method", "GET", ":scheme", "http", ":authority", "h@evil", ":path", "/"), "-", "400|reset", ""},
		{"authority with a path", get(":method", "GET", ":scheme", "http", ":authority", "h/x", ":path", "/"), "-", "400|reset", ""},
		{"authority with CRLF", get(":method", "GET", ":scheme", "http", ":authority", "h\r\nX: 1", ":path", "/"), "-", "400|reset", ""},
		{"authority with a space", get(":method", "GET", ":scheme", "http", ":authority", "h evil", ":path", "/"), "-", "400|reset", ""},
		{"Transfer-Encoding", head("transfer-encoding", "chunked"), "0\r\n\r\n" + smuggled, "400|reset", ""},
		{"Transfer-Encoding of another kind", head("transfer-encoding", "xchunked"), smuggled, "400|reset", ""},
		{"Transfer-Encoding with a tab", head("transfer-encoding\t", "chunked"), "-", "400|reset", ""},
		{"Connection", head("connection", "keep-alive"), "-", "400|reset", ""},
		{"Connection: close", head("connection", "close"), "-", "400|reset", ""},
		{"Upgrade", head("upgrade", "websocket"), "-", "400|reset", ""},
		{"Keep-Alive", head("keep-alive", "1"), "-", "400|reset", ""},
		{"Proxy-Connection", head("proxy-connection", "keep-alive"), "-", "400|reset", ""},
		{"HTTP2-Settings", head("http2-settings", "AAMAAABkAAQAAP__"), "-", "200|400|reset", "POST / h"},
		{"TE: gzip", head("te", "gzip"), "-", "400|reset", ""},
		{"TE: trailers", head("te", "trailers"), "-", "200", "POST / h"},
		{"length above the body", head("content-length", "100"), smuggled, "400|reset", ""},
		{"length below the body", head("content-length", "1"), smuggled, "400|reset|200", ""},
		{"length 0 with a body", head("content-length", "0"), smuggled, "400|reset|200", "POST / h"},
		{"length without a body", head("content-length", "5"), "-", "400|reset", ""},
		{"two lengths", head("content-length", "5", "content-length", "6"), "hello", "400|reset", ""},
		{"a list of lengths", head("content-length", "5, 6"), "hello", "400|reset", ""},
		{"two equal lengths", head("content-length", "5", "content-length", "5"), "hello", "200|400|reset", "POST / h"},
		{"length with a sign", head("content-length", "+5"), "hello", "400|reset", ""},
		{"length in hex", head("content-length", "0x5"), "hello", "400|reset", ""},
		{"empty length", head("content-length", ""), "hello", "400|reset", ""},
		{"length that overflows", head("content-length", "18446744073709551621"), "hello", "400|reset", ""},
		{"length with spaces", head("content-length", " 5 "), "hello", "200|400|reset", "POST / h"},
		{"value with CRLF", head("x", "1\r\nTransfer-Encoding: chunked"), "-", "400|reset", ""},
		{"value with LF", head("x", "1\nTransfer-Encoding: chunked"), "-", "400|reset", ""},
		{"value with CR", head("x", "1\rX: 2"), "-", "400|reset", ""},
		{"value with NUL", head("x", "1\x00"), "-", "400|reset", ""},
		{"name with CRLF", head("x: 1\r\ntransfer-encoding", "chunked"), "-", "400|reset", ""},
		{"name with a colon", head("transfer-encoding:chunked\r\nx", "1"), "-", "400|reset", ""},
		{"name with a space", head("transfer-encoding ", "chunked"), "-", "400|reset", ""},
		{"name in upper case", head("Transfer-Encoding", "chunked"), "-", "400|reset", ""},
		{"empty name", head("", "x"), "-", "400|reset", ""},
		{"unknown expectation", head("expect", "200-ok"), "-", "417|400|reset", ""},
		{"Expect without a body", head("expect", "100-continue"), "-", "200", "POST / h"},
		{"body without a length", head(), smuggled, "200", "POST / h"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := named(t, "a")
			d, _ := h2(t, servertest.Setup{Members: addresses(m)})
			f := servertest.DialFrames(t, d.Address, nil)
			f.Head(1, row.body == "-", row.fields...)
			if row.body != "-" {
				f.WriteData(1, true, []byte(row.body))
			}
			e := f.Wait(1)
			got := fmt.Sprint(e.Status)
			switch {
			case e.Status != 0:
			case e.Reset != nil:
				got = "reset"
			case e.GoAway != nil:
				got = "goaway"
			}
			ok := false
			for _, want := range strings.Split(row.want, "|") {
				ok = ok || got == want
			}
			if !ok {
				t.Errorf("got %s, want %s: %+v", got, row.want, e)
			}
			f.Conn.Close()
			var seen []string
			for _, r := range m[0].Requests() {
				if r.Err != nil || !r.Complete {
					continue // broken off
				}
				seen = append(seen, r.Method+" "+r.Target+" "+strings.ToLower(r.Host))
			}
			if all := strings.Join(seen, ", "); all != row.member && all != "" {
				t.Errorf("the member saw %q, want %q", all, row.member)
			}
			if s := show(t, d).Members[0]; s.ConsecutiveFailures != 0 {
				t.Errorf("member %+v", s)
			}
		})
	}
}
