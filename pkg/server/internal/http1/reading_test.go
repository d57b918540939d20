package http1

import (
	"bytes"
	"fmt"
	"strings"
)

var testLimits = Limits{Head: 4096, Fields: 32, Target: 1024}

// arrival hands out longer and longer beginnings of a stream, step bytes more at a time, each in an
// array of its own; the one before is overwritten, so that a slice kept from it shows.
type arrival struct {
	stream []byte
	step   int // 0: all at once
	taken  int // bytes of the stream that were used up
	given  int
	last   []byte
}

// more returns the bytes that have arrived and are not used up, or ok false when no more come.
func (a *arrival) more() (buf []byte, ok bool) {
	if a.given == len(a.stream) && a.last != nil {
		return nil, false
	}
	a.given += a.step
	if a.step == 0 || a.given > len(a.stream) {
		a.given = len(a.stream)
	}
	return a.again(), true
}

// again returns what more did last, less what was used up since.
func (a *arrival) again() []byte {
	for i := range a.last {
		a.last[i] = '#'
	}
	a.last = append([]byte{}, a.stream[a.taken:a.given]...)
	return a.last
}

// parseHead feeds a parser until the head is whole, cannot be, or the stream ends.
func parseHead(a *arrival, parse func([]byte) (int, error)) (n int, err error) {
	if a.last != nil && a.given > a.taken {
		if n, err = parse(a.again()); n > 0 || err != nil {
			return n, err
		}
	}
	for {
		buf, ok := a.more()
		if !ok {
			return 0, nil
		}
		if n, err = parse(buf); n > 0 || err != nil {
			return n, err
		}
	}
}

// body is what was read of a chunked body.
type body struct {
	data     []byte
	trailers string
	done     bool
}

func readChunks(a *arrival) (b body, err error) {
	var c Chunked
	buf := a.again()
	for {
		data, n, done, err := c.Next(buf)
		if err != nil {
			return b, err
		}
		b.data = append(b.data, data...)
		if done {
			b.trailers = renderFields(c.Trailers)
			b.done = true
			a.taken += n
			return b, nil
		}
		if a.taken += n; n > 0 {
			buf = a.again()
			continue
		}
		var ok bool
		if buf, ok = a.more(); !ok {
			return b, nil
		}
	}
}

// readLength reads a body of n bytes.
func readLength(a *arrival, n int64) (b body) {
	n = min(n, int64(len(a.stream)-a.taken))
	b.data = a.stream[a.taken : a.taken+int(n)]
	a.taken += int(n)
	a.given = max(a.given, a.taken)
	b.done = true
	return b
}

func renderFields(fields []Field) string {
	var out strings.Builder
	for _, f := range fields {
		hop := ""
		if f.Hop {
			hop = " (hop)"
		}
		fmt.Fprintf(&out, "%s: %s%s\n", f.Name, f.Value, hop)
	}
	return out.String()
}

func renderRequest(r *Request) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s HTTP/1.%d\npath %s\nhost %s\nbody %d length %d %v\nkeep-alive %v expect %v upgrade %q trailers %v\n",
		r.MethodText, r.Target, r.Minor, r.Path, r.Host, r.Body, r.ContentLength, r.HasLength,
		r.KeepAlive, r.Expect100, r.Upgrade, r.TrailersOK)
	out.WriteString(renderFields(r.Fields))
	return out.String()
}

func renderResponse(r *Response) string {
	var out strings.Builder
	fmt.Fprintf(&out, "HTTP/1.%d %d %s\nbody %d length %d %v chunked %v\nkeep-alive %v upgrade %q date %v\n",
		r.Minor, r.Status, r.Reason, r.Body, r.ContentLength, r.HasLength, r.Chunked, r.KeepAlive, r.Upgrade, r.HasDate)
	out.WriteString(renderFields(r.Fields))
	return out.String()
}

// refusal is the status and the reason of a refusal in one line.
func refusal(err error) string {
	e := err.(*Error)
	return fmt.Sprintf("%d %s", e.Status, e.Reason)
}

// converse reads requests as a server does that answers each and stops at the first that it refuses:
// one line for each request, "METHOD path host" and its body, and one for how it ended.
func converse(stream []byte, step int) []string {
	var lines []string
	a := &arrival{stream: stream, step: step}
	var r Request
	for {
		r.Reset()
		n, err := parseHead(a, func(buf []byte) (int, error) { return r.Parse(buf, testLimits) })
		switch {
		case err != nil:
			return append(lines, refusal(err))
		case n == 0 && a.taken == len(stream):
			return append(lines, "end")
		case n == 0:
			return append(lines, "unfinished head")
		}
		line := fmt.Sprintf("%s %s %s", r.MethodText, r.Path, r.Host)
		framing, length, keepAlive := r.Body, r.ContentLength, r.KeepAlive
		a.taken += n
		b := body{done: true}
		switch framing {
		case ChunkedBody:
			b, err = readChunks(a)
		case Length:
			b = readLength(a, length)
		}
		if len(b.data) > 0 {
			line += fmt.Sprintf(" %q", b.data)
		}
		if b.trailers != "" {
			line += fmt.Sprintf(" trailers %q", b.trailers)
		}
		lines = append(lines, line)
		switch {
		case err != nil:
			return append(lines, refusal(err))
		case !b.done:
			return append(lines, "unfinished body")
		case !keepAlive:
			return append(lines, "close")
		}
	}
}

// answer reads one response, final or interim, to a GET or a HEAD.
func answer(stream []byte, step int, head bool) []string {
	a := &arrival{stream: stream, step: step}
	var r Response
	n, err := parseHead(a, func(buf []byte) (int, error) { return r.Parse(buf, testLimits, head) })
	if err != nil {
		return []string{refusal(err)}
	}
	if n == 0 {
		return []string{"unfinished head"}
	}
	line := fmt.Sprintf("%d", r.Status)
	framing, length, keepAlive := r.Body, r.ContentLength, r.KeepAlive
	a.taken += n
	b := body{done: true}
	switch framing {
	case ChunkedBody:
		b, err = readChunks(a)
	case Length:
		b = readLength(a, length)
	case UntilClose:
		b = readLength(a, int64(len(stream)))
	}
	if len(b.data) > 0 {
		line += fmt.Sprintf(" %q", b.data)
	}
	if b.trailers != "" {
		line += fmt.Sprintf(" trailers %q", b.trailers)
	}
	lines := []string{line}
	switch rest := stream[a.taken:]; {
	case err != nil:
		lines = append(lines, refusal(err))
	case !b.done:
		lines = append(lines, "unfinished body")
	case !keepAlive:
		lines = append(lines, "close")
	case len(rest) > 0:
		lines = append(lines, fmt.Sprintf("left over %q", rest))
	default:
		lines = append(lines, "end")
	}
	return lines
}

// crlf turns the line ends of a test's text into those of HTTP.
func crlf(text string) []byte {
	return bytes.ReplaceAll([]byte(text), []byte("\n"), []byte("\r\n"))
}
