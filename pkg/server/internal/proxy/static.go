package proxy

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/scalws/scalws/pkg/server/internal/http1"
)

// Static answers with the files of a folder.
type Static struct {
	// Root is the folder. It is opened for each request, so that a link that is put into its place, as deployments do,
	// counts from the next request on.
	Root string
	// Index is the name of the file that answers for a folder.
	Index string
}

// mostRanges is how many ranges of a file one request gets. A request for more gets the whole file (RFC 9110 section
// 14.2 lets us): that many small ones are no download.
const mostRanges = 16

// answerStatic answers with a file.
func (x *exchange) answerStatic(s *Static) {
	if x.req.Method != http1.GET && x.req.Method != http1.HEAD {
		x.reject(405, "files are only read", "Allow", "GET, HEAD")
		return
	}
	target, _, _ := bytes.Cut(x.req.Path, []byte("?"))
	name, folder, ok := fileName(target)
	if !ok {
		x.noFile()
		return
	}
	f, info, err := s.open(name, folder)
	if err == errFolder && x.asksFolder() {
		f, info, err = s.open(name, true) // its slash was rewritten
	}
	switch {
	case err == nil:
		defer f.Close()
	case err == errFolder:
		x.intoFolder()
		return
	case errors.Is(err, os.ErrPermission):
		x.reject(403, "the file cannot be read")
		return
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		x.reject(503, "there is no room for another file", "Retry-After", "1")
		return
	default:
		x.noFile()
		return
	}
	modified := info.ModTime()
	if modified.After(x.now) {
		modified = x.now // RFC 9110 section 8.8.2.1
	}
	w := &fileAnswer{x: x, header: http.Header{}}
	w.header.Set("Content-Type", contentType(info.Name()))
	w.header.Set("ETag", entityTag(info))
	x.settle()
	x.askForFile(&w.request)
	http.ServeContent(w, &w.request, "", modified, f)
	w.end()
}

func (x *exchange) noFile() { x.reject(404, "there is no such file") }

// errFolder is a folder that was asked for as if it were a file.
var errFolder = errors.New("opening file: is a folder")

// open opens a file below the root. What leads out of it, by a link or otherwise, is not there (os.Root), and what is
// neither a file nor a folder is not opened for reading.
func (s *Static) open(name string, folder bool) (*os.File, os.FileInfo, error) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	if folder {
		name = path.Join(name, s.Index)
	}
	// Opening a pipe would wait for who writes to it.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir() && !folder:
		err = errFolder
	case !info.Mode().IsRegular():
		err = os.ErrNotExist
	default:
		return f, info, nil
	}
	f.Close()
	return nil, nil, err
}

// fileName is the name below the root that the path of a request means, decoded once, and whether it means a folder. It
// is not ok for a path with an empty segment, one that begins with a dot (hidden files, and . and ..), or one that has a
// slash or a NUL in it when it is decoded.
func fileName(target []byte) (name string, folder, ok bool) {
	if len(target) == 0 || target[0] != '/' {
		return "", false, false
	}
	if len(target) == 1 {
		return ".", true, true
	}
	rest, folder := strings.CutSuffix(string(target[1:]), "/")
	segments := strings.Split(rest, "/")
	for i, s := range segments {
		s, ok = unescape(s)
		if !ok || s == "" || s[0] == '.' || strings.ContainsAny(s, "/\x00") {
			return "", false, false
		}
		segments[i] = s
	}
	return strings.Join(segments, "/"), folder, true
}

// unescape decodes a segment (RFC 3986 section 2.1).
func unescape(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), true
}

// asksFolder is true if the path ends with a slash as the client has sent it, before it was rewritten.
func (x *exchange) asksFolder() bool {
	path, _, _ := bytes.Cut(x.asked.Path, []byte("?"))
	return bytes.HasSuffix(path, []byte("/"))
}

// intoFolder sends the client to its path with a slash at the end, so that what the index names relatively is found. The
// place is relative too: written so it cannot lead to another host, whatever the path looks like.
func (x *exchange) intoFolder() {
	target, query, asked := strings.Cut(string(x.asked.Path), "?")
	to := "./" + path.Base(target) + "/"
	if asked {
		to += "?" + query
	}
	x.sendTo(301, to, to)
}

// entityTag is a strong validator (RFC 9110 section 8.8.1) out of when a file was changed and how large it is.
func entityTag(info os.FileInfo) string {
	var space [32]byte
	tag := append(space[:0], '"')
	tag = strconv.AppendInt(tag, info.ModTime().UnixNano(), 36)
	tag = append(tag, '-')
	tag = strconv.AppendInt(tag, info.Size(), 36)
	return string(append(tag, '"'))
}

// askForFile is what net/http has to know of the request to find out which part of a file is asked for. A range counts
// for GET only, and in bytes (RFC 9110 section 14.2).
func (x *exchange) askForFile(r *http.Request) {
	r.Method = http.MethodGet
	if x.req.Method == http1.HEAD {
		r.Method = http.MethodHead
	}
	for _, name := range [...]string{"if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range"} {
		if value := x.header(name); value != nil {
			if r.Header == nil {
				r.Header = http.Header{}
			}
			r.Header.Set(name, string(value))
		}
	}
	ranges := r.Header.Get("Range")
	if x.req.Method != http1.GET || !strings.HasPrefix(ranges, "bytes=") || strings.Count(ranges, ",") >= mostRanges {
		r.Header.Del("Range")
	}
}

// fileAnswer is the answer that net/http writes into the exchange. Bytes go to the client as they are read, so that a
// file of whatever size takes one buffer. What net/http says in place of a file is said in our own words.
type fileAnswer struct {
	x       *exchange
	request http.Request // as far as it is about the file
	header  http.Header
	started bool
	refused int // the status that was written in place of the file
	left    int64
	failed  error
}

// Header implements [http.ResponseWriter].
func (w *fileAnswer) Header() http.Header { return w.header }

// WriteHeader writes the head.
func (w *fileAnswer) WriteHeader(status int) {
	if status >= 400 {
		w.refused = status
		return
	}
	x := w.x
	w.started = true
	x.startAnswer(status)
	out := x.c.out
	for _, name := range [...]string{"Content-Type", "Content-Length", "Content-Range", "Accept-Ranges", "ETag", "Last-Modified"} {
		if value := w.header.Get(name); value != "" {
			out = x.appendOwn(out, name, value)
		}
	}
	x.c.out = append(x.appendConnection(x.appendEdited(out)), "\r\n"...)
	if status != 304 && x.req.Method != http1.HEAD {
		w.left, w.failed = strconv.ParseInt(w.header.Get("Content-Length"), 10, 64)
	}
}

// Write sends a piece of the body.
func (w *fileAnswer) Write(p []byte) (int, error) {
	switch {
	case w.refused != 0:
		return len(p), nil
	case w.failed == nil:
		w.left -= int64(len(p))
		w.failed = w.x.emit(p, false)
	}
	if w.failed != nil {
		return 0, w.failed
	}
	return len(p), nil
}

// ReadFrom sends a body with a buffer that is lent.
func (w *fileAnswer) ReadFrom(from io.Reader) (int64, error) {
	buf := w.x.c.borrow()
	defer w.x.c.giveBack(buf)
	return io.CopyBuffer(struct{ io.Writer }{w}, from, buf)
}

// end sends what is left, or says why there is no file. A file that became shorter while it was sent ends the
// connection: its length was told.
func (w *fileAnswer) end() {
	x := w.x
	switch {
	case !w.started && w.refused == 416:
		x.answer(416, "the file does not have that range", "Content-Range", w.header.Get("Content-Range"))
	case !w.started && w.refused == 412:
		x.answer(412, "the file is another one now")
	case !w.started:
		x.answer(500, "the file cannot be read")
	case w.failed != nil:
		x.leftEarly()
	case w.left != 0:
		x.keep, x.cutOff = false, true
		x.endAnswer()
	default:
		x.endAnswer()
	}
	x.now = time.Now() // files take their time, too
}
