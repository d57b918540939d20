package server_test

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
)

// folder is a folder with files, by their names.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "www")
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func static(root string) string { return fmt.Sprintf("{type: static, root: %q}", root) }

func site(t testing.TB) string {
	return folder(t, map[string]string{
		"index.html": "home", "a b.txt": "spaces", "app.js": "js", "data": "0123456789", "docs/index.html": "docs", "docs/a.css": "css",
		"empty/x": "", ".env": "secret", ".git/config": "secret", "../outside.txt": "secret",
	})
}

func TestStaticFiles(t *testing.T) {
	root := site(t)
	for from, to := range map[string]string{
		"inside.txt": "a b.txt", "up.txt": "../outside.txt", "abs.txt": filepath.Join(filepath.Dir(root), "outside.txt"), "loop": "loop",
		"tree": "docs", "uptree": "..",
	} {
		if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := servertest.Start(t, servertest.Setup{Runtime: static(root)})
	tests := []struct{ path, want string }{
		{"/", "200 text/html; charset=utf-8 home"},
		{"/?a=1", "200 text/html; charset=utf-8 home"},
		{"/index.html", "200 text/html; charset=utf-8 home"},
		{"/a%20b.txt", "200 text/plain; charset=utf-8 spaces"},
		{"/app.js?v=/../2", "200 text/javascript; charset=utf-8 js"},
		{"/data", "200 application/octet-stream 0123456789"},
		{"/docs/", "200 text/html; charset=utf-8 docs"},
		{"/docs/a.css", "200 text/css; charset=utf-8 css"},
		{"/inside.txt", "200 text/plain; charset=utf-8 spaces"},
		{"/tree/a.css", "200 text/css; charset=utf-8 css"},
		{"/empty/x", "200 application/octet-stream "},
		{"/empty/", "404"},
		{"/nothing", "404"},
		{"/data/", "404"},
		{"/data/x", "404"},
		{"//data", "404"},
		{"/docs//a.css", "404"},
		{"/.env", "404"},
		{"/%2eenv", "404"},
		{"/.git/config", "404"},
		{"/../outside.txt", "404"},
		{"/docs/../data", "404"},
		{"/%2e%2e/outside.txt", "404"},
		{"/..%2foutside.txt", "404"},
		{"/up.txt", "404"},
		{"/abs.txt", "404"},
		{"/uptree/outside.txt", "404"},
		{"/loop", "404"},
		{"/pipe", "404"},
		{"/a%00", "404"},
		{"/" + strings.Repeat("x", 300), "404"},
	}
	for _, tt := range tests {
		r := d.Get(tt.path)
		got := fmt.Sprintf("%d %s %s", r.Status, r.Header.Get("Content-Type"), r.Body)
		if r.Status != 200 {
			got = fmt.Sprint(r.Status)
		}
		if got != tt.want || r.Status == 200 && len(r.Header["Date"]) != 1 {
			t.Errorf("%s: got %s, want %s", tt.path, got, tt.want)
		}
		if strings.Contains(r.Body, "secret") {
			t.Errorf("%s gives out a secret", tt.path)
		}
	}
}

// A folder without the slash at its end leads to the one with it, never to another host.
func TestStaticFolder(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{Runtime: static(site(t))})
	for path, want := range map[string]string{"/docs": "./docs/", "/docs?x=//evil": "./docs/?x=//evil", "/%64ocs": "./%64ocs/"} {
		if r := d.Get(path); r.Status != 301 || r.Header.Get("Location") != want {
			t.Errorf("%s: got %s, want %s", path, r.Head, want)
		}
	}
}

func TestStaticMethods(t *testing.T) {
	m := named(t, "member")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m), Runtime: static(site(t))})
	c := servertest.Dial(t, d.Address)
	c.Send("POST /data HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nabcd")
	if r := c.Final("POST"); r.Status != 405 || strings.Join(r.Fields("Allow"), "|") != "GET, HEAD" || closes(r) {
		t.Errorf("got %s", r.Head)
	}
	c.Send("HEAD /data HTTP/1.1\r\nHost: h\r\nRange: bytes=2-3\r\n\r\n")
	if r := c.Final("HEAD"); r.Status != 200 || r.Header.Get("Content-Length") != "10" || r.Header.Get("ETag") == "" {
		t.Errorf("got %s", r.Head)
	}
	c.Send("GET /data HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if r := c.Final("GET"); r.Status != 200 || r.Body != "0123456789" {
		t.Errorf("an upgrade is ignored: got %s", r.Head)
	}
	if l := d.Lines(3); l[2]["bytes_out"] != 10.0 || l[2]["application"] != "a" || l[2]["pool"] != "-" || l[1]["bytes_out"] != 0.0 {
		t.Errorf("the log says %v", l)
	}
}

func TestStaticConditions(t *testing.T) {
	root := site(t)
	when := time.Date(2026, 11, 29, 10, 0, 0, 123, time.UTC)
	if err := os.Chtimes(filepath.Join(root, "data"), when, when); err != nil {
		t.Fatal(err)
	}
	d := servertest.Start(t, servertest.Setup{Runtime: static(root)})
	first := d.Get("/data")
	tag, modified := first.Header.Get("ETag"), first.Header.Get("Last-Modified")
	if modified != "Sun, 29 Nov 2026 10:00:00 GMT" || len(tag) < 5 || tag[0] != '"' {
		t.Fatalf("got %s", first.Head)
	}
	const old, young = "Sat, 28 Nov 2026 10:00:00 GMT", "Mon, 30 Nov 2026 10:00:00 GMT"
	tests := []struct {
		name   string
		fields []string
		want   string
	}{
		{"the same tag", []string{"If-None-Match: " + tag}, "304 "},
		{"among others", []string{`If-None-Match: "x"`, "If-None-Match: " + tag}, "304 "},
		{"a weak one", []string{"If-None-Match: W/" + tag}, "304 "},
		{"any", []string{"If-None-Match: *"}, "304 "},
		{"another tag", []string{`If-None-Match: "x"`}, "200 0123456789"},
		{"the tag wins over the date", []string{`If-None-Match: "x"`, "If-Modified-Since: " + young}, "200 0123456789"},
		{"not modified", []string{"If-Modified-Since: " + modified}, "304 "},
		{"modified", []string{"If-Modified-Since: " + old}, "200 0123456789"},
		{"no date", []string{"If-Modified-Since: yesterday"}, "200 0123456789"},
		{"not the one", []string{`If-Match: "x"`}, "412 412 Precondition Failed: the file is another one now\n"},
		{"the one", []string{"If-Match: " + tag}, "200 0123456789"},
		{"modified meanwhile", []string{"If-Unmodified-Since: " + old}, "412 412 Precondition Failed: the file is another one now\n"},
		{"a range", []string{"Range: bytes=2-4"}, "206 bytes 2-4/10 234"},
		{"the last bytes", []string{"Range: bytes=-3"}, "206 bytes 7-9/10 789"},
		{"from there on", []string{"Range: bytes=8-"}, "206 bytes 8-9/10 89"},
		{"longer than the file", []string{"Range: bytes=5-500"}, "206 bytes 5-9/10 56789"},
		{"behind the end", []string{"Range: bytes=10-"}, "416 bytes */10 416 Range Not Satisfiable: the file does not have that range\n"},
		{"another unit", []string{"Range: lines=1-2"}, "200 0123456789"},
		{"no range", []string{"Range: bytes=x"}, "416 416 Range Not Satisfiable: the file does not have that range\n"},
		{"a range of the same", []string{"Range: bytes=2-4", "If-Range: " + tag}, "206 bytes 2-4/10 234"},
		{"a range of another one", []string{"Range: bytes=2-4", `If-Range: "x"`}, "200 0123456789"},
		{"a range of a weak tag", []string{"Range: bytes=2-4", "If-Range: W/" + tag}, "200 0123456789"},
		{"a range of that date", []string{"Range: bytes=2-4", "If-Range: " + modified}, "206 bytes 2-4/10 234"},
		{"too many ranges", []string{"Range: bytes=" + strings.Repeat("0-0,", 16) + "1-1"}, "200 0123456789"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := d.Get("/data", tt.fields...)
			got := fmt.Sprintf("%d ", r.Status)
			if c := r.Header.Get("Content-Range"); c != "" {
				got += c + " "
			}
			if got += r.Body; got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if r.Status == 304 && (r.Header.Get("ETag") != tag || len(r.Header["Content-Type"]) > 0) {
				t.Errorf("got %s", r.Head)
			}
		})
	}
	if err := os.WriteFile(filepath.Join(root, "data"), []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := d.Get("/data", "If-None-Match: "+tag); r.Status != 200 || r.Body != "new" {
		t.Errorf("after a change: %s%s", r.Head, r.Body)
	}
}

func TestStaticSeveralRanges(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{Runtime: static(site(t))})
	r := d.Get("/data", "Range: bytes=0-1,5-6")
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.Status != 206 {
		t.Fatalf("got %s, %v", r.Head, err)
	}
	var got []string
	for parts := multipart.NewReader(strings.NewReader(r.Body), params["boundary"]); ; {
		p, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(p)
		got = append(got, p.Header.Get("Content-Range")+" "+string(text))
	}
	if diff := cmp.Diff([]string{"bytes 0-1/10 01", "bytes 5-6/10 56"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// largeFile makes a file of some MiB that takes no disk, with a last byte of its own.
func largeFile(t testing.TB, root string, mib int64) (size int64) {
	t.Helper()
	f, err := os.Create(filepath.Join(root, "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size = mib << 20
	if _, err := f.WriteAt([]byte("!"), size-1); err != nil {
		t.Fatal(err)
	}
	return size
}

// A large file goes out whole, over both protocols and TLS, without being held in memory.
func TestStaticLargeFile(t *testing.T) {
	root := site(t)
	size := largeFile(t, root, 256)
	clear, tls := servertest.Setup{Runtime: static(root), Listener: "h2c: true"}, servertest.Setup{Runtime: static(root)}
	d := servertest.Start(t, clear)
	secure, config := front(t, tls)
	for name, client := range map[string]*http.Client{
		"HTTP/1.1": {Transport: &http.Transport{DisableKeepAlives: true}},
		"h2c":      servertest.HTTP2(t, d.Address, nil),
		"h2":       servertest.HTTP2(t, secure.Address, config),
	} {
		t.Run(name, func(t *testing.T) {
			url := "http://" + d.Address + "/large"
			if name == "h2" {
				url = "https://h.example/large"
			}
			r, err := client.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			if r.StatusCode != 200 || r.ContentLength != size {
				t.Fatalf("got %s, %d bytes", r.Status, r.ContentLength)
			}
			var most uint64
			var last byte
			var n int64
			buf := make([]byte, 1<<20)
			for {
				m, err := r.Body.Read(buf)
				if n += int64(m); m > 0 {
					last = buf[m-1]
				}
				if n%(16<<20) < int64(m) {
					var s runtime.MemStats
					runtime.ReadMemStats(&s)
					most = max(most, s.HeapAlloc)
				}
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if n != size || last != '!' {
				t.Errorf("%d bytes of %d, the last is %q", n, size, last)
			}
			if most > 64<<20 {
				t.Errorf("%d bytes in memory", most)
			}
		})
	}
}

// A client that stops reading is cut after idle_timeout, over both protocols, and one that is slow is not.
func TestStaticClientStopsReading(t *testing.T) {
	root := site(t)
	largeFile(t, root, 64)
	d := servertest.Start(t, servertest.Setup{Runtime: static(root), Listener: "h2c: true", Server: []string{"idle_timeout: 300ms"}})
	nc, err := net.Dial("tcp", d.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	began := time.Now()
	io.WriteString(nc, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
	if l := d.Lines(1)[0]; l["status"] != 499.0 {
		t.Errorf("the log says %v", l)
	}
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("cut after %v", took)
	}
	if n, err := io.Copy(io.Discard, nc); err == nil && n >= 64<<20 {
		t.Errorf("all %d bytes came", n)
	}

	client := servertest.HTTP2(t, d.Address, nil)
	r, err := client.Get("http://h/large")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if l := d.Lines(2)[1]; l["status"] != 499.0 || l["protocol"] != "HTTP/2.0" {
		t.Errorf("the log says %v", l)
	}
	if _, err := io.Copy(io.Discard, r.Body); err == nil {
		t.Error("the answer ended well")
	}
}

// A file that becomes shorter while it is sent ends the connection: the client can tell.
func TestStaticFileIsCut(t *testing.T) {
	root := site(t)
	size := largeFile(t, root, 64)
	d := servertest.Start(t, servertest.Setup{Runtime: static(root)})
	c := servertest.Dial(t, d.Address)
	c.Send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
	if head := c.Read(15); head != "HTTP/1.1 200 OK" {
		t.Fatalf("got %q", head)
	}
	if err := os.Truncate(filepath.Join(root, "large"), 1<<20); err != nil {
		t.Fatal(err)
	}
	if text, err := c.Rest(); int64(len(text)) >= size || err != nil {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
}

// A link that is put into the place of the folder counts from the next request on.
func TestStaticFolderIsReplaced(t *testing.T) {
	one, two := folder(t, map[string]string{"f": "one"}), folder(t, map[string]string{"f": "two"})
	link := filepath.Join(t.TempDir(), "current")
	if err := os.Symlink(one, link); err != nil {
		t.Fatal(err)
	}
	d := servertest.Start(t, servertest.Setup{Runtime: static(link)})
	if r := d.Get("/f"); r.Body != "one" {
		t.Fatalf("got %s%s", r.Head, r.Body)
	}
	if err := os.Symlink(two, link+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+".new", link); err != nil {
		t.Fatal(err)
	}
	if r := d.Get("/f"); r.Body != "two" {
		t.Errorf("got %s%s", r.Head, r.Body)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if r := d.Get("/f"); r.Status != 404 {
		t.Errorf("without a folder: %s", r.Head)
	}
}

// BenchmarkStaticFile is a small file through the daemon, client included.
func BenchmarkStaticFile(b *testing.B) {
	root := folder(b, map[string]string{"index.html": strings.Repeat("x", 1000) + "hello\n"})
	d := servertest.Start(b, servertest.Setup{Runtime: static(root)})
	c, err := net.Dial("tcp", d.Address)
	if err != nil {
		b.Fatal(err)
	}
	once := quietRequests(b, c)
	b.ReportAllocs()
	for b.Loop() {
		once()
	}
}

// BenchmarkStaticLargeFile is a file of 16 MiB.
func BenchmarkStaticLargeFile(b *testing.B) {
	root := folder(b, map[string]string{"large": ""})
	size := largeFile(b, root, 16)
	d := servertest.Start(b, servertest.Setup{Runtime: static(root)})
	c, err := net.Dial("tcp", d.Address)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	b.SetBytes(size)
	buf := make([]byte, 256<<10)
	for b.Loop() {
		io.WriteString(c, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
		n, err := c.Read(buf)
		if err != nil {
			b.Fatal(err)
		}
		for left := size - int64(n-bytes.Index(buf[:n], []byte("\r\n\r\n"))-4); left > 0; left -= int64(n) {
			if n, err = c.Read(buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}
