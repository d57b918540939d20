package console

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// get asks the handler as it is mounted.
func get(t *testing.T, method, path string, fields ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	http.StripPrefix(strings.TrimSuffix(Path, "/"), Handler()).ServeHTTP(w, r)
	return w.Result()
}

// paths are the files by their names, as the page has them.
func paths(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for at := range load() {
		all[filepath.Base(Path+at)] = Path + at
	}
	return all
}

func TestTypesAndCaching(t *testing.T) {
	const forever = "public, max-age=31536000, immutable"
	for name, want := range map[string]struct{ contentType, caching string }{
		"console":   {"text/html; charset=utf-8", "no-cache"},
		"app.js":    {"text/javascript; charset=utf-8", forever},
		"style.css": {"text/css; charset=utf-8", forever},
		"icon.svg":  {"image/svg+xml", forever},
	} {
		t.Run(name, func(t *testing.T) {
			r := get(t, "GET", paths(t)[name])
			if r.StatusCode != 200 || r.Header.Get("Content-Type") != want.contentType || r.Header.Get("Cache-Control") != want.caching {
				t.Errorf("status %d, Content-Type %q, Cache-Control %q", r.StatusCode, r.Header.Get("Content-Type"), r.Header.Get("Cache-Control"))
			}
			if r.ContentLength < 200 {
				t.Errorf("Content-Length %d", r.ContentLength)
			}
			again := get(t, "GET", paths(t)[name], "If-None-Match", r.Header.Get("ETag"))
			if again.StatusCode != http.StatusNotModified {
				t.Errorf("with its own ETag %q: status %d", r.Header.Get("ETag"), again.StatusCode)
			}
			if other := get(t, "GET", paths(t)[name], "If-None-Match", `"other"`); other.StatusCode != 200 {
				t.Errorf("with another ETag: status %d", other.StatusCode)
			}
			head := get(t, "HEAD", paths(t)[name])
			if head.StatusCode != 200 || head.Header.Get("Content-Length") != r.Header.Get("Content-Length") {
				t.Errorf("HEAD: status %d, Content-Length %q", head.StatusCode, head.Header.Get("Content-Length"))
			}
		})
	}
}

// Whatever is answered, a browser may do nothing with it but show it.
func TestPolicy(t *testing.T) {
	for _, r := range []*http.Response{
		get(t, "GET", Path), get(t, "GET", paths(t)["app.js"]), get(t, "GET", Path+"none"), get(t, "POST", Path),
	} {
		got := map[string]string{}
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy", "Cross-Origin-Resource-Policy"} {
			got[name] = r.Header.Get(name)
		}
		want := map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
				"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("status %d (-want +got):\n%s", r.StatusCode, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		status       int
	}{
		"no such file":       {"GET", Path + "none.js", 404},
		"the template":       {"GET", Path + "index.html", 404},
		"without the digest": {"GET", Path + "app.js", 404},
		"another digest":     {"GET", Path + "0123456789abcdef/app.js", 404},
		"a folder":           {"GET", strings.TrimSuffix(paths(t)["app.js"], "app.js"), 404},
		"a dot file":         {"GET", Path + ".gitignore", 404},
		"a way up":           {"GET", Path + "../page/app.js", 404},
		"a POST":             {"POST", Path, 405},
		"a PUT of a file":    {"PUT", paths(t)["app.js"], 405},
		"a DELETE":           {"DELETE", Path, 405},
		"OPTIONS":            {"OPTIONS", Path, 405},
	} {
		t.Run(name, func(t *testing.T) {
			r := get(t, c.method, c.path)
			if r.StatusCode != c.status {
				t.Errorf("status %d", r.StatusCode)
			}
			if c.status == 405 && r.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("Allow %q", r.Header.Get("Allow"))
			}
			if c.status == 404 && r.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("Cache-Control %q: a 404 would be remembered", r.Header.Get("Cache-Control"))
			}
		})
	}
}

// All that lies in the folder is served, and nothing else is.
func TestAllFilesAreServed(t *testing.T) {
	onDisk, err := filepath.Glob("page/*")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"console"}
	for _, name := range onDisk {
		if base := filepath.Base(name); base != "index.html" {
			want = append(want, base)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(paths(t)))); diff != "" {
		t.Errorf("served (-on disk +served):\n%s", diff)
	}
}

// What the policy forbids is not tried: no script or style inside the page, nothing from elsewhere, no text that becomes
// markup. What files the page and its scripts name is there.
func TestPageKeepsThePolicy(t *testing.T) {
	forbidden := regexp.MustCompile(`(?i)<script>|<style|\sstyle="|\son[a-z]+="|javascript:|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\("style"|@import|(?-i:url\()`)
	foreign := regexp.MustCompile(`(?:src|href|from|import)[\s=(]*"(?:https?:)?//`)
	names := regexp.MustCompile(`(?:from "\./|(?:src|href)="\{\{digest\}\}/)([^"]+)"`)
	onDisk, err := filepath.Glob("page/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range onDisk {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if found := forbidden.FindString(line); found != "" {
				t.Errorf("%s:%d: %s", file, i+1, found)
			}
			if found := foreign.FindString(line); found != "" {
				t.Errorf("%s:%d loads from elsewhere: %s", file, i+1, found)
			}
			for _, named := range names.FindAllStringSubmatch(line, -1) {
				if paths(t)[named[1]] == "" {
					t.Errorf("%s:%d names %s, which there is not", file, i+1, named[1])
				}
			}
		}
		if lines := strings.Count(string(text), "\n"); lines > 400 {
			t.Errorf("%s has %d lines", file, lines)
		}
	}
}

// The page refers to the files by the digest under which they are served, so that it never gets those of another
// version.
func TestPageNamesItsVersion(t *testing.T) {
	index := string(load()[""].content)
	if strings.Contains(index, digestMark) {
		t.Error("the mark of the digest is still in the page")
	}
	for _, name := range []string{"app.js", "style.css", "members.css", "events.css", "icon.svg"} {
		if want := `"` + strings.TrimPrefix(paths(t)[name], Path) + `"`; !strings.Contains(index, want) {
			t.Errorf("the page does not name %s", want)
		}
	}
}
