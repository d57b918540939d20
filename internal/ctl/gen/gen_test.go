package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repository is the root of the repository, seen from this folder.
const repository = "../../.."

// read is what the folders of generated files hold, by path.
func read(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	for _, folder := range folders() {
		entries, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(root, folder, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files[folder+"/"+e.Name()] = text
		}
	}
	return files
}

// The files that are committed are those that the command tree gives today.
func TestCommittedFilesAreFresh(t *testing.T) {
	want, err := render()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read(t, repository)); diff != "" {
		t.Errorf("completions/ or man/ are stale, run 'make generate' (-rendered +committed):\n%s", diff)
	}
}

func TestWrite(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "man"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "man", "scalwsctl-gone.1"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if code := run([]string{root}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	want, err := render()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read(t, root)); diff != "" {
		t.Errorf("files (-rendered +written):\n%s", diff)
	}
	if code := run(nil); code != 2 {
		t.Errorf("without an argument: exit code %d, want 2", code)
	}
}

// The pages are free of what the programs that show them warn about.
func TestManPagesWithoutWarnings(t *testing.T) {
	files, err := render()
	if err != nil {
		t.Fatal(err)
	}
	for name, viewer := range map[string]struct {
		args []string
		// fine is a warning that is none.
		fine string
	}{
		"groff":  {args: []string{"-man", "-t", "-ww", "-Tutf8", "-Kutf8"}},
		"mandoc": {args: []string{"-man", "-Tlint", "-Wwarning"}, fine: "missing date"}, // a page is as new as the program
	} {
		t.Run(name, func(t *testing.T) {
			program, err := exec.LookPath(name)
			if err != nil {
				t.Skip(name + " is not installed")
			}
			for page, text := range files {
				if !strings.HasPrefix(page, "man/") {
					continue
				}
				cmd := exec.Command(program, viewer.args...)
				cmd.Stdin = bytes.NewReader(text)
				var shown, warnings strings.Builder
				cmd.Stdout, cmd.Stderr = &shown, &warnings
				if name == "mandoc" {
					cmd.Stdout = &warnings // that is all that it prints
				}
				err := cmd.Run()
				for line := range strings.Lines(warnings.String()) {
					if viewer.fine == "" || !strings.Contains(line, viewer.fine) {
						t.Errorf("%s: %v: %s", page, err, line)
					}
				}
			}
		})
	}
}

// man shows every page, by its own rules.
func TestManShowsThePages(t *testing.T) {
	man, err := exec.LookPath("man")
	if err != nil {
		t.Skip("man is not installed")
	}
	pages, err := filepath.Glob(filepath.Join(repository, "man", "*.1"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		cmd := exec.Command(man, "--warnings=w", "-l", page)
		cmd.Env = append(os.Environ(), "MANPAGER=cat", "MANWIDTH=80", "LC_ALL=C.UTF-8")
		var shown, warnings strings.Builder
		cmd.Stdout, cmd.Stderr = &shown, &warnings
		if err := cmd.Run(); err != nil || warnings.Len() > 0 {
			t.Errorf("%s: %v\n%s", page, err, warnings.String())
		}
		if title := strings.TrimSuffix(filepath.Base(page), ".1"); !strings.Contains(strings.Join(strings.Fields(shown.String()), " "), title+" - ") {
			t.Errorf("%s shows:\n%s", page, shown.String())
		}
	}
}

// The shells can read their scripts. Driving them is for the tests of cmd/scalwsctl.
func TestShellsReadTheirScripts(t *testing.T) {
	files, err := render()
	if err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(shell + " is not installed")
			}
			file := filepath.Join(t.TempDir(), "script")
			if err := os.WriteFile(file, files["completions/"+completionFile(shell)], 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(program, "-n", file).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
