package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/servertest"
)

// Where a path was rewritten, the client is sent to its own path with a slash, and not to a folder that only we know.
func TestStaticFolderOfRewrittenPath(t *testing.T) {
	d := servertest.Start(t, application(t, named(t, "a")[0].Address(), key("routes:"),
		key(`  - {path: /manual, rewrite: {replace: {regex: "^/manual/?", with: /docs}}, runtime: `+static(site(t))+`}`)))
	for path, want := range map[string]string{"/manual": "301 ./manual/", "/manual?a": "301 ./manual/?a"} {
		if r := d.Get(path); r.Header.Get("Location") != want[4:] || r.Status != 301 {
			t.Errorf("%s: got %s, want %s", path, r.Head, want)
		}
	}
	if r := d.Get("/manual/"); r.Status != 200 || r.Body != "docs" {
		t.Errorf("with the slash: %s%s", r.Head, r.Body)
	}
}

// A file of tomorrow was not changed later than it is sent.
func TestStaticFileOfTheFuture(t *testing.T) {
	root, future := site(t), time.Now().Add(24*time.Hour)
	if err := os.Chtimes(filepath.Join(root, "data"), future, future); err != nil {
		t.Fatal(err)
	}
	r := servertest.Start(t, servertest.Setup{Runtime: static(root)}).Get("/data")
	modified, err := http.ParseTime(r.Header.Get("Last-Modified"))
	if sent, _ := http.ParseTime(r.Header.Get("Date")); err != nil || modified.After(sent) {
		t.Errorf("got %s", r.Head)
	}
}
