package repotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/scalws/scalws"

// root is the folder of go.mod.
var root = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(out)), err
})

func rootDir(t *testing.T) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatalf("finding the module: %v", err)
	}
	return dir
}

// goPackage is what go list says about a package.
type goPackage struct {
	ImportPath string
	Name       string
	Imports    []string
}

// room is the path inside the module.
func (p goPackage) room() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	command := exec.Command("go", "list", "-e", "-json=ImportPath,Name,Imports", "./...")
	command.Dir = rootDir(t)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	var all []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("reading what go list printed: %v", err)
		}
		all = append(all, p)
	}
}

// files are the slash-separated paths of all files that are, or are about to be, under version control.
// Without git (an unpacked archive) they are all files but those of the build.
//
// The tree is walked in any case: so go test knows which folders the result depends on, and does not
// repeat an old one when a file was added.
func files(t *testing.T) []string {
	t.Helper()
	names := walk(t)
	command := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	command.Dir = rootDir(t)
	out, err := command.Output()
	if err != nil {
		return names
	}
	kept := make(map[string]bool)
	for name := range strings.SplitSeq(string(out), "\x00") {
		kept[name] = true
	}
	return slices.DeleteFunc(names, func(name string) bool { return !kept[name] })
}

func walk(t *testing.T) []string {
	t.Helper()
	dir := rootDir(t)
	var names []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if entry.IsDir() && (relative == ".git" || relative == "bin" || relative == "dist") {
			return fs.SkipDir
		}
		if entry.Type().IsRegular() {
			names = append(names, filepath.ToSlash(relative))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("walking the tree: %v", err)
	}
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(rootDir(t), name))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return string(data)
}

// goFile is a parsed file of ours; whatever its build tags.
type goFile struct {
	name   string
	lines  int
	syntax *ast.File
	set    *token.FileSet
}

func (f goFile) dir() string         { return path.Dir(f.name) }
func (f goFile) isTest() bool        { return strings.HasSuffix(f.name, "_test.go") }
func (f goFile) isMain() bool        { return f.syntax.Name.Name == "main" }
func (f goFile) line(p ast.Node) int { return f.set.Position(p.Pos()).Line }

func goFiles(t *testing.T) []goFile {
	t.Helper()
	var parsed []goFile
	for _, name := range files(t) {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			continue
		}
		text := read(t, name)
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		parsed = append(parsed, goFile{name: name, lines: strings.Count(text, "\n"), syntax: syntax, set: set})
	}
	return parsed
}

// imports are the paths of what a file imports.
func (f goFile) imports() []string {
	var paths []string
	for _, spec := range f.syntax.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, "`\""))
	}
	return paths
}

// names maps the names under which a file knows packages to their paths. The name of an import without
// one is taken to be the last part of its path, which holds for the standard library.
func (f goFile) names() map[string]string {
	names := make(map[string]string)
	for i, where := range f.imports() {
		name := path.Base(where)
		if given := f.syntax.Imports[i].Name; given != nil {
			name = given.Name
		}
		names[name] = where
	}
	return names
}

// uses calls see with every "package.Name" of the file, the package by its path.
func (f goFile) uses(see func(use string, at ast.Node)) {
	names := f.names()
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if ident, ok := selector.X.(*ast.Ident); ok && names[ident.Name] != "" {
				see(names[ident.Name]+"."+selector.Sel.Name, selector)
			}
		}
		return true
	})
}
