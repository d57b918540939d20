package ctl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettingsFile(t *testing.T) {
	for name, test := range map[string]struct {
		env  map[string]string
		want string
	}{
		"of the variable":     {map[string]string{"XDG_CONFIG_HOME": "/c", "HOME": "/h"}, "/c/scalws/scalwsctl.yaml"},
		"of the home":         {map[string]string{"HOME": "/h"}, "/h/.config/scalws/scalwsctl.yaml"},
		"a relative variable": {map[string]string{"XDG_CONFIG_HOME": "c", "HOME": "/h"}, "/h/.config/scalws/scalwsctl.yaml"},
		"nobody's":            {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &session{System: System{Getenv: env(test.env)}}
			if got := s.settingsFile(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// What is written is read, a file that is a link stays one, and nothing is left beside it.
func TestSettingsAreWritten(t *testing.T) {
	folder := t.TempDir()
	real := filepath.Join(folder, "real.yaml")
	link := filepath.Join(folder, "new", "scalwsctl.yaml")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(real, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	want := settings{Current: "Prod.eu", Contexts: []place{
		{Name: "test", Socket: "/run/a b.sock"},
		{Name: "Prod.eu", Server: "https://lb1:9443", Cert: "/c", Key: "/k", CA: "/ca"},
	}}
	if err := want.write(link); err != nil {
		t.Fatal(err)
	}
	got, err := readSettings(link)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-written +read):\n%s", err, diff)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became a file: %v, %v", info, err)
	}
	if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(folder, ".scalwsctl-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// A file that cannot be replaced stays as it is.
func TestSettingsThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (settings{}).write(filepath.Join(file, "scalwsctl.yaml")); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestSettingsAreReadStrictly(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no YAML":           {"contexts: [", "scalwsctl.yaml"},
		"an unknown key":    {"curent: a", "curent"},
		"an unknown inside": {"contexts: [{name: a, socket: /s, port: 1}]", "port"},
		"not a list":        {"contexts: {a: {socket: /s}}", "invalid keys: a"},
		"no way":            {"contexts: [{name: a}]", `context "a": a context needs a socket or a server`},
		"two ways":          {"contexts: [{name: a, socket: /s, server: https://h}]", `context "a": a socket and a server exclude each other`},
		"no name":           {"contexts: [{socket: /s}]", `context "": a name has letters`},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "scalwsctl.yaml")
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := readSettings(file); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// The page shows a settings file, and what is listed of it.
func TestPageShowsContexts(t *testing.T) {
	_, section, _ := strings.Cut(read(t), "### scalwsctl context\n")
	_, text, _ := strings.Cut(section, "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	home := t.TempDir()
	file := filepath.Join(home, ".config", "scalws", "scalwsctl.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &session{System: System{Getenv: env(map[string]string{"HOME": home})}}
	var listed strings.Builder
	s.Out = &listed
	known, err := readSettings(s.settingsFile())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.showContexts(known); err != nil || !strings.Contains(section, listed.String()) {
		t.Errorf("the page does not show (%v):\n%s", err, listed.String())
	}
	if err := known.write(file); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(file)
	if err != nil || !strings.HasSuffix(string(written), "\n"+text) {
		t.Errorf("the page shows another file than is written (%v):\n%s", err, written)
	}
}
