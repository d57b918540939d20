package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// net/http is the other opinion: what we accept, it has to read as the same message. It may refuse what
// we accept in these cases only, and each is looked at where it occurs below:
//
//   - A target that net/url cannot parse ("/%zz", a host with "%41"): we pass targets on as they are. The
//     rest of the message is compared with the target taken out.
//   - A Trailer field that announces Content-Length, Transfer-Encoding or Trailer: we pass no Trailer
//     field on, and drop such trailers.
//   - Blanks between a chunk size and its extension, which RFC 9112 section 7.1.1 tells a recipient to remove.
//
// And it reads differently, without harm: an empty line before a request (we skip two), "Pragma:
// no-cache" (it adds a Cache-Control), Host in front of the fields.

// parsed is what the two readers of a message are compared by.
type parsed struct {
	Start   string // the parts of the start line
	Host    string
	Fields  http.Header
	Length  int64 // of the body; -1 chunked or until close
	Body    string
	Trailer http.Header
	Rest    string // what is left behind the message
}

// addFields collects fields as net/http does. Those that it takes out are left out.
func addFields(fields []Field, out ...Known) http.Header {
	h := http.Header{}
next:
	for _, f := range fields {
		for _, known := range out {
			if f.Known == known {
				continue next
			}
		}
		h.Add(textproto.CanonicalMIMEHeaderKey(string(f.Name)), string(f.Value))
	}
	return h
}

// fixPragma does to the fields what net/http does for a Pragma.
func fixPragma(h http.Header) {
	if v := h["Pragma"]; len(v) > 0 && v[0] == "no-cache" && h["Cache-Control"] == nil {
		h["Cache-Control"] = []string{"no-cache"}
	}
}

func parseTrailers(text string) http.Header {
	h := http.Header{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		if MayBeTrailer([]byte(name)) {
			h.Add(textproto.CanonicalMIMEHeaderKey(name), strings.TrimSpace(value))
		}
	}
	return h
}

// theirTrailers are the trailers that net/http found, less those that we drop.
func theirTrailers(trailer http.Header) http.Header {
	h := http.Header{}
	for name, values := range trailer {
		if MayBeTrailer([]byte(name)) && values != nil {
			for _, v := range values {
				h.Add(name, strings.TrimSpace(v))
			}
		}
	}
	return h
}

// readOurBody reads the body behind a head, in one piece.
func readOurBody(rest []byte, framing Framing, length int64) (b body, left []byte, err error) {
	a := &arrival{stream: rest}
	a.more()
	switch framing {
	case ChunkedBody:
		b, err = readChunks(a)
	case Length:
		b = readLength(a, length)
		b.done = int64(len(b.data)) == length
	case UntilClose:
		b = readLength(a, int64(len(rest)))
	default:
		b.done = true
	}
	return b, rest[a.taken:], err
}

func addShapes(f *testing.F, responses bool) {
	for _, s := range readShapes(f) {
		if strings.HasPrefix(s.file, "response") == responses {
			f.Add(s.wire)
		}
	}
}

// same fails if parsing in steps gives something else than parsing at once, n, err and reading.
func same(t *testing.T, n int, err error, reading string, parse func(step int) (int, string, error)) {
	t.Helper()
	for _, step := range []int{1, 3, 64} {
		n2, reading2, err2 := parse(step)
		if n2 != n || (err2 != nil) != (err != nil) || n > 0 && reading2 != reading {
			t.Fatalf("in steps of %d: n = %d, err = %v; at once %d, %v\n%s", step, n2, err2, n, err, cmp.Diff(reading, reading2))
		}
	}
}

func FuzzRequest(f *testing.F) {
	addShapes(f, false)
	for _, test := range requestTests {
		f.Add(crlf(test.in))
	}
	f.Add([]byte(typicalRequest))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Request
		n, err := r.Parse(data, testLimits)
		reading := ""
		if n > 0 {
			reading = renderRequest(&r)
		}
		same(t, n, err, reading, func(step int) (int, string, error) {
			var r Request
			n, err := parseHead(&arrival{stream: data, step: step}, func(buf []byte) (int, error) { return r.Parse(buf, testLimits) })
			if n == 0 {
				return n, "", err
			}
			return n, renderRequest(&r), err
		})
		if err != nil {
			if n != 0 || err.(*Error).Status < 400 {
				t.Fatalf("n = %d, err = %v", n, err)
			}
			return
		}
		if n > 0 {
			sendOn(t, &r)
			compareRequest(t, &r, data, n)
		}
	})
}

// sendOn writes the request as a proxy does, and wants to read what it was.
func sendOn(t *testing.T, r *Request) {
	t.Helper()
	want := struct{ start, host, fields, framing string }{
		start: string(r.MethodText) + " " + string(r.Path), host: string(r.Host),
	}
	if want.host == "" {
		want.host = "none.invalid" // HTTP/1.0 without a Host
	}
	out := AppendRequestLine(nil, r.MethodText, r.Path)
	out = AppendFieldString(out, "Host", want.host)
	var passed []Field
	for _, f := range r.Fields {
		if !f.Hop && f.Known != FieldHost {
			out = AppendField(out, f.Name, f.Value)
			passed = append(passed, f)
		}
	}
	if r.Body == ChunkedBody {
		out = AppendFieldString(out, "Transfer-Encoding", "chunked")
	}
	want.fields = renderFields(passed)
	out = append(out, "\r\n"...)

	var again Request
	n, err := again.Parse(out, Limits{})
	if n != len(out) || err != nil {
		t.Fatalf("sent on: n = %d of %d, err = %v\n%q", n, len(out), err, out)
	}
	got := want
	got.start, got.host = string(again.MethodText)+" "+string(again.Path), string(again.Host)
	passed = passed[:0]
	for _, f := range again.Fields {
		if f.Known != FieldHost && f.Known != FieldTransferEncoding {
			passed = append(passed, f)
		}
	}
	got.fields = renderFields(passed)
	if got != want || again.Body != r.Body || again.ContentLength != r.ContentLength || again.Expect100 != r.Expect100 {
		t.Fatalf("sent on as %q: got %+v, want %+v", out, got, want)
	}
}

func compareRequest(t *testing.T, r *Request, data []byte, n int) {
	t.Helper()
	b, left, err := readOurBody(data[n:], r.Body, r.ContentLength)
	if err != nil || !b.done || extensionBlanks.Match(data[n:]) {
		return
	}
	stream := bytes.TrimLeft(data, "\r\n")
	target := string(r.Target)
	if r.Method == CONNECT {
		if _, err := url.ParseRequestURI("http://" + target); err != nil {
			return // a host with "%41"
		}
	} else if _, err := url.ParseRequestURI(target); err != nil {
		plain := "/"
		if r.authority != nil {
			plain = "http://" + string(r.authority) + "/"
		}
		if _, err := url.ParseRequestURI(plain); err != nil {
			return // a host with "%41"
		}
		stream = append([]byte(string(r.MethodText)+" "+plain), stream[len(r.MethodText)+1+len(target):]...)
		target = plain
	}
	ours := parsed{
		Start: string(r.MethodText) + " " + target, Host: string(r.Host), Body: string(b.data), Rest: string(left),
		Fields: addFields(r.Fields, FieldHost, FieldTransferEncoding, FieldTrailer), Length: max(r.ContentLength, 0),
		Trailer: parseTrailers(b.trailers),
	}
	if r.Body == ChunkedBody {
		ours.Length = -1
	} else {
		// net/http takes it out of chunked messages only.
		ours.Fields = addFields(r.Fields, FieldHost, FieldTransferEncoding)
	}
	fixPragma(ours.Fields)

	reader := bufio.NewReaderSize(bytes.NewReader(stream), 64<<10)
	req, err := http.ReadRequest(reader)
	if err != nil {
		if r.Body == ChunkedBody && strings.Contains(err.Error(), "bad trailer key") {
			return
		}
		t.Fatalf("net/http refuses the head: %v", err)
	}
	text, err := io.ReadAll(req.Body)
	if err != nil {
		t.Fatalf("net/http refuses the body: %v", err)
	}
	rest, _ := io.ReadAll(reader)
	theirs := parsed{
		Start: req.Method + " " + req.RequestURI, Host: req.Host, Body: string(text), Rest: string(rest),
		Fields: req.Header, Length: req.ContentLength, Trailer: theirTrailers(req.Trailer),
	}
	if r.Body != ChunkedBody {
		theirs.Trailer = http.Header{}
	}
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Fatalf("(-net/http +ours):\n%s", diff)
	}
	if req.Close == r.KeepAlive {
		t.Fatalf("net/http: close %v, ours: keep-alive %v", req.Close, r.KeepAlive)
	}
}

func FuzzResponse(f *testing.F) {
	for _, s := range readShapes(f) {
		if strings.HasPrefix(s.file, "response") {
			f.Add(s.wire, strings.HasPrefix(s.name, "HEAD"))
		}
	}
	for _, test := range responseTests {
		f.Add(crlf(test.in), test.head)
	}
	f.Add([]byte(typicalResponse), false)
	f.Fuzz(func(t *testing.T, data []byte, head bool) {
		var r Response
		n, err := r.Parse(data, testLimits, head)
		reading := ""
		if n > 0 {
			reading = renderResponse(&r)
		}
		same(t, n, err, reading, func(step int) (int, string, error) {
			var r Response
			n, err := parseHead(&arrival{stream: data, step: step}, func(buf []byte) (int, error) { return r.Parse(buf, testLimits, head) })
			if n == 0 {
				return n, "", err
			}
			return n, renderResponse(&r), err
		})
		if err != nil && (n != 0 || err.(*Error).Status != 502) {
			t.Fatalf("n = %d, err = %v", n, err)
		}
		if n > 0 {
			compareResponse(t, &r, data, n, head)
		}
	})
}

func compareResponse(t *testing.T, r *Response, data []byte, n int, head bool) {
	t.Helper()
	b, left, err := readOurBody(data[n:], r.Body, r.ContentLength)
	if err != nil || !b.done || extensionBlanks.Match(data[n:]) {
		return
	}
	ours := parsed{
		Start: strings.TrimLeft(string(r.Reason), " "), Body: string(b.data), Rest: string(left),
		Fields: addFields(r.Fields, FieldTransferEncoding), Trailer: parseTrailers(b.trailers),
	}
	if r.chunked {
		ours.Fields = addFields(r.Fields, FieldTransferEncoding, FieldTrailer)
	}
	if r.closes && r.Minor == 1 {
		ours.Fields.Del("Connection") // net/http says it in Close
	}
	fixPragma(ours.Fields)

	method := http.MethodGet
	if head {
		method = http.MethodHead
	}
	reader := bufio.NewReaderSize(bytes.NewReader(data), 64<<10)
	res, err := http.ReadResponse(reader, &http.Request{Method: method})
	if err != nil {
		if strings.Contains(err.Error(), "bad trailer key") {
			return
		}
		t.Fatalf("net/http refuses the head: %v", err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("net/http refuses the body: %v", err)
	}
	rest, _ := io.ReadAll(reader)
	_, reason, _ := strings.Cut(res.Status, " ")
	theirs := parsed{
		Start: strings.TrimLeft(reason, " "), Body: string(text), Rest: string(rest),
		Fields: res.Header, Trailer: theirTrailers(res.Trailer),
	}
	if r.Body != ChunkedBody {
		theirs.Trailer = http.Header{}
	}
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Fatalf("(-net/http +ours):\n%s", diff)
	}
	if res.StatusCode != r.Status || r.KeepAlive && res.Close {
		t.Fatalf("net/http: %d, close %v; ours: %d, keep-alive %v", res.StatusCode, res.Close, r.Status, r.KeepAlive)
	}
}

// extensionBlanks finds what may be blanks before a chunk extension.
var extensionBlanks = regexp.MustCompile(`[0-9A-Fa-f][ \t]+;`)

func FuzzChunked(f *testing.F) {
	for _, s := range readShapes(f) {
		if s.file == "chunks" {
			_, body, _ := bytes.Cut(s.wire, []byte("\r\n\r\n"))
			f.Add(string(body))
		}
	}
	f.Add(string(typicalChunked()))
	f.Fuzz(func(t *testing.T, data string) {
		b, left, err := decode(data, 0)
		for _, step := range []int{1, 2, 5} {
			b2, left2, err2 := decode(data, step)
			if string(b2.data) != string(b.data) || b2.trailers != b.trailers || b2.done != b.done || (err2 != nil) != (err != nil) || err == nil && left2 != left {
				t.Fatalf("in steps of %d: %+v, %v; at once %+v, %v", step, b2, err2, b, err)
			}
		}
		if !b.done {
			return
		}
		writeAgain(t, b)
		if extensionBlanks.MatchString(data) {
			return
		}
		reader := bufio.NewReaderSize(strings.NewReader("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"+data), 64<<10)
		req, err := http.ReadRequest(reader)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(req.Body)
		if err != nil {
			t.Fatalf("net/http refuses the body: %v", err)
		}
		rest, _ := io.ReadAll(reader)
		theirs := parsed{Body: string(text), Rest: string(rest), Trailer: theirTrailers(req.Trailer)}
		ours := parsed{Body: string(b.data), Rest: left, Trailer: parseTrailers(b.trailers)}
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Fatalf("(-net/http +ours):\n%s", diff)
		}
	})
}

// writeAgain writes a body as a proxy does, and wants to read what it was.
func writeAgain(t *testing.T, b body) {
	t.Helper()
	var out []byte
	if len(b.data) > 0 {
		out = AppendChunkHead(out, len(b.data))
		out = append(append(out, b.data...), "\r\n"...)
	}
	var trailers []Field
	for line := range strings.Lines(b.trailers) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		trailers = append(trailers, Field{Name: []byte(name), Value: []byte(value)})
	}
	out = AppendLastChunk(out, trailers)
	again, left, err := decode(string(out), 0)
	if err != nil || left != "" || !again.done || string(again.data) != string(b.data) || again.trailers != b.trailers {
		t.Fatalf("written again as %q: %+v, %q, %v", out, again, left, err)
	}
}
