package main

import (
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

// The pages are free of what man warns about.
func TestManPagesWithoutWarnings(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed")
	}
	files, err := render()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if !strings.HasPrefix(name, "man/") {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			cmd := exec.Command(groff, "-man", "-t", "-ww", "-Tutf8", "-Kutf8")
			cmd.Stdin = strings.NewReader(string(text))
			var warnings strings.Builder
			cmd.Stderr = &warnings
			if err := cmd.Run(); err != nil || warnings.Len() > 0 {
				t.Errorf("%v\n%s", err, warnings.String())
			}
		})
	}
}

// bash can read its script.
func TestBashScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	files, err := render()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash, "-n")
	cmd.Stdin = strings.NewReader(string(files["completions/scalwsctl.bash"]))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
