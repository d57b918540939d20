package repotest

import (
	"go/ast"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPackageComments: one comment a package, so that there is one place to look for what it is.
func TestPackageComments(t *testing.T) {
	where := make(map[string][]string)
	for _, file := range goFiles(t) {
		if _, known := where[file.dir()]; !known {
			where[file.dir()] = nil
		}
		if file.syntax.Doc != nil {
			where[file.dir()] = append(where[file.dir()], file.name)
		}
	}
	for dir, names := range where {
		if len(names) != 1 {
			t.Errorf("%s has %d package comments, want 1: %v", dir, len(names), names)
		}
	}
}

// TestNoLeftovers: what an editor or a patch leaves beside a file is no part of the tree.
func TestNoLeftovers(t *testing.T) {
	for _, name := range files(t) {
		if slices.Contains([]string{".orig", ".rej", ".bak", ".swp"}, filepath.Ext(name)) || strings.HasSuffix(name, "~") {
			t.Errorf("%s is a leftover", name)
		}
	}
}

// TestFileLength: a file answers one question.
func TestFileLength(t *testing.T) {
	const most = 500
	for _, file := range goFiles(t) {
		if !file.isTest() && file.lines > most {
			t.Errorf("%s has %d lines, more than %d: it answers more than one question", file.name, file.lines, most)
		}
	}
}

// TestNoSleepInTests: a sleep is too short on a busy machine and too long on every other. Inside a
// synctest bubble it is neither, because time is the bubble's.
func TestNoSleepInTests(t *testing.T) {
	for _, file := range goFiles(t) {
		if !file.isTest() {
			continue
		}
		bubbles := file.bubbles()
		file.uses(func(use string, at ast.Node) {
			inBubble := slices.ContainsFunc(bubbles, func(b ast.Node) bool { return b.Pos() <= at.Pos() && at.End() <= b.End() })
			if use == "time.Sleep" && !inBubble {
				t.Errorf("%s:%d sleeps: wait for a condition, or use testing/synctest", file.name, file.line(at))
			}
		})
	}
}

// bubbles are the calls of synctest.Test.
func (f goFile) bubbles() []ast.Node {
	var calls []ast.Node
	names := f.names()
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if selector, ok := call.Fun.(*ast.SelectorExpr); ok && selector.Sel.Name == "Test" {
			if ident, ok := selector.X.(*ast.Ident); ok && names[ident.Name] == "testing/synctest" {
				calls = append(calls, call)
			}
		}
		return true
	})
	return calls
}

// TestOnlyMainExits: whoever exits below main takes the deferred calls of its callers with it. The code
// of an example in a test file is read as a main, and a script's command in one is a main.
func TestOnlyMainExits(t *testing.T) {
	exits := []string{"os.Exit", "syscall.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln"}
	for _, file := range goFiles(t) {
		if file.isMain() || file.isTest() {
			continue
		}
		file.uses(func(use string, at ast.Node) {
			if slices.Contains(exits, use) {
				t.Errorf("%s:%d uses %s: return the error", file.name, file.line(at), use)
			}
		})
	}
}

// TestNoInit: what runs before main cannot be passed arguments, ordered or tested.
func TestNoInit(t *testing.T) {
	for _, file := range goFiles(t) {
		for _, declared := range file.syntax.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s:%d declares init", file.name, file.line(f))
			}
		}
	}
}

// TestNothingUnfinished: what is not done is an issue, not a note in a file; and no file knows the
// machine that it was written on.
func TestNothingUnfinished(t *testing.T) {
	// In two parts, so that this file does not find itself.
	marker := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)
	home := regexp.MustCompile(`/(ho` + `me|Us` + `ers)/[a-z][a-z0-9_-]*/|(^|[^a-zA-Z0-9._-])/ro` + `ot/`)
	here := filepath.ToSlash(rootDir(t))
	for _, name := range files(t) {
		// Others wrote the licence, and checksums spell anything.
		if name == "LICENSE" || name == "go.sum" {
			continue
		}
		text := read(t, name)
		if strings.ContainsRune(text, 0) {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if found := marker.FindString(line); found != "" {
				t.Errorf("%s:%d: %s", name, i+1, found)
			}
			if found := home.FindString(line); found != "" {
				t.Errorf("%s:%d names somebody's folder, %s", name, i+1, found)
			}
			// A checkout in a folder like /src tells nothing: such a path is in many texts.
			if strings.Count(here, "/") > 1 && strings.Contains(line, here) {
				t.Errorf("%s:%d names this checkout, %s", name, i+1, here)
			}
		}
	}
}
