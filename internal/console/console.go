// Package console serves the web console (docs/console.md): one page that shows pools, members and events to
// people.
//
// The page is a client of the admin API like any other. It reads ../v1/ and ../metrics as seen from where it is
// mounted, and this package knows neither who answers there nor who may ask. So the daemon's remote admin
// listener and scalwsctl serve the same page, each behind its own guard.
package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// Path is where the page is mounted, beside /v1/.
const Path = "/console/"

// policy lets the page load its own files and ask its own origin, and nothing else (CSP level 3). What the daemon
// says can be shown but never become markup: the page has no inline script or style, and no way of turning text
// into elements is left (require-trusted-types-for).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// The page's files. Those whose names begin with a dot or an underscore are left out by the compiler.
//
//go:embed page
var page embed.FS

// digestMark stands in index.html where the digest goes.
const digestMark = "{{digest}}"

// file is one file as it is sent.
type file struct {
	content     []byte
	contentType string
	// caching is the value of Cache-Control.
	caching string
	etag    string
}

// Handler serves the page below the path that is mounted at, which has been taken off: "" is the page itself. It
// answers GET and HEAD.
//
// The page names its other files with a digest of all of them in the path. They can be kept for ever, while the
// page is asked for each time: after an update of the program nobody sees half of the old one.
func Handler() http.Handler {
	files := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		Harden(header)
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			header.Set("Allow", "GET, HEAD")
			http.Error(w, "the console only takes GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		f, found := files[strings.TrimPrefix(r.URL.Path, "/")]
		if !found {
			header.Set("Cache-Control", "no-store")
			http.Error(w, "the console has no such file", http.StatusNotFound)
			return
		}
		header.Set("Content-Type", f.contentType)
		header.Set("Cache-Control", f.caching)
		header.Set("ETag", f.etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
	})
}

// Harden adds the fields that keep a browser from doing more with an answer than to show this page. They go with
// refusals too.
func Harden(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// load is every file by its path below the page.
func load() map[string]file {
	names, contents := read()
	all := sha256.New()
	for _, name := range names {
		all.Write([]byte(name + "\x00"))
		all.Write(contents[name])
	}
	digest := hex.EncodeToString(all.Sum(nil))[:16]
	files := make(map[string]file, len(names))
	for _, name := range names {
		f := file{
			content:     contents[name],
			contentType: contentType(name),
			caching:     "public, max-age=31536000, immutable",
		}
		at := digest + "/" + name
		if name == "index.html" {
			at, f.caching = "", "no-cache"
			f.content = bytes.ReplaceAll(f.content, []byte(digestMark), []byte(digest))
		}
		sum := sha256.Sum256(f.content)
		f.etag = `"` + hex.EncodeToString(sum[:8]) + `"`
		files[at] = f
	}
	return files
}

// read is what is embedded, by name; the names sorted.
func read() (names []string, contents map[string][]byte) {
	contents = make(map[string][]byte)
	entries, err := fs.ReadDir(page, "page")
	for _, e := range entries {
		if err == nil {
			contents[e.Name()], err = page.ReadFile("page/" + e.Name())
		}
		names = append(names, e.Name())
	}
	if err != nil {
		panic(err) // the compiler has put the files there
	}
	slices.Sort(names)
	return names, contents
}

// contentType does not ask the machine's own tables, which may call a script a text; the browser would not run it.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8" // RFC 9239 section 6
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}
