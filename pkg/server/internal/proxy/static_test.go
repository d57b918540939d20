package proxy

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestFileName(t *testing.T) {
	tests := map[string]string{ // a folder has a slash at its end
		"/":                   "./",
		"/a":                  "a",
		"/a/":                 "a/",
		"/a/b.html":           "a/b.html",
		"/a%20b%c3%A9":        "a bé",
		"/%61/b":              "a/b",
		"/a..b":               "a..b",
		"/a./b":               "a./b",
		"/100%25":             "100%",
		"":                    "",
		"a":                   "",
		"*":                   "",
		"//":                  "",
		"//a":                 "",
		"/a//b":               "",
		"/a//":                "",
		"/..":                 "",
		"/../a":               "",
		"/a/../b":             "",
		"/a/..":               "",
		"/./a":                "",
		"/%2e%2e/a":           "",
		"/%2e%2E%2fetc":       "",
		"/a%2fb":              "",
		"/a%00":               "",
		"/.git/config":        "",
		"/a/.htaccess":        "",
		"/%2ehtaccess":        "",
		"/a%2":                "",
		"/a%zz":               "",
		"/a%":                 "",
		"/a\\..\\b":           "a\\..\\b", // a name like any other here
		"/%252e%252e":         "%2e%2e",   // decoded once
		"/http://evil/b":      "",
		"/~user/a+b=c;d@e:f!": "~user/a+b=c;d@e:f!",
	}
	for target, want := range tests {
		name, folder, ok := fileName([]byte(target))
		if folder && ok {
			name += "/"
		}
		if name != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", target, name, ok, want)
		}
	}
}

// Whatever a client sends, what is opened is a name below the root that no segment of is hidden.
func FuzzFileName(f *testing.F) {
	for _, s := range []string{"/", "/a/b.html", "/%2e%2e/a", "/a%2fb/", "//", "/a%", "/%00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, target []byte) {
		name, _, ok := fileName(target)
		if !ok {
			return
		}
		if !filepath.IsLocal(name) || name != filepath.Clean(name) || strings.Contains("/"+name, "/.") && name != "." {
			t.Errorf("%q became %q", target, name)
		}
	})
}

func TestContentType(t *testing.T) {
	for name, want := range map[string]string{
		"index.html": "text/html; charset=utf-8", "A.HTM": "text/html; charset=utf-8", "app.min.js": "text/javascript; charset=utf-8",
		"logo.svg": "image/svg+xml", "font.woff2": "font/woff2", "archive.tar.gz": "application/gzip",
		"README": "application/octet-stream", "x.": "application/octet-stream", "page.php": "application/octet-stream",
	} {
		if got := contentType(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
