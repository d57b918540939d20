package repotest

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	inlineLink = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`)
	linkTarget = regexp.MustCompile(`^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)`)
	heading    = regexp.MustCompile(`^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$`)
	anchorTag  = regexp.MustCompile(`<a\s+(?:id|name)="([^"]+)"`)
	codeSpan   = regexp.MustCompile("`[^`]*`")
	// docReference is how comments in code name a page.
	docReference = regexp.MustCompile(`\bdocs/[A-Za-z0-9_/.-]*\.md(?:#[A-Za-z0-9_-]+)?`)
)

// page is a Markdown file without its code blocks.
type page struct {
	name    string
	lines   []string // blank inside code blocks, so that numbers stay right
	anchors []string
}

func pages(t *testing.T) map[string]page {
	t.Helper()
	all := make(map[string]page)
	for _, name := range files(t) {
		if path.Ext(name) == ".md" && !strings.Contains(name, "testdata/") {
			all[name] = parsePage(name, read(t, name))
		}
	}
	return all
}

func parsePage(name, text string) page {
	p := page{name: name}
	seen := make(map[string]int)
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			line = ""
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence, line = trimmed[:3], ""
		}
		if found := heading.FindStringSubmatch(line); found != nil {
			anchor := slug(found[1])
			if n := seen[anchor]; n > 0 {
				p.anchors = append(p.anchors, fmt.Sprintf("%s-%d", anchor, n))
			} else {
				p.anchors = append(p.anchors, anchor)
			}
			seen[anchor]++
		}
		for _, found := range anchorTag.FindAllStringSubmatch(line, -1) {
			p.anchors = append(p.anchors, found[1])
		}
		p.lines = append(p.lines, line)
	}
	return p
}

// slug is the anchor that GitHub gives a heading.
func slug(title string) string {
	title = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(title, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		default:
			return -1
		}
	}, title)
}

func TestSlug(t *testing.T) {
	for title, want := range map[string]string{
		"Choosing a member":       "choosing-a-member",
		"`scalwsctl upstreams`":   "scalwsctl-upstreams",
		"TLS: to, and from":       "tls-to-and-from",
		"See [the guide](x.md) 2": "see-the-guide-2",
	} {
		if got := slug(title); got != want {
			t.Errorf("slug(%q) = %q, want %q", title, got, want)
		}
	}
}

func TestLinksBetweenPages(t *testing.T) {
	all := pages(t)
	tree := files(t)
	for _, p := range all {
		for i, line := range p.lines {
			line = codeSpan.ReplaceAllString(line, "")
			found := append(inlineLink.FindAllStringSubmatch(line, -1), linkTarget.FindAllStringSubmatch(line, -1)...)
			for _, link := range found {
				if problem := follow(all, tree, p.name, link[1]); problem != "" {
					t.Errorf("%s:%d links to %s: %s", p.name, i+1, link[1], problem)
				}
			}
		}
	}
}

// TestPagesNamedInCode: a comment that names a page, or a heading of it, is a link too.
func TestPagesNamedInCode(t *testing.T) {
	all := pages(t)
	tree := files(t)
	for _, file := range goFiles(t) {
		if file.dir() == "internal/repotest" {
			continue
		}
		for _, group := range file.syntax.Comments {
			for _, comment := range group.List {
				for _, reference := range docReference.FindAllString(comment.Text, -1) {
					if problem := follow(all, tree, "", reference); problem != "" {
						t.Errorf("%s:%d names %s: %s", file.name, file.line(comment), reference, problem)
					}
				}
			}
		}
	}
}

// follow says what is wrong with a link on the page from; empty: nothing. Links to other sites are
// not followed.
func follow(all map[string]page, tree []string, from, link string) string {
	target, err := url.Parse(link)
	if err != nil {
		return err.Error()
	}
	if target.Scheme != "" || target.Host != "" {
		return ""
	}
	name := from
	if target.Path != "" {
		name = path.Join(path.Dir(from), target.Path)
	}
	inside := func(file string) bool { return file == name || strings.HasPrefix(file, name+"/") || name == "." }
	if !slices.ContainsFunc(tree, inside) {
		return "there is no " + name
	}
	if target.Fragment == "" {
		return ""
	}
	if p, known := all[name]; known && !slices.Contains(p.anchors, target.Fragment) {
		return fmt.Sprintf("%s has no heading for #%s", name, target.Fragment)
	}
	return ""
}

// TestFollow holds the test above against links whose answer is known.
func TestFollow(t *testing.T) {
	all := map[string]page{"docs/a.md": parsePage("docs/a.md", "# One\n\n```\n# Two\n```\n\n## One\n")}
	tree := []string{"README.md", "docs/a.md"}
	for link, good := range map[string]bool{
		"docs/a.md":            true,
		"docs":                 true,
		"./docs/a.md#one":      true,
		"docs/a.md#one-1":      true,
		"docs/a.md#two":        false,
		"docs/b.md":            false,
		"../README.md":         false,
		"https://example.com/": true,
	} {
		if problem := follow(all, tree, "README.md", link); (problem == "") != good {
			t.Errorf("%s: %q", link, problem)
		}
	}
}
