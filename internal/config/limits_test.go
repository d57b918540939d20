package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/scalws/scalws/internal/strict"
)

const smallest = "server: {listeners: [{name: http, address: \"127.0.0.1:0\"}]}\n"

// TestHostileTexts holds C03: texts that make readers of YAML explode end in an error, with at most 200 MB
// and, for those that a plain reader would never finish, within a second.
func TestHostileTexts(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n")
	for i := range 9 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	for name, tc := range map[string]struct{ text, code string }{
		"alias bomb":            {bomb.String(), strict.CodeAnchorOrAlias},
		"alias of itself":       {"&a [*a]", strict.CodeAnchorOrAlias},
		"merge of itself":       {"a: &a {<<: *a}", strict.CodeAnchorOrAlias},
		"brackets":              {strings.Repeat("[", strict.MaxText), strict.CodeNestedTooDeep},
		"balanced brackets":     {strings.Repeat("[", 9000) + strings.Repeat("]", 9000), strict.CodeNestedTooDeep},
		"braces":                {strings.Repeat("{a: ", strict.MaxText/4), strict.CodeNestedTooDeep},
		"dashes":                {strings.Repeat("- ", strict.MaxText/2), strict.CodeNestedTooDeep},
		"question marks":        {strings.Repeat("? ", strict.MaxText/2), strict.CodeNestedTooDeep},
		"comments":              {strings.Repeat("#\n", strict.MaxText/2), strict.CodeEmptyFile},
		"empty lines":           {strings.Repeat("\n", strict.MaxText), strict.CodeEmptyFile},
		"one key many times":    {strings.Repeat("server: 1\n", 100_000), strict.CodeDuplicateKey},
		"unknown keys":          {manyKeys(50_000), strict.CodeUnknownKey},
		"one long key":          {strings.Repeat("k", 1<<20) + ": 1\n", strict.CodeInvalidYAML},
		"too many members":      {smallest + "upstreams: {a: {members: [" + strings.Repeat("{address: x}, ", 10_001) + "]}}", strict.CodeOutOfRange},
		"same members":          {smallest + "upstreams: {a: {members: [" + strings.Repeat("{address: x:1}, ", 10_000) + "]}}", codeInvalidMember},
		"number of many digits": {smallest + "upstreams: {a: {retries: " + strings.Repeat("9", 1<<20) + "}}", strict.CodeOutOfRange},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			cfg, problems := Parse("scalws.yaml", []byte(tc.text))
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if cfg != nil || len(problems) == 0 || problems[0].Code != tc.code && problems[len(problems)-1].Code != tc.code {
				t.Errorf("problems do not begin or end with %s: %.300s", tc.code, report(problems))
			}
			if tc.code == strict.CodeAnchorOrAlias && took > time.Second || took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 {
				t.Errorf("allocated %d MB", used>>20)
			}
		})
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	return b.String()
}

// TestTooLarge holds the bound of the file, of a text and of a file that it names.
func TestTooLarge(t *testing.T) {
	t.Chdir(t.TempDir())
	large := []byte(smallest + strings.Repeat("#", strict.MaxText))
	write(t, "large.yaml", large)
	write(t, "ca.pem", make([]byte, maxNamed+1))
	write(t, "names.yaml", []byte(smallest+"upstreams: {a: {scheme: https, members: [{address: x:1}], tls: {ca_file: ca.pem}}}"))

	_, loaded := Load("large.yaml")
	_, parsed := Parse("large.yaml", large)
	_, named := Load("names.yaml")
	for name, problems := range map[string]strict.Problems{"file": loaded, "text": parsed, "named file": named} {
		if len(problems) != 1 || problems[0].Code != strict.CodeFileTooLarge || !problems.Failed() {
			t.Errorf("%s: %v", name, problems)
		}
	}
	if _, problems := Parse("fits.yaml", large[:strict.MaxText]); len(problems) > 0 {
		t.Errorf("a text of the largest size: %v", problems)
	}
}

// TestLoadUnreadable holds what is said of a configuration that cannot be read.
func TestLoadUnreadable(t *testing.T) {
	dir := t.TempDir()
	for name, tc := range map[string]struct{ path, message string }{
		"absent": {filepath.Join(dir, "none.yaml"), "does not exist"},
		"folder": {dir, "is not a regular file"},
		"device": {os.DevNull, "is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, problems := Load(tc.path)
			if cfg != nil || len(problems) != 1 || problems[0].Code != codeUnreadableFile ||
				problems[0].File != tc.path || !strings.Contains(problems[0].Message, tc.message) {
				t.Errorf("Config %v, problems %v", cfg, problems)
			}
		})
	}
}

// TestNamedFilesAreRelative holds that files are looked for beside the configuration, wherever the
// process runs.
func TestNamedFilesAreRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := t.TempDir()
	write(t, filepath.Join(dir, "affinity.key"), make([]byte, minAffinityKey))
	write(t, filepath.Join(dir, "scalws.yaml"), []byte(smallest+
		"upstreams: {a: {members: [{address: x:1}, {address: x:2}], balance: hash, hash: {by: cookie, key_file: affinity.key}}}"))
	cfg, problems := Load(filepath.Join(dir, "scalws.yaml"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got, want := cfg.Upstreams[0].HashKeyFile, filepath.Join(dir, "affinity.key"); got != want {
		t.Errorf("HashKeyFile %q, want %q", got, want)
	}
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
