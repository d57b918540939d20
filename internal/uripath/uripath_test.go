package uripath

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for path, want := range map[string]string{
		"/":                      "/",
		"/a/b":                   "/a/b",
		"//a//b/":                "//a//b/",
		"/a/./b":                 "/a/b",
		"/a/../b":                "/b",
		"/a/..":                  "/",
		"/a/.":                   "/a/",
		"/a/b/..":                "/a/",
		"/..":                    "/",
		"/../../a":               "/a",
		"/a//../b":               "/a/b",
		"/a/...":                 "/a/...",
		"/a/.b/..c":              "/a/.b/..c",
		"/%61%2e%2E/%7euser":     "/a../~user",
		"/a/%2e%2e/b":            "/b",
		"/a/%2e":                 "/a/",
		"/a%2fb":                 "/a%2Fb",
		"/a/..%2fb":              "/a/..%2Fb",
		"/a%zz%":                 "/a%25zz%25",
		"/a%4":                   "/a%254",
		"/%%34%31":               "/%2541",
		"/%c3%bc":                "/%C3%BC",
		"/%252e":                 "/%252e",
		"/%2541":                 "/%2541",
		"/a;x=%31/b":             "/a;x=1/b",
		"/%00":                   "/%00",
		"/a%21%24%26%27%28%29":   "/a!$&'()",
		"/%2a%2b%2c%3b%3d%3a%40": "/*+,;=:@",
		"/a!$&'()*+,;=:@":        "/a!$&'()*+,;=:@",
		`/"<>\^{|}[]` + "`":      "/%22%3C%3E%5C%5E%7B%7C%7D%5B%5D%60",
		"/%22%3c%3E%5c":          "/%22%3C%3E%5C",
		"/%3f%23%25":             "/%3F%23%25",
		"/a/b/c/./../../g":       "/a/g",
		"/" + long("../", 50):    "/",
	} {
		t.Run(path, func(t *testing.T) {
			got := string(Clean(nil, []byte(path)))
			if got != want {
				t.Errorf("Clean(%q) = %q, want %q", path, got, want)
			}
			if again := string(Clean(nil, []byte(got))); again != got {
				t.Errorf("it is not clean: %q becomes %q", got, again)
			}
		})
	}
}

func long(s string, n int) string { return strings.Repeat(s, n) }

// FuzzClean holds that a clean path is a path, stays what it is, and has the segments of the path as net/url decodes them.
func FuzzClean(f *testing.F) {
	for _, path := range []string{"/", "/a/../b", "/%2e%2e/%2f", "/%%41", "/a/./", "/%2e%2e%2f.."} {
		f.Add([]byte(path))
	}
	f.Fuzz(func(t *testing.T, path []byte) {
		if len(path) == 0 || path[0] != '/' {
			return
		}
		before := bytes.Clone(path)
		clean := bytes.Clone(Clean(make([]byte, 0, 16), path))
		if !bytes.Equal(path, before) {
			t.Fatalf("Clean has changed %q to %q", before, path)
		}
		if len(clean) == 0 || clean[0] != '/' {
			t.Fatalf("Clean(%q) = %q", path, clean)
		}
		if again := Clean(nil, clean); !bytes.Equal(again, clean) {
			t.Fatalf("Clean(%q) = %q, which becomes %q", path, clean, again)
		}
		if sent, err := url.PathUnescape(string(path)); err == nil && !bytes.Contains(path, []byte{'.'}) && !strings.Contains(sent, ".") {
			if kept, err := url.PathUnescape(string(clean)); err != nil || kept != sent {
				t.Fatalf("Clean(%q) = %q, which means %q and not %q", path, clean, kept, sent)
			}
		}
		for segment := range bytes.SplitSeq(clean, []byte{'/'}) {
			if s := string(segment); s == "." || s == ".." {
				t.Fatalf("Clean(%q) = %q", path, clean)
			}
		}
	})
}

func BenchmarkClean(b *testing.B) {
	space := make([]byte, 0, 128)
	for name, path := range map[string]string{"clean": "/shop/articles/4711/picture.jpg", "encoded": "/shop/%61rticles/../4711/%7e"} {
		b.Run(name, func(b *testing.B) {
			p := []byte(path)
			b.ReportAllocs()
			for b.Loop() {
				Clean(space, p)
			}
		})
	}
}
