package accesslog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fieldOrder is the order that scripts rely on; docs_test.go holds the page against it.
var fieldOrder = strings.Fields(`time listener client_ip method host path protocol status bytes_in bytes_out
	duration_ms tenant application pool upstream_member upstream_attempts upstream_ms request_id user_agent`)

func sample() *Entry {
	return &Entry{
		Time:        time.Date(2026, 11, 29, 11, 0, 10, 512_900_000, time.FixedZone("CET", 3600)),
		Listener:    "http",
		ClientIP:    netip.MustParseAddr("203.0.113.9"),
		Method:      []byte("GET"),
		Host:        []byte("shop.example.com"),
		Path:        []byte("/cart?id=7&q=a%20b"),
		Protocol:    "HTTP/1.1",
		Status:      200,
		BytesIn:     0,
		BytesOut:    5120,
		Duration:    12*time.Millisecond + 340*time.Microsecond + 999*time.Nanosecond,
		Tenant:      "acme",
		Application: "shop",
		Pool:        "web",
		Member:      "198.51.100.10:8080",
		Attempts:    2,
		Upstream:    11 * time.Millisecond,
		RequestID:   []byte("5f0c2a9be1d34c77"),
		UserAgent:   []byte("curl/8.5.0"),
	}
}

func TestLineJSON(t *testing.T) {
	const want = `{"time":"2026-11-29T10:00:10.512Z","listener":"http","client_ip":"203.0.113.9","method":"GET",` +
		`"host":"shop.example.com","path":"/cart?id=7&q=a%20b","protocol":"HTTP/1.1","status":200,"bytes_in":0,` +
		`"bytes_out":5120,"duration_ms":12.34,"tenant":"acme","application":"shop","pool":"web",` +
		`"upstream_member":"198.51.100.10:8080","upstream_attempts":2,"upstream_ms":11,` +
		`"request_id":"5f0c2a9be1d34c77","user_agent":"curl/8.5.0"}` + "\n"
	if diff := cmp.Diff(want, string(appendEntry(nil, format{json: true}, &seconds{}, sample()))); diff != "" {
		t.Error(diff)
	}
}

func TestLineText(t *testing.T) {
	const want = `2026-11-29T10:00:10.512Z http 203.0.113.9 GET shop.example.com /cart?id=7&q=a%20b HTTP/1.1 ` +
		`200 0 5120 12.34 acme shop web 198.51.100.10:8080 2 11 5f0c2a9be1d34c77 curl/8.5.0` + "\n"
	if diff := cmp.Diff(want, string(appendEntry(nil, format{}, &seconds{}, sample()))); diff != "" {
		t.Error(diff)
	}
}

func TestLineEmpty(t *testing.T) {
	e := &Entry{Time: time.Unix(0, 0), Upstream: -1}
	tests := []struct {
		name string
		json bool
		want string
	}{
		{"json", true, `{"time":"1970-01-01T00:00:00.000Z","listener":"-","client_ip":"-","method":"-","host":"-","path":"-",` +
			`"protocol":"-","status":0,"bytes_in":0,"bytes_out":0,"duration_ms":0,"tenant":"-","application":"-","pool":"-",` +
			`"upstream_member":"-","upstream_attempts":0,"upstream_ms":0,"request_id":"-","user_agent":"-"}` + "\n"},
		{"text", false, "1970-01-01T00:00:00.000Z - - - - - - 0 0 0 0 - - - - 0 - - -\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, string(appendEntry(nil, format{json: tt.json}, &seconds{}, e))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLineClientIP(t *testing.T) {
	tests := []struct{ name, addr, want string }{
		{"ipv6", "2001:db8::5", "2001:db8::5"},
		{"mapped", "::ffff:192.0.2.1", "192.0.2.1"},
		{"zone", "fe80::1%eth0\"\n forged", "fe80::1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := sample()
			e.ClientIP = netip.MustParseAddr(tt.addr)
			got := parseJSON(t, appendEntry(nil, format{json: true}, &seconds{}, e))["client_ip"]
			if got != tt.want {
				t.Errorf("client_ip = %v, want %q", got, tt.want)
			}
		})
	}
}

// Lines share the text of a second, in whatever order requests began.
func TestLineTime(t *testing.T) {
	at := &seconds{}
	for _, want := range []string{
		"1970-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "2026-11-29T10:00:10.512Z", "2026-11-29T10:00:10.099Z",
		"2026-11-29T10:00:09.999Z", "2026-11-29T10:00:10.007Z", "2028-02-29T23:59:59.000Z", "1970-01-01T00:00:00.001Z",
	} {
		begun, err := time.Parse(time.RFC3339, want)
		if err != nil {
			t.Fatal(err)
		}
		begun = begun.In(time.FixedZone("IST", 19800)).Add(999 * time.Microsecond)
		if got := string(appendTime(nil, at, begun)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestLineMillis(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "0"},
		{999 * time.Nanosecond, "0"},
		{time.Microsecond, "0.001"},
		{10 * time.Microsecond, "0.01"},
		{100 * time.Microsecond, "0.1"},
		{time.Millisecond, "1"},
		{time.Second + 20*time.Microsecond, "1000.02"},
		{time.Hour + 123*time.Microsecond, "3600000.123"},
	}
	for _, tt := range tests {
		t.Run(tt.d.String(), func(t *testing.T) {
			if got := string(appendMillis(nil, tt.d)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Whatever a client sends, it gets one line, and cannot end it early.
func TestLineHostileValues(t *testing.T) {
	tests := []struct{ name, path, userAgent, json, text string }{
		{"line break", "/\r\nFAKE", "a\nb", `"path":"/\u000d\u000aFAKE"`, ` "/\x0d\x0aFAKE" `},
		{"percent encoded stays", "/%0d%0aFAKE", "x", `"path":"/%0d%0aFAKE"`, ` /%0d%0aFAKE `},
		{"escape sequence", "/\x1b[2J", "x", `"path":"/\u001b[2J"`, ` "/\x1b[2J" `},
		{"quotes", "/\",\"status\":200", "x", `"path":"/\",\"status\":200"`, ` "/\",\"status\":200" `},
		{"backslash", `/\u0022`, "x", `"path":"/\\u0022"`, ` "/\\u0022" `},
		{"space", "/a 200 0 0", "x", `"path":"/a 200 0 0"`, ` "/a\x20200\x200\x200" `},
		{"latin1", "/\x80\xff", "x", `"path":"/\u0080\u00ff"`, ` "/\x80\xff" `},
		{"utf-8", "/é", "x", `"path":"/\u00c3\u00a9"`, ` "/\xc3\xa9" `},
		{"nul and del", "/\x00\x7f", "x", `"path":"/\u0000\u007f"`, ` "/\x00\x7f" `},
		{"agent with spaces", "/", `Mozilla "5.0" (X11)`, `"user_agent":"Mozilla \"5.0\" (X11)"`, ` "Mozilla \"5.0\" (X11)"` + "\n"},
		{"64 KiB", "/" + strings.Repeat("\x80", 64<<10), "x", strings.Repeat(`\u0080`, 64<<10), strings.Repeat(`\x80`, 64<<10)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := sample()
			e.Path, e.UserAgent = []byte(tt.path), []byte(tt.userAgent)
			for _, f := range []struct {
				json bool
				part string
			}{{true, tt.json}, {false, tt.text}} {
				got := string(appendEntry(nil, format{json: f.json}, &seconds{}, e))
				if !strings.Contains(got, f.part) {
					t.Errorf("%.200q does not contain %.200q", got, f.part)
				}
				if n := strings.Count(got, "\n"); n != 1 || !strings.HasSuffix(got, "\n") {
					t.Errorf("%d line ends in %.200q", n, got)
				}
			}
			checkRoundTrip(t, e)
		})
	}
}

func FuzzEntry(f *testing.F) {
	f.Add([]byte("GET"), []byte("example.com"), []byte("/"), []byte("id"), []byte("curl/8"), "acme", 200, int64(1500))
	f.Add([]byte(" "), []byte("\""), []byte("\\x0a\n"), []byte("-"), []byte("\"-\" \x80\r"), "\x00", -1, int64(-1))
	f.Fuzz(func(t *testing.T, method, host, path, id, agent []byte, name string, number int, nanos int64) {
		checkRoundTrip(t, &Entry{
			Time: time.Unix(0, nanos), Listener: name, Method: method, Host: host, Path: path, Protocol: name,
			Status: number, BytesIn: nanos, BytesOut: -nanos, Duration: time.Duration(nanos), Tenant: name,
			Application: name, Pool: name, Member: name, Attempts: number, Upstream: time.Duration(nanos),
			RequestID: id, UserAgent: agent,
		})
	})
}

// checkRoundTrip holds that both formats give one ASCII line that parses back to the entry.
func checkRoundTrip(t *testing.T, e *Entry) {
	t.Helper()
	want := wantFields(e)
	for _, name := range []string{JSON, Text} {
		line := appendEntry(nil, format{json: name == JSON}, &seconds{}, e)
		if i := bytes.IndexFunc(line[:len(line)-1], func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
			t.Fatalf("%s: byte %#x at %d of %q", name, line[i], i, line)
		}
		if line[len(line)-1] != '\n' {
			t.Fatalf("%s: no line end in %q", name, line)
		}
		var got map[string]string
		if name == JSON {
			got = parseJSON(t, line)
		} else {
			got = parseText(t, line)
			if e.Upstream < 0 {
				got["upstream_ms"] = "0"
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: %q\n%s", name, line, diff)
		}
	}
}

func wantFields(e *Entry) map[string]string {
	text := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	millis := func(d time.Duration) string {
		return strconv.FormatFloat(float64(max(d, 0).Microseconds())/1000, 'f', -1, 64)
	}
	ip := "-"
	if e.ClientIP.IsValid() {
		ip = e.ClientIP.String()
	}
	return map[string]string{
		"time": e.Time.UTC().Format("2006-01-02T15:04:05.000Z"), "listener": text(e.Listener), "client_ip": ip,
		"method": text(string(e.Method)), "host": text(string(e.Host)), "path": text(string(e.Path)),
		"protocol": text(e.Protocol), "status": fmt.Sprint(e.Status), "bytes_in": fmt.Sprint(e.BytesIn),
		"bytes_out": fmt.Sprint(e.BytesOut), "duration_ms": millis(e.Duration), "tenant": text(e.Tenant),
		"application": text(e.Application), "pool": text(e.Pool), "upstream_member": text(e.Member),
		"upstream_attempts": fmt.Sprint(e.Attempts), "upstream_ms": millis(e.Upstream),
		"request_id": text(string(e.RequestID)), "user_agent": text(string(e.UserAgent)),
	}
}

// parseJSON reads a line with encoding/json, checks the order of its fields and gives the values as the
// bytes they were.
func parseJSON(t *testing.T, line []byte) map[string]string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	next := func() json.Token {
		token, err := dec.Token()
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return token
	}
	if next() != json.Delim('{') {
		t.Fatalf("%q is not an object", line)
	}
	fields := map[string]string{}
	for _, name := range fieldOrder {
		if got := next(); got != name {
			t.Fatalf("field %v, want %s", got, name)
		}
		switch v := next().(type) {
		case string:
			var b []byte
			for _, r := range v {
				if r > 0xff {
					t.Fatalf("%s: %q is not a byte", name, r)
				}
				b = append(b, byte(r))
			}
			fields[name] = string(b)
		case json.Number:
			fields[name] = v.String()
		default:
			t.Fatalf("%s: %T", name, v)
		}
	}
	if next() != json.Delim('}') {
		t.Fatalf("%q has more fields", line)
	}
	if _, err := dec.Token(); err != io.EOF {
		t.Fatalf("%q: more after the object", line)
	}
	return fields
}

// parseText splits at the first spaces, as awk would.
func parseText(t *testing.T, line []byte) map[string]string {
	t.Helper()
	columns := strings.SplitN(strings.TrimSuffix(string(line), "\n"), " ", len(fieldOrder))
	if len(columns) != len(fieldOrder) {
		t.Fatalf("%d columns in %q", len(columns), line)
	}
	fields := map[string]string{}
	for i, name := range fieldOrder {
		value := columns[i]
		if strings.HasPrefix(value, `"`) {
			unquoted, err := strconv.Unquote(value)
			if err != nil {
				t.Fatalf("%s: %q: %v", name, value, err)
			}
			value = unquoted
		}
		fields[name] = value
	}
	return fields
}

func BenchmarkAppendEntry(b *testing.B) {
	for _, name := range []string{JSON, Text} {
		b.Run(name, func(b *testing.B) {
			e, buf, at := sample(), make([]byte, 0, 1024), seconds{}
			e.UserAgent = []byte("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")
			b.ReportAllocs()
			for b.Loop() {
				buf = appendEntry(buf[:0], format{json: name == JSON}, &at, e)
			}
		})
	}
}
